"""Keeps a program on another host while connections come and go; ends it when there is no sign of life.

It is copied to that host and runs there, with only Python's standard library; no module imports it.

    keeper.py start DIRECTORY LEASE_S [--socket PATH] -- PROGRAM [ARGUMENT]...
    keeper.py attach DIRECTORY
    keeper.py status DIRECTORY
    keeper.py stop DIRECTORY
    keeper.py sweep BASE PREFIX

`start` leaves a process behind: the keeper, whose child the program is. `attach` joins standard input and output to
the keeper; only the newest counts, so an unnoticed dead connection disturbs no other. Every line that comes is a sign
of life. An empty line is nothing more; other lines go to the program's socket, and its answers come back. Without a
sign of life for the lease the keeper ends the program and removes the directory.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCHEMA = "nfvbed-keeper/1"
LOCK, STATE, LOG, DOOR = "lock", "state", "log", "keeper.sock"
TICK_S = 0.1
SEND_S = 5.0
"""How long a client may not read before it counts as gone: a dead connection must not hold the keeper up."""
TERM_S = 5.0
STOP_S = 20.0
BORN_S = 600.0
"""How old a directory without a keeper is before it is removed: another nfvbed may be about to start one in it."""
PR_SET_PDEATHSIG = 1
NOT_RUN, NOT_FOUND, GONE = 126, 127, 3


class Keeper:
    """One program and at most one client."""

    def __init__(self, directory: Path, lease_s: float, program_socket: str | None) -> None:
        self.directory = directory
        self.lease_s = lease_s
        self.program_socket = program_socket
        self.child: subprocess.Popen[bytes] | None = None
        self.status: int | None = None
        self.client: socket.socket | None = None
        self.program: socket.socket | None = None
        self.greeted = False
        self.unread = b""
        self.ending = False
        self.heard = time.monotonic()
        self.door = socket.socket(socket.AF_UNIX)

    def begin(self, argv: list[str]) -> None:
        """Start the program; its output goes to the log, and it dies with the keeper.

        Raises:
            OSError: it cannot be started.
        """
        self.door.bind(str(self.directory / DOOR))
        self.door.listen(4)
        with (self.directory / LOG).open("ab") as log:
            self.child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self.write_state()

    def write_state(self) -> None:
        """Write the program's state, whole or not at all."""
        new = self.directory / f"{STATE}.new"
        new.write_text(self.described())
        new.replace(self.directory / STATE)

    def described(self) -> str:
        """Return the program's state."""
        pid = self.child.pid if self.child else 0
        running = self.status is None
        return json.dumps({"schema": SCHEMA, "pid": pid, "running": running, "exit_status": self.status})

    def serve(self) -> None:
        """Serve until a client asks for the end, or no sign of life comes."""
        signal.signal(signal.SIGTERM, self.end_soon)
        while not self.ending and time.monotonic() - self.heard < self.lease_s:
            ready = select.select([end for end in (self.door, self.client, self.program) if end], [], [], TICK_S)[0]
            if self.program in ready:
                self.pass_answers()
            if self.client in ready:
                self.read_client()
            if self.door in ready:
                self.take_client()
            self.look_at_child()
            self.greet()

    def end_soon(self, *_: object) -> None:
        """Handle SIGTERM: end soon."""
        self.ending = True

    def take_client(self) -> None:
        """Accept the newest client, in place of the former one."""
        self.drop_client()
        self.client = self.door.accept()[0]
        self.client.settimeout(SEND_S)
        self.heard = time.monotonic()
        self.greeted = False

    def greet(self) -> None:
        """Send the program's state to the client, once the program can be asked; or that it has ended."""
        if self.client is None or self.greeted:
            return
        if self.status is None and self.program_socket and not self.reach_program(self.program_socket):
            return
        self.greeted = True
        self.send(self.client, self.described().encode() + b"\n")
        if self.status is not None:
            self.drop_client()

    def reach_program(self, path: str) -> bool:
        """Connect to the program's socket; return whether the program listens."""
        reached = socket.socket(socket.AF_UNIX)
        reached.settimeout(SEND_S)
        try:
            reached.connect(path)
        except OSError:
            reached.close()
            return False
        self.program = reached
        return True

    def read_client(self) -> None:
        """Pass the client's lines on."""
        got = receive(self.client)
        if not got:
            self.drop_client()
            return
        self.heard = time.monotonic()
        *lines, self.unread = (self.unread + got).split(b"\n")
        for line in filter(None, lines):
            self.send(self.program, line + b"\n")

    def pass_answers(self) -> None:
        """Pass the program's answers on."""
        got = receive(self.program)
        if got:
            self.send(self.client, got)
        else:
            self.drop_client()

    def send(self, end: socket.socket | None, content: bytes) -> None:
        """Send data to the client, or drop the client when that fails."""
        if end is None:
            return
        try:
            end.sendall(content)
        except OSError:
            self.drop_client()

    def drop_client(self) -> None:
        """Forget the client and its requests: the next one gets its own conversation with the program."""
        for end in filter(None, (self.client, self.program)):
            end.close()
        self.client = self.program = None
        self.unread = b""

    def look_at_child(self) -> None:
        """Check whether the program has ended, and write how it ended."""
        if self.status is None and self.child is not None and self.child.poll() is not None:
            self.status = self.child.returncode
            self.write_state()
            if self.greeted:
                self.drop_client()

    def finish(self) -> None:
        """End the program with all that it started, and remove the directory."""
        if self.child is not None:
            signal_all(self.child.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(TERM_S)
            signal_all(self.child.pid, signal.SIGKILL)
            self.child.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def receive(end: socket.socket | None) -> bytes:
    """Return the bytes that came; none when the other side is gone."""
    try:
        return end.recv(262144) if end else b""
    except OSError:
        return b""


def signal_all(group: int, number: int) -> None:
    """Send a signal to a group of processes, if there is one."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def die_with_parent() -> None:
    """Let the kernel kill this process when the keeper is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(directory: str, lease_s: str, *rest: str) -> int:
    """Start a keeper in the background; print the program's state when it runs."""
    program_socket, argv = (rest[1], rest[3:]) if rest[0] == "--socket" else (None, rest[1:])
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        os.setsid()
        if os.fork() == 0:
            be_keeper(Keeper(Path(directory), float(lease_s), program_socket), list(argv), writing)
        os._exit(0)
    os.close(writing)
    os.wait()
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    document: dict[str, Any] = json.loads(said) if said else {"error": "the keeper ended", "status": 1}
    if "error" in document:
        print(document["error"], file=sys.stderr)
        return int(document["status"])
    print(said)
    return 0


def be_keeper(keeper: Keeper, argv: list[str], writing: int) -> None:
    """Run as the keeper, to the end of this process."""
    lock = os.open(keeper.directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(lock, str(os.getpid()).encode())
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    try:
        keeper.begin(argv)
        os.write(writing, keeper.described().encode())
        os.close(writing)
        keeper.serve()
    except OSError as error:
        status = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_RUN
        if keeper.child is None:
            os.write(writing, json.dumps({"error": f"{argv[0]}: {error.strerror}", "status": status}).encode())
    finally:
        keeper.finish()
        os._exit(0)


def attach(directory: str) -> int:
    """Join standard input and output to the keeper, until one of them ends."""
    keeper = socket.socket(socket.AF_UNIX)
    try:
        keeper.connect(str(Path(directory) / DOOR))
    except OSError as error:
        print(f"no keeper: {error.strerror}", file=sys.stderr)
        return GONE
    other = {0: keeper.fileno(), keeper.fileno(): 1}
    while True:
        for end in select.select(list(other), [], [])[0]:
            got = os.read(end, 262144)
            if not got:
                return 0
            while got:
                got = got[os.write(other[end], got) :]


def keeper_of(directory: Path) -> int | None:
    """Return the process id of a living keeper; None where there is none."""
    try:
        lock = os.open(directory / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return int(os.read(lock, 32) or b"0") or None
    finally:
        os.close(lock)
    return None


def status(directory: str) -> int:
    """Print the program's state. Without a living keeper it has ended, and how is known only if it was written."""
    try:
        found = json.loads((Path(directory) / STATE).read_text())
    except OSError:
        found = {"schema": SCHEMA, "pid": 0, "running": False, "exit_status": None}
    if keeper_of(Path(directory)) is None:
        found["running"] = False
    print(json.dumps(found))
    return 0


def stop(directory: str) -> int:
    """End keeper and program, and wait until they are gone; idempotent."""
    deadline = time.monotonic() + STOP_S
    while (keeper := keeper_of(Path(directory))) is not None:
        if time.monotonic() > deadline:
            print(f"keeper {keeper} does not end", file=sys.stderr)
            return 1
        with contextlib.suppress(ProcessLookupError):
            os.kill(keeper, signal.SIGTERM)
        time.sleep(0.02)
    shutil.rmtree(directory, ignore_errors=True)
    return 0


def sweep(base: str, prefix: str) -> int:
    """Remove this account's directories whose keepers were killed; print them."""
    for path in sorted(Path(base).glob(f"{prefix}*")):
        if path.is_symlink() or not path.is_dir() or path.stat().st_uid != os.getuid():
            continue
        begun = (path / STATE).exists() or time.time() - path.stat().st_mtime > BORN_S
        if begun and keeper_of(path) is None:
            shutil.rmtree(path, ignore_errors=True)
            print(path)
    return 0


def main(argv: list[str]) -> int:
    """Run the command that the first argument names."""
    os.umask(0o077)
    verbs: dict[str, Callable[..., int]] = {
        "start": start,
        "attach": attach,
        "status": status,
        "stop": stop,
        "sweep": sweep,
    }
    return verbs[argv[0]](*argv[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
