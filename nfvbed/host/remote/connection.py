"""One host over SSH: a connection that commands share, and the commands that run over it.

OpenSSH's own client does it (ADR 0021): a *master* holds the connection, and each command is a short-lived client of
it. The master runs as long as nfvbed holds its standard input, so that none is left by a killed nfvbed.
"""

import os
import secrets
import select
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host import fixes
from nfvbed.host.remote.failures import HostRefused, refused, shown
from nfvbed.host.remote.line import TRY_OUT, ending_in_time, remote_line
from nfvbed.patience import patient
from nfvbed.spec.remote import RemoteHostSpec
from nfvbed.wholefile import write_whole

SSH_FAILED = 255
"""Exit status of OpenSSH's client for its own trouble; also that of a program which a signal ended."""
NOT_RUN, NOT_FOUND, TIMED_OUT = 126, 127, 124
MAX_CONTROL_PATH_BYTES = 90
"""sun_path of unix(7), less what OpenSSH appends while it makes the socket."""
SIGNS_OF_LIFE = 3
_END_S = 2.0
_SIGN_IN_S = 5.0
"""On top of the time for connecting: keys, the account's shell."""


_Handle = int | IO[bytes]


@dataclass(frozen=True)
class CommandResult:
    """The result of a command that ended on the host."""

    status: int
    out: bytes
    said: str
    """On its standard error."""

    @property
    def text(self) -> str:
        """Its standard output as text."""
        return self.out.decode(errors="replace")


class Stream:
    """A running command of the host, its standard input and output as one socket."""

    def __init__(self, process: subprocess.Popen[bytes], ours: socket.socket) -> None:
        self.socket = ours
        self._process = process

    @property
    def pid(self) -> int:
        """The process id of the client on this machine."""
        return self._process.pid

    def said(self) -> str:
        """Wait briefly for its end, and return what it and the client wrote to standard error."""
        _end(self._process, wait_s=1.0)
        return self._process.stderr.read().decode(errors="replace") if self._process.stderr else ""

    def close(self) -> None:
        """End it here: on the host the command sees the end of its input. Idempotent."""
        self.socket.close()
        _end(self._process, wait_s=0.5)
        if self._process.stderr:
            self._process.stderr.close()


