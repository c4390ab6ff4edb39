"""A program on another host that outlives a lost connection, and that certainly ends when nfvbed does.

The host's own keeper (`keeper.py`, copied there) is its parent. While nfvbed lives it gives signs of life; without one
for the lease the keeper ends the program and removes what is left of it. So what a killed nfvbed left is gone after
that time, even if the host cannot be reached.
"""

import contextlib
import json
import logging
import secrets
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from nfvbed.errors import DeployError, NfvbedError
from nfvbed.host.remote.connection import SshHost, Stream
from nfvbed.host.remote.failures import ConnectionLost, refused, shown

PREFIX = "nfvbed-"
PYTHON = "python3"
SIGNS_IN_A_LEASE = 6
_KEEPER = Path(__file__).with_name("keeper.py")
_GREETING_S = 5.0
"""How long one attempt waits for a program that is not ready yet."""
_STOP_S = 30.0
"""The keeper's own patience, and some for the way."""
_log = logging.getLogger(__name__)


class ProgramNotReady(ConnectionLost):
    """The program is not ready for questions, or has ended; its process knows which."""


class ProgramConnection:
    """A connection to a kept program; while it is open it gives signs of life.

    Args:
        stream: stream to the keeper.
        interval_s: between two signs of life.
    """

    def __init__(self, stream: Stream, interval_s: float) -> None:
        self.socket = stream.socket
        self._stream = stream
        # A socket object of its own: time-outs belong to the object, and the other one's change all the time.
        self._signs = stream.socket.dup()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._give, args=(interval_s,), name="nfvbed-signs", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close it; the program goes on. Idempotent."""
        self._ended.set()
        self._thread.join()
        self._signs.close()
        self._stream.close()

    def _give(self, interval_s: float) -> None:
        while not self._ended.wait(interval_s):
            try:
                # One byte in one call: it cannot come between the halves of a request, which is one call too.
                self._signs.send(b"\n", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            except BlockingIOError:
                continue  # The way is full: nothing reads at the moment.
            except OSError:
                return  # It is closed at the other side; who uses it sees that.


class RemoteProgram:
    """A program on another host, in a directory of its own there."""

    def __init__(self, host: SshHost) -> None:
        self.host = host
        self.directory = PurePosixPath(host.spec.directory) / f"{PREFIX}{secrets.token_hex(6)}"
        """Where its log and sockets are; removed with it."""
        self._known: dict[str, Any] = {}
        self._started = False
        self._stopped = False

    def start(
        self,
        argv: Sequence[str],
        program_socket: PurePosixPath | None = None,
        files: Mapping[str, Path] = MappingProxyType({}),
        archive: Path | None = None,
    ) -> None:
        """Start the program, and remove what killed keepers have left there.

        Args:
            argv: the program and its arguments; it must stay in the foreground.
            program_socket: where the program will listen; None: it is not asked anything.
            files: files of this machine to copy into its directory, by their names there.
            archive: a tar file of this machine, which is unpacked there.

        Raises:
            PrerequisiteError: the host has no such program, or no Python.
            DeployError: it cannot be started.
            ConnectionLost, HostRefused: the host cannot be reached.
        """
        self._ask_keeper("sweep", self.host.spec.directory, PREFIX)
        self.host.run(["mkdir", "-m", "700", "--", str(self.directory)])
        self._started = True
        for name, file in {**files, "keeper.py": _KEEPER}.items():
            self.host.put(file, str(self.directory / name))
        if archive is not None:
            there = str(self.directory / archive.name)
            self.host.put(archive, there)
            self.host.run(["tar", "-x", "--no-same-owner", "-f", there, "-C", str(self.directory)])
            self.host.run(["rm", "-f", "--", there])
        listening = ["--socket", str(program_socket)] if program_socket else []
        lease = [str(self.directory), str(self.host.spec.lease_s)]
        command = [PYTHON, str(self.directory / "keeper.py"), "start", *lease, *listening, "--", *argv]
        try:
            self._known = json.loads(self.host.run(command).text)
        except BaseException:
            self.stop()
            raise

    def attach(self) -> ProgramConnection:
        """Connect to the program, and give signs of life from now on.

        Raises:
            NotReady: it is not ready, or has ended.
            ConnectionLost, HostRefused: the host cannot be reached.
        """
        stream = self.host.stream([PYTHON, str(self.directory / "keeper.py"), "attach", str(self.directory)])
        try:
            self._known = self._greeting(stream)
            if not self._known["running"]:
                raise ProgramNotReady("a program on another host has ended", where=self.where)
        except BaseException:
            stream.close()
            raise
        return ProgramConnection(stream, self.host.spec.lease_s / SIGNS_IN_A_LEASE)

    @property
    def where(self) -> str:
        """Host and directory, for messages."""
        return f"{self.host.spec.where}, {self.directory}"

    @property
    def pid(self) -> int:
        """Its process id, on that host."""
        return int(self._known.get("pid", 0))

    @property
    def exit_status(self) -> int | None:
        """Exit status; negative: the signal that ended it; None: it runs, or it is not known."""
        self.alive()
        status = self._known.get("exit_status")
        return None if status is None else int(status)

    def alive(self) -> bool:
        """Return whether it runs; without a connection, as it was last seen."""
        if self._known.get("running") and self.host.connected and not self._stopped:
            with contextlib.suppress(ConnectionLost):
                self._known = json.loads(self._ask_keeper("status", str(self.directory)))
        return bool(self._known.get("running"))

    def log_tail(self, lines: int = 20) -> str:
        """Return its last lines of output; where they cannot be read, the reason."""
        try:
            return self.host.run(["tail", "-n", str(lines), "--", str(self.directory / "log")]).text
        except (ConnectionLost, DeployError) as error:
            return f"(its log cannot be read: {error.observed or error.what})"

    def stop(self) -> None:
        """End the program, and remove its directory. Idempotent.

        A host that cannot be reached ends the program by itself when the lease is over.

        Raises:
            DeployError: it does not end.
        """
        if self._stopped or not self._started:
            return
        self._stopped = True
        try:
            self._ask_keeper("stop", str(self.directory))
        except ConnectionLost as error:
            _log.warning(
                "%s: cannot be reached to end process %s (%s); it ends by itself within %s s",
                self.where,
                self.pid,
                error.what,
                self.host.spec.lease_s,
            )
        self._known["running"] = False

    def _ask_keeper(self, *arguments: str) -> str:
        """Run the keeper's program from here, which works even without the directory."""
        return self.host.run([PYTHON, "-", *arguments], data=_KEEPER.read_bytes(), timeout_s=_STOP_S).text

    def _greeting(self, stream: Stream) -> dict[str, Any]:
        seen = b""
        deadline = time.monotonic() + _GREETING_S
        while not seen.endswith(b"\n"):
            stream.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                chunk = stream.socket.recv(4096)
            except TimeoutError:
                raise ProgramNotReady("a program on another host is not ready", where=self.where) from None
            if not chunk:
                raise self._no_greeting(stream.said())
            seen += chunk
        greeting: dict[str, Any] = json.loads(seen)
        return greeting

    def _no_greeting(self, said: str) -> NfvbedError:
        if "no keeper" in said or "can't open file" in said:
            self._known |= {"running": False}
            return ProgramNotReady("a program on another host is gone", where=self.where, observed=shown(said))
        return refused(self.host.spec, said, f"attaching to {self.directory}")
