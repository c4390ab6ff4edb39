"""Sends numbered frames over bearers both ways, at the generator's ports, and checks that they arrive whole.

The generator must not be open on them: the kernel's packet sockets send and receive here, at a pace that any gateway
has.
"""

import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from nfvbed.errors import OnboardError
from nfvbed.host.network.namespaces import inside
from nfvbed.patience import patient
from nfvbed.records import GeneratorPort, Record
from nfvbed.spec.bearers import BearerTable
from nfvbed.vnfs.epc.frames import Path, number_of

RATE_PPS = 2_000
_BATCH = 10
_LAST_S = patient(0.5)
"""How long the last frames may take."""
_ETH_P_ALL = 0x0003
_OUTGOING = 4
_LONGEST = 9018


class Direction(Record):
    """The outcome of frames in one direction."""

    sent: int
    received: int
    """Frames that came as they must be, each once."""
    wrong: int
    """Frames with the mark of these that were not as they must be, or came twice."""

    @property
    def complete(self) -> bool:
        """Whether every frame came, and nothing else."""
        return self.received == self.sent and not self.wrong


class BearerReport(Record):
    """The outcome of frames over bearers."""

    uplink: Direction
    downlink: Direction


class Ends:
    """The two ends: the eNB's of S1-U and the server's.

    Args:
        ports: ports of the generator: network devices of one namespace.
        macs: source addresses of frames from port 0 and port 1, and their destinations.
    """

    def __init__(self, ports: tuple[GeneratorPort, ...], macs: tuple[tuple[str, str], tuple[str, str]]) -> None:
        if len(ports) != 2 or any(not port.kind.is_kernel or port.netns is None for port in ports):
            raise OnboardError(
                "frames over bearers can only be sent from kernel ports",
                observed=", ".join(f"{port.kind} {port.spec}" for port in ports),
                fix="choose a variant with kernel ports: linux-bridge",
            )
        self._ports = ports
        sources, destinations = ([_packed(mac) for mac in pair] for pair in macs)
        self._macs = tuple(zip(destinations, sources, strict=True))

    def carry(self, table: BearerTable, frames: int) -> BearerReport:
        """Send so many frames each way, over the bearers in turn.

        Args:
            frames: number of frames in each direction.
        """
        paths = [Path(table, bearer) for bearer in table.bearers]
        with self._opened() as (enb, server):
            uplink = _one_way(
                (enb, server),
                [paths[number % len(paths)].from_enb(number, self._macs[0]) for number in range(frames)],
                lambda number, frame: paths[number % len(paths)].arrived_at_server(frame),
            )
            downlink = _one_way(
                (server, enb),
                [paths[number % len(paths)].from_server(number, self._macs[1]) for number in range(frames)],
                lambda number, frame: paths[number % len(paths)].arrived_at_enb(frame),
            )
        return BearerReport(uplink=uplink, downlink=downlink)

    @contextmanager
    def _opened(self) -> Iterator[tuple[socket.socket, socket.socket]]:
        first, second = (inside(str(port.netns), partial(_socket, port.spec)) for port in self._ports)
        with first, second:
            yield first, second


def _one_way(
    ends: tuple[socket.socket, socket.socket], frames: list[bytes], arrived: Callable[[int, bytes], int | None]
) -> Direction:
    source, sink = ends
    found, wrong = set[int](), 0
    began = time.monotonic()
    for number, frame in enumerate(frames):
        source.send(frame)
        if number % _BATCH == 0:
            wrong += _collect(sink, max(0.0, began + number / RATE_PPS - time.monotonic()), (found, arrived))
    deadline = time.monotonic() + _LAST_S
    while len(found) < len(frames) and (left := deadline - time.monotonic()) > 0:
        wrong += _collect(sink, left, (found, arrived))
    return Direction(sent=len(frames), received=len(found), wrong=wrong)


def _collect(sink: socket.socket, wait_s: float, into: tuple[set[int], Callable[[int, bytes], int | None]]) -> int:
    """Receive what is there, after waiting so long at most for the first frame; return how many were wrong."""
    found, arrived = into
    wrong = 0
    while select.select([sink], [], [], wait_s)[0]:
        frame, address = sink.recvfrom(_LONGEST)
        if address[2] == _OUTGOING:
            continue
        number = number_of(frame)
        if number is None:
            continue  # not of these
        if arrived(number, frame) == number and number not in found:
            found.add(number)
        else:
            wrong += 1
        wait_s = 0.0
    return wrong


def _socket(device: str) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    opened.bind((device, _ETH_P_ALL))
    return opened


def _packed(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))
