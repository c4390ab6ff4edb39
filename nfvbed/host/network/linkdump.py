"""The counters of all links of a network namespace in one netlink request.

They are read several times around every trial. pyroute2 decodes every attribute of every link, and takes ten times as
long.
"""

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

_HEADER = struct.Struct("=IHHII")
"""nlmsghdr: length, type, flags, sequence number, port."""
_LINK = struct.Struct("=BxHiII")
"""ifinfomsg: family, type, index, flags, change mask."""
_ATTRIBUTE = struct.Struct("=HH")
_ERROR = struct.Struct("=i")
_COUNTERS = struct.Struct("=8Q")
"""The first of rtnl_link_stats64: rx and tx packets, bytes, errors, dropped."""
ERRORS = (
    "rx_length_errors",
    "rx_over_errors",
    "rx_crc_errors",
    "rx_frame_errors",
    "rx_fifo_errors",
    "rx_missed_errors",
    "tx_aborted_errors",
    "tx_carrier_errors",
    "tx_fifo_errors",
    "tx_heartbeat_errors",
    "tx_window_errors",
)
"""Those of it that say why, in their order, behind the first ones and `multicast` and `collisions`."""
_ERRORS = struct.Struct(f"={len(ERRORS)}Q")
_ERRORS_AT = _COUNTERS.size + 16

_NLMSG_ERROR, _NLMSG_DONE, _RTM_NEWLINK, _RTM_GETLINK = 2, 3, 16, 18
_REQUEST_DUMP = 0x301
_DUMP_INTERRUPTED = 0x10
"""A flag of an answer: links came or went meanwhile, so that one may be missing."""
_TRIES = 5
_IFLA_IFNAME, _IFLA_STATS64, _IFLA_CARRIER = 3, 23, 33
_IFF_UP = 1
_KIND_MASK = 0x3FFF
"""Bits of an attribute's type; the other bits say how it is laid out."""
_LONGEST_BYTES = 1 << 16
_PATIENCE_S = 5.0


@dataclass(frozen=True)
class LinkReading:
    """A link's state and counters, as the kernel reports them."""

    index: int
    is_up: bool
    """Brought up."""
    has_carrier: bool
    rx_packets: int
    tx_packets: int
    rx_errors: int
    tx_errors: int
    rx_dropped: int
    tx_dropped: int
    reasons: dict[str, int] = field(default_factory=dict)
    """Counters in `ERRORS` that are not 0."""


def read_links() -> dict[str, LinkReading]:
    """Read all links of the calling thread's network namespace, by name.

    Raises:
        OSError: netlink refuses.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as connection:
        connection.settimeout(_PATIENCE_S)
        length = _HEADER.size + _LINK.size
        request = _HEADER.pack(length, _RTM_GETLINK, _REQUEST_DUMP, 1, 0) + _LINK.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
        for _ in range(_TRIES):
            connection.send(request)
            found, whole = _answer(connection)
            if whole:
                break
        return found


def _answer(connection: socket.socket) -> tuple[dict[str, LinkReading], bool]:
    """Receive all links; return them, and whether none was added or removed meanwhile."""
    found, whole = dict[str, LinkReading](), True
    while True:
        for kind, flags, body in _parts(connection.recv(_LONGEST_BYTES)):
            whole = whole and not flags & _DUMP_INTERRUPTED
            if kind == _NLMSG_DONE:
                return found, whole
            if kind == _NLMSG_ERROR:
                number = -_ERROR.unpack_from(body)[0]
                raise OSError(number, os.strerror(number), "links of a network namespace")
            if kind == _RTM_NEWLINK:
                name, reading = _link(body)
                found[name] = reading


def _parts(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the messages that one call received: type, flags and body."""
    at = 0
    while at + _HEADER.size <= len(data):
        length, kind, flags, _, _ = _HEADER.unpack_from(data, at)
        yield kind, flags, data[at + _HEADER.size : at + length]
        at += _aligned(max(length, _HEADER.size))


def _link(body: bytes) -> tuple[str, LinkReading]:
    _, _, index, flags, _ = _LINK.unpack_from(body)
    attributes = dict(_attributes(body))
    rx, tx, _, _, rx_errors, tx_errors, rx_dropped, tx_dropped = _COUNTERS.unpack_from(attributes[_IFLA_STATS64])
    carrier = attributes.get(_IFLA_CARRIER, b"\0")[0]
    counted = _ERRORS.unpack_from(attributes[_IFLA_STATS64], _ERRORS_AT)
    reasons = {name: count for name, count in zip(ERRORS, counted, strict=True) if count}
    reading = LinkReading(
        index, bool(flags & _IFF_UP), bool(carrier), rx, tx, rx_errors, tx_errors, rx_dropped, tx_dropped, reasons
    )
    return attributes[_IFLA_IFNAME].split(b"\0")[0].decode(), reading


def _attributes(body: bytes) -> Iterator[tuple[int, bytes]]:
    at = _LINK.size
    while at + _ATTRIBUTE.size <= len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, at)
        yield kind & _KIND_MASK, body[at + _ATTRIBUTE.size : at + length]
        at += _aligned(max(length, _ATTRIBUTE.size))


def _aligned(length: int) -> int:
    return (length + 3) & ~3