class SshHost:
    """A host over SSH. Commands may come from several threads; connecting may not.

    Args:
        directory: folder of this machine for the connection's socket and the client's words; its owner's alone.
    """

    def __init__(self, spec: RemoteHostSpec, directory: Path) -> None:
        self.spec = spec
        self._control = directory / f"ssh-{secrets.token_hex(2)}"
        self._log = directory / f"{self._control.name}.log"
        self._master: subprocess.Popen[bytes] | None = None
        self._check(directory)

    def __enter__(self) -> "SshHost":
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    @property
    def connected(self) -> bool:
        """Whether there is a connection, as far as this machine knows."""
        return self._master is not None and self._master.poll() is None

    @property
    def master_pid(self) -> int | None:
        """The id of the process that holds the connection."""
        return self._master.pid if self._master is not None else None

    def connect(self) -> None:
        """Connect, sign in, and check that the account's shell is a POSIX one; idempotent.

        Raises:
            ConnectionLost: the host cannot be reached now.
            HostRefused: its key is unknown or has changed, it rejects nfvbed, or its shell is of another kind.
        """
        if self.connected:
            return
        self.disconnect()
        for path in (self.spec.key, self.spec.known_hosts, *([self.spec.ssh_config] if self.spec.ssh_config else [])):
            _check_readable(path, self.spec)
        line = f"{remote_line(['printf', '%s', TRY_OUT])} && exec cat"
        argv = self._argv(line, ControlMaster="yes", ControlPersist="no", LogLevel="INFO")
        with self._log.open("wb") as log:
            self._master = _start(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        try:
            self._await_echo(self._master)
        except BaseException:
            self.disconnect()
            raise

    def disconnect(self) -> None:
        """Close the connection, and what runs over it, on this machine. Idempotent."""
        master, self._master = self._master, None
        if master is None:
            return
        for pipe in (master.stdin, master.stdout):
            if pipe is not None:
                pipe.close()
        _end(master, wait_s=0.0)
        self._control.unlink(missing_ok=True)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        data: bytes | IO[bytes] = b"",
        check: bool = True,
    ) -> CommandResult:
        """Run a command to its end, connecting first where there is no connection.

        The host ends it after the time-out, whatever becomes of the connection.

        Args:
            argv: the program and its arguments, quoted for the shell. Messages and the host's list of processes show
                them: what is secret goes into `data`.
            data: its standard input.
            check: whether an exit status other than 0 is an error.

        Raises:
            ConnectionLost, HostRefused: as `connect`; or the connection ended meanwhile, and the command's fate is not
                known.
            PrerequisiteError: the host has no such program.
            DeployError: it failed, or took too long.
        """
        done = self._run(argv, timeout_s, data)
        if done.status == NOT_FOUND or (done.status == NOT_RUN and "failed to run command" in done.said):
            raise PrerequisiteError(
                f"{argv[0]} cannot be run on another host",
                where=self.spec.where,
                observed=shown(done.said),
                fix="install it there, or correct its path",
            )
        if done.status == TIMED_OUT:
            raise DeployError(
                f"{argv[0]} did not end within {timeout_s:g} s on another host",
                where=self._while(argv),
                observed=shown(done.said) or "it was killed",
                fix="see what it waits for",
            )
        if check and done.status != 0:
            raise DeployError(
                f"{argv[0]} failed on another host",
                where=self._while(argv),
                observed=f"exit status {done.status}: {shown(done.said) or '(nothing on standard error)'}",
                fix="run it there by hand",
            )
        return done

    def stream(self, argv: Sequence[str]) -> Stream:
        """Start a command whose input and output are one socket, connecting first where there is no connection.

        Raises:
            ConnectionLost, HostRefused: as `connect`.
        """
        self.connect()
        ours, theirs = socket.socketpair()
        with theirs:
            end = theirs.fileno()
            process = _start(self._argv(remote_line(argv)), stdin=end, stdout=end, stderr=subprocess.PIPE)
        return Stream(process, ours)

    def put(self, source: Path, target: str, mode: int = 0o600) -> None:
        """Copy a file to the host; it appears there whole or not at all.

        Raises:
            DeployError: it cannot be written there.
            ConnectionLost, HostRefused: as `run`.
        """
        script = (
            'umask 077 && cat >"$1.part" && [ "$(wc -c <"$1.part")" -eq "$2" ] && chmod "$3" "$1.part"'
            ' && mv -f "$1.part" "$1" || { rm -f "$1.part"; exit 1; }'
        )
        with source.open("rb") as content:
            size = os.fstat(content.fileno()).st_size
            argv = ["sh", "-c", script, "sh", target, str(size), f"{mode:o}"]
            self.run(argv, timeout_s=_copying_s(size), data=content)

    def get(self, source: str, target: Path) -> None:
        """Copy a file from the host; it appears here whole or not at all.

        Raises:
            DeployError: it cannot be read there.
            ConnectionLost, HostRefused: as `run`.
        """
        size = int(self.run(["stat", "-L", "-c", "%s", "--", source]).text)
        done = self.run(["cat", "--", source], timeout_s=_copying_s(size))
        write_whole(target, done.out)

    def _run(self, argv: Sequence[str], timeout_s: float, data: bytes | IO[bytes]) -> CommandResult:
        self.connect()
        command = self._argv(remote_line(ending_in_time(argv, timeout_s)))
        longest_s = timeout_s + SIGNS_OF_LIFE * self.spec.keepalive_s + _END_S
        stdin, given = (subprocess.PIPE, data) if isinstance(data, bytes) else (data, None)
        client = _start(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, errors = client.communicate(given, timeout=longest_s)
        except subprocess.TimeoutExpired as error:
            self.disconnect()
            raise refused(self.spec, f"no answer within {longest_s:g} s", self._while(argv)) from error
        finally:
            _end(client, wait_s=0.0)
        said = errors.decode(errors="replace")
        if client.returncode < 0 or (client.returncode == SSH_FAILED and not self._still_there(said)):
            raise refused(self.spec, said + self._words(), self._while(argv))
        return CommandResult(client.returncode, out, said)

    def _still_there(self, said: str) -> bool:
        """Return whether the connection is still open: the client and its master may end in either order."""
        if "mux_client" in said or self._master is None:
            return False
        try:
            self._master.wait(0.5)
        except subprocess.TimeoutExpired:
            return True
        return False

    def _while(self, argv: Sequence[str]) -> str:
        line = remote_line(argv)
        return f"{self.spec.where}; {line if len(line) <= 200 else line[:200] + '...'}"

    def _await_echo(self, master: subprocess.Popen[bytes]) -> None:
        expected, seen = TRY_OUT.encode(), b""
        deadline = time.monotonic() + patient(self.spec.connect_timeout_s + _SIGN_IN_S)
        output = master.stdout.fileno() if master.stdout else -1
        while len(seen) < len(expected):
            ready, _, _ = select.select([output], [], [], max(deadline - time.monotonic(), 0))
            chunk = os.read(output, 4096) if ready else b""
            if not chunk:
                _end(master, wait_s=1.0 if ready else 0.0)
                raise refused(self.spec, self._words() or ("" if ready else "Connection timed out while signing in"))
            seen += chunk
        if seen != expected:
            raise HostRefused(
                "the account's shell on another host does not take quoted words as they are",
                where=self.spec.where,
                observed=repr(seen[:80]),
                fix=f"give {self.spec.user} a POSIX shell there, which prints nothing by itself before a command",
            )

    def _words(self) -> str:
        try:
            return self._log.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def _argv(self, line: str, **changed: str) -> list[str]:
        spec = self.spec
        options = {
            "BatchMode": "yes",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": _quoted(spec.known_hosts),
            "GlobalKnownHostsFile": "none",
            "VerifyHostKeyDNS": "no",
            "UpdateHostKeys": "no",
            "PreferredAuthentications": "publickey",
            "IdentitiesOnly": "yes",
            "IdentityFile": _quoted(spec.key),
            "ConnectTimeout": str(spec.connect_timeout_s),
            "ConnectionAttempts": "1",
            "ServerAliveInterval": str(spec.keepalive_s),
            "ServerAliveCountMax": str(SIGNS_OF_LIFE),
            "ControlMaster": "no",
            "ControlPath": _quoted(self._control),
            "ForwardAgent": "no",
            "ForwardX11": "no",
            "PermitLocalCommand": "no",
            "ClearAllForwardings": "yes",
            "RequestTTY": "no",
            "EscapeChar": "none",
            "LogLevel": "ERROR",
        }
        # Of an option that is given twice the first value counts, and these come before the file's.
        argv = ["ssh", "-F", str(spec.ssh_config or "none")]
        for name, value in (options | changed).items():
            argv += ["-o", f"{name}={value}"]
        return [*argv, "-l", spec.user, "-p", str(spec.port), "--", spec.address, line]

    def _check(self, directory: Path) -> None:
        length = len(str(self._control).encode())
        if length > MAX_CONTROL_PATH_BYTES:
            raise PrerequisiteError(
                "the path of a connection's socket is too long",
                where=str(directory),
                observed=f"{length} bytes; {MAX_CONTROL_PATH_BYTES} fit",
                fix="choose a shorter run directory",
            )


def _start(argv: Sequence[str], *, stdin: _Handle, stdout: _Handle, stderr: _Handle) -> subprocess.Popen[bytes]:
    """Start OpenSSH's client, out of reach of the terminal's Ctrl-C.

    Raises:
        PrerequisiteError: it is not installed.
    """
    try:
        return subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True)
    except FileNotFoundError as error:
        raise PrerequisiteError(
            "OpenSSH's client is not installed",
            where=argv[0],
            observed=str(error),
            fix=fixes.install("OpenSSH's client", "openssh-client"),
        ) from error


def _end(process: subprocess.Popen[bytes], wait_s: float) -> None:
    """Give the process time to end by itself, then end it."""
    for end, patience_s in ((None, wait_s), (process.terminate, _END_S), (process.kill, _END_S)):
        if end is not None:
            end()
        try:
            process.wait(patience_s)
            return
        except subprocess.TimeoutExpired:
            continue


def _check_readable(path: Path, spec: RemoteHostSpec) -> None:
    if not os.access(path, os.R_OK) or not path.is_file():
        raise PrerequisiteError(
            "a file that SSH needs cannot be read",
            where=str(path),
            observed=f"for {spec.where}",
            fix="correct its path; it is a file of this machine",
        )


def _quoted(path: Path) -> str:
    """Return a path as OpenSSH's options read it: in quotes, with percent signs doubled."""
    return '"' + str(path).replace("%", "%%") + '"'


def _copying_s(size_bytes: int) -> float:
    """Return how long a copy may take, in s: at 1 MB/s, but at least half a minute."""
    return 30 + size_bytes / 1e6
