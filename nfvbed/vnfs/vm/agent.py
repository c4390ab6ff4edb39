"""The client of a guest's agent: JSON lines over a channel, in the lab the guest's second serial port.

The protocol is `vloop/1`; images/README.md has its requests and answers.
"""

import json
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from nfvbed.errors import OnboardError
from nfvbed.patience import patient

SCHEMA = "vloop/1"
ANSWER_S = patient(90.0)
"""A guest without KVM is slow: starting testpmd takes it up to ten seconds, on a busy host several times that."""

_REBUILD = "make images, if the image is of another version of nfvbed"
_MAX_LINE_BYTES = 1024 * 1024


class AgentRefused(OnboardError):
    """The agent understood the request and could not do it; the guest goes on."""


class Fault(BaseModel):
    """The reason for a refusal: the four parts of nfvbed's own errors."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    what: str
    where: str = ""
    observed: str = ""
    fix: str = ""


class Reply(BaseModel):
    """One line of the agent. A newer one may say more than is known here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: int | None
    ok: bool
    result: dict[str, Any] | None = None
    error: Fault | None = None


class AgentLine(AbstractContextManager["AgentLine"], ABC):
    """A channel while one request and its answer go over it."""

    @abstractmethod
    def send(self, line: bytes) -> None:
        """Send a request.

        Raises:
            OnboardError: the guest went away.
            UnsupportedError: it has no such channel.
        """

    @abstractmethod
    def read(self) -> bytes:
        """Return the next line that is not empty, of whatever request it is the answer.

        Raises:
            OnboardError: none came in time, or the guest went away.
        """


class AgentChannel(ABC):
    """A way to a guest's agent."""

    where: str
    """Its place, for messages."""

    @abstractmethod
    def open(self, do: str, deadline: float) -> AgentLine:
        """Return the channel for one request.

        Args:
            do: what is asked, for messages.
            deadline: end of every wait, monotonic clock, seconds.
        """


class Agent:
    """A client of a guest's agent; it is used once the guest's console reports that it is ready.

    Each request is a connection of its own, as QEMU serves one client at a time and another process may be the next.
    """

    def __init__(self, channel: AgentChannel) -> None:
        self.channel = channel

    def ask(self, do: str, keys: Mapping[str, Any] | None = None, *, timeout_s: float = ANSWER_S) -> dict[str, Any]:
        """Send a request and return its result.

        Args:
            timeout_s: limit of connecting, sending and the answer together.

        Raises:
            AgentRefused: the agent answered that it cannot, and why.
            OnboardError: it cannot be reached, does not answer in time, or answers what the protocol does not allow.
            UnsupportedError: it has no channel for requests.
        """
        # A serial line keeps what a former client did not read; its requests had other numbers.
        identifier = time.monotonic_ns()
        document = {"schema": SCHEMA, "id": identifier, "do": do, **(keys or {})}
        deadline = time.monotonic() + timeout_s
        with self.channel.open(do, deadline) as line:
            line.send(json.dumps(document).encode())
            while (reply := self._reply(do, line.read())).id != identifier:
                pass
        if reply.ok and reply.result is not None:
            return reply.result
        fault = reply.error
        if reply.ok or fault is None:
            raise self._wrong(do, "neither a result nor an error")
        where = f"{self.channel.where}: {fault.where}" if fault.where else self.channel.where
        raise AgentRefused(f"the guest refused {do}: {fault.what}", where=where, observed=fault.observed, fix=fault.fix)

    def _reply(self, do: str, line: bytes) -> Reply:
        try:
            document = json.loads(line)
        except ValueError as error:
            raise self._wrong(do, f"not JSON: {line[:120]!r}") from error
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise self._wrong(do, f"not of schema {SCHEMA}: {line[:120]!r}")
        try:
            return Reply.model_validate(document)
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in error.errors()[:3])
            raise self._wrong(do, faults) from error

    def _wrong(self, do: str, observed: str) -> OnboardError:
        what = f"the guest's agent answered {do} with something else than {SCHEMA}"
        return OnboardError(what, where=self.channel.where, observed=observed, fix=_REBUILD)


class SerialPort(AgentChannel):
    """The Unix socket behind a guest's second serial port.

    Args:
        path: the socket, which QEMU serves.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = str(path)

    def open(self, do: str, deadline: float) -> AgentLine:
        """Return a connection."""
        return _SerialLine(self.path, do, deadline)


class _SerialLine(AgentLine):
    """One connection: lines out and in, every wait bounded by one deadline."""

    def __init__(self, path: Path, do: str, deadline: float) -> None:
        self._path = path
        self._do = do
        self._deadline = deadline
        self._buffer = bytearray()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def __enter__(self) -> Self:
        try:
            self._socket.settimeout(self._left_s())
            self._socket.connect(str(self._path))
        except OSError as error:
            self._socket.close()
            what = "the guest's agent cannot be reached"
            raise OnboardError(what, where=str(self._path), observed=str(error), fix="does its QEMU run?") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, line: bytes) -> None:
        """Send a line; its first newline ends a line that a former client may have left half written."""
        try:
            self._socket.settimeout(self._left_s())
            self._socket.sendall(b"\n" + line + b"\n")
        except OSError as error:
            raise self._gone(str(error)) from error

    def read(self) -> bytes:
        """Read on until a line is whole."""
        while True:
            line, found, rest = bytes(self._buffer).partition(b"\n")
            if not found:
                self._receive()
                continue
            self._buffer = bytearray(rest)
            if line.strip():
                return line

    def _receive(self) -> None:
        if len(self._buffer) > _MAX_LINE_BYTES:
            raise self._gone("a line without an end")
        try:
            self._socket.settimeout(self._left_s())
            chunk = self._socket.recv(65536)
        except TimeoutError as error:
            raise OnboardError(
                f"the guest's agent did not answer {self._do} in time",
                where=str(self._path),
                fix="read the guest's console; without KVM it is slow, and a busy host makes it slower",
            ) from error
        except OSError as error:
            raise self._gone(str(error)) from error
        if not chunk:
            raise self._gone("end of file")
        self._buffer += chunk

    def _left_s(self) -> float:
        return max(self._deadline - time.monotonic(), 0.001)

    def _gone(self, observed: str) -> OnboardError:
        return OnboardError(f"the guest went away while asked to {self._do}", where=str(self._path), observed=observed)
