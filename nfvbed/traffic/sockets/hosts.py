"""The two hosts of sockets, and how a tool's server and client are run there.

A host is an interface: a network namespace of this machine, or a virtual machine (`nfvbed/vnfs/sockets`).
"""

import contextlib
import ipaddress
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from nfvbed.errors import GeneratorError
from nfvbed.patience import patient

LISTEN_S = patient(45.0)
PATIENCE_S = patient(45.0)
"""Beyond the duration that was asked for: connecting, and a tool's own summary."""
LOG_LINES = 12
_LISTENING = {"tcp": "0A", "udp": "07"}
"""States of sockets in /proc/net: TCP_LISTEN, and what a bound UDP socket has."""


class ToolProcess(Protocol):
    """The interface of a program that a host runs."""

    @property
    def where(self) -> str:
        """The place of its output, for messages."""

    def alive(self) -> bool:
        """Return whether it still runs."""

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end; the exit status, or None when it still runs."""

    def output(self) -> str:
        """Return all that it has written."""

    def listens(self, address: str, listener: "Listener") -> bool:
        """Return whether there is such a socket where it runs."""

    def stop(self) -> None:
        """End it for certain; idempotent."""


class SocketHost(ABC):
    """One end: an address of the network under test, and a place where programs run."""

    address: str

    @abstractmethod
    def start(self, name: str, argv: Sequence[str]) -> ToolProcess:
        """Start a program by a name of one's choice; the host decides on its core.

        Raises:
            GeneratorError: it does not start.
        """

    @abstractmethod
    def path(self, name: str) -> str:
        """Return the path of a file that a program may write there."""

    @abstractmethod
    def take(self, name: str) -> str | None:
        """Return the text of such a file and remove it; None where there is none."""


@dataclass(frozen=True)
class SocketPair:
    """Both ends. Programs are started as `<name>-server` and `<name>-client`."""

    client: SocketHost
    server: SocketHost

    def turned(self) -> "SocketPair":
        """Return the pair with its ends exchanged, so that the client sends the other way."""
        return replace(self, client=self.server, server=self.client)


@dataclass(frozen=True)
class Listener:
    """The socket on which a server listens."""

    protocol: Literal["tcp", "udp"]
    port: int


@contextlib.contextmanager
def served(pair: SocketPair, name: str, argv: Sequence[str], listener: Listener) -> Iterator[None]:
    """Run a server for the length of a block, which begins once it listens.

    Raises:
        GeneratorError: it ended, or does not listen in time.
    """
    server = pair.server.start(f"{name}-server", argv)
    try:
        _wait_until_listening(server, name, pair.server.address, listener)
        yield
    finally:
        server.stop()


def run_client(pair: SocketPair, name: str, argv: Sequence[str], duration_s: float) -> str:
    """Run a client to its end, and return its output.

    Args:
        duration_s: the run's expected length, s.

    Raises:
        GeneratorError: it failed, or did not end in time.
    """
    return run_clients(pair, [(name, argv)], duration_s)[0]


def run_clients(pair: SocketPair, clients: Sequence[tuple[str, Sequence[str]]], duration_s: float) -> list[str]:
    """Run clients, each given by name and arguments, at the same time; see `run_client`."""
    started: list[tuple[str, ToolProcess, int]] = []
    try:
        for name, argv in clients:
            process = pair.client.start(f"{name}-client", argv)
            started.append((name, process, 0))
        deadline = time.monotonic() + duration_s + PATIENCE_S
        return [_output(process, name, deadline) for name, process, _ in started]
    finally:
        for _, process, _ in started:
            process.stop()


def _output(process: ToolProcess, name: str, deadline: float) -> str:
    status = process.wait(max(0.0, deadline - time.monotonic()))
    text = process.output()
    if status == 0:
        return text
    raise GeneratorError(
        f"{name} failed" if status is not None else f"{name} does not end",
        where=process.where,
        observed=f"exit status {status}: {_tail(text)}",
        fix="see whether frames get through in both directions",
    )


def _wait_until_listening(server: ToolProcess, name: str, address: str, listener: Listener) -> None:
    deadline = time.monotonic() + LISTEN_S
    while not server.listens(address, listener):
        if not server.alive() or time.monotonic() > deadline:
            raise GeneratorError(
                f"the server of {name} does not listen",
                where=f"{address}, {listener.protocol} port {listener.port}",
                observed=_tail(server.output()) or "it wrote nothing",
            )
        time.sleep(0.01)


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-LOG_LINES:])


def listens(table: Path, address: str, listener: Listener) -> bool:
    """Look for a socket in a table of /proc/net of its network namespace (proc(5)); false where the table is gone."""
    # The address is a number in the machine's own byte order, as hexadecimal digits.
    number = int.from_bytes(ipaddress.IPv4Address(address).packed, "little")
    wanted = f"{number:08X}:{listener.port:04X}"
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except (FileNotFoundError, ProcessLookupError, OSError):
        return False
    return any(row[1] == wanted and row[3] == _LISTENING[listener.protocol] for row in rows)
