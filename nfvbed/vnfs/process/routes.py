"""Many routes in the kernel as a router: /24 prefixes, spread over the flows' addresses.

A million routes are made as the kernel takes them fastest: pyroute2 encodes one request, the prefixes are put into
copies of it, and many of these go into one send.
"""

import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pyroute2 import IPBatch, IPRoute

from nfvbed.dataplanes.networks import FLOWS_MOST, MOST, NOTE, PREFIX, ROUTED, prefixes
from nfvbed.dataplanes.tables import FilledTable, ForwardingTable, TableNotApplicable, share_out
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.network.namespaces import inside
from nfvbed.records import VnfHandle, VnfKind
from nfvbed.vnfs.process import devices

_BLOCK = 1_000
"""Requests in one send: together they are smaller than a socket's send buffer."""
_PLACEHOLDER = bytes.fromhex("cb007100")  # 203.0.113.0, an address for documentation
_HEADER = struct.Struct("=IHHII")
_ERROR = struct.Struct("=i")
_ROUTE_MESSAGE = struct.Struct("=BBBBBBBBI")
_DONE, _FAILURE, _GET_ROUTE, _DUMP = 3, 2, 26, 0x0301
_ACKNOWLEDGE = 0x0004
_FAMILY_IPV4 = 2
_RECEIVE = 1 << 18


class RouteTable(ForwardingTable):
    """The main table of one namespace; the routes lead to the generator's ports.

    Args:
        netns: path of the VNF's namespace.
        ports: its devices, in the order of the path.
    """

    entry = "routes"
    most = MOST
    notes = (NOTE,)

    def __init__(self, netns: str, ports: Sequence[str]) -> None:
        self._netns = netns
        # Frames from port 0 leave by the second device, and the other way round.
        self._ways = ((ports[1], GENERATOR_ADDRESSES[1]), (ports[0], GENERATOR_ADDRESSES[0]))
        self._shares: tuple[int, ...] = ()

    @classmethod
    def of(cls, vnfs: Sequence[VnfHandle]) -> "RouteTable":
        """Return the table of a deployment's VNF.

        Raises:
            TableNotApplicable: there are several VNFs.
            UnsupportedError: it runs in a virtual machine.
        """
        if len(vnfs) != 1:
            raise TableNotApplicable("the routes of one VNF are measured, not those of several behind each other")
        if vnfs[0].kind is VnfKind.VM:
            raise UnsupportedError(
                "the routes of a guest cannot be filled from outside",
                where=vnfs[0].name,
                observed="its agent makes one route for each port",
                fix="a VNF of kind process or container",
            )
        return cls(devices.DeviceState.of(vnfs[0]).netns, [port.address for port in vnfs[0].ports])

    def fill(self, entries: int, directions: int) -> FilledTable:
        """Replace earlier routes; those to the generator's own networks stay."""
        self.close()
        shares = share_out(entries, directions)
        began = time.monotonic_ns()
        self._shares = shares
        inside(self._netns, lambda: self._change("add", shares))
        duration_ns = time.monotonic_ns() - began
        found = inside(self._netns, _count_routes)
        if found != sum(shares):
            raise DeployError(
                "the VNF's kernel does not hold the routes",
                where=self._netns,
                observed=f"{found:,} of {sum(shares):,}",
                fix="choose fewer",
            )
        return FilledTable(found, min(*shares, FLOWS_MOST), ROUTED, duration_ns)

    def close(self) -> None:
        """Remove the routes."""
        shares, self._shares = self._shares, ()
        if shares and Path(self._netns).exists():
            inside(self._netns, lambda: self._change("del", shares))

    def _change(self, action: str, shares: Sequence[int]) -> None:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
            kernel.bind((0, 0))
            for way, share in enumerate(shares):
                request = _request(action, *self._ways[way])
                for block in _blocks(prefixes(way, share)):
                    _send(kernel, request, block)


def _request(action: str, port: str, gateway: str) -> bytes:
    """Return the request for one route, with a placeholder for its network."""
    with IPRoute() as route:
        index = route.link_lookup(ifname=port)[0]
    batch = IPBatch()
    try:
        batch.route(action, dst=f"{socket.inet_ntoa(_PLACEHOLDER)}/{PREFIX}", gateway=gateway, oif=index)
        return bytes(batch.batch)
    finally:
        batch.close()


def _blocks(numbers: Iterable[int]) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    for number in numbers:
        block.append(number.to_bytes(4, "big"))
        if len(block) == _BLOCK:
            yield block
            block = []
    if block:
        yield block


def _send(kernel: socket.socket, request: bytes, networks: Sequence[bytes]) -> None:
    """Send a block of requests; only the last is acknowledged, others are answered if they fail.

    Raises:
        DeployError: the kernel refused one.
    """
    length, kind, flags, number, port = _HEADER.unpack_from(request)
    place = request.index(_PLACEHOLDER)
    before, after = request[_HEADER.size : place], request[place + len(_PLACEHOLDER) :]
    quiet = _HEADER.pack(length, kind, flags & ~_ACKNOWLEDGE, number, port) + before
    last = _HEADER.pack(length, kind, flags | _ACKNOWLEDGE, number, port) + before
    parts = [part for network in networks[:-1] for part in (quiet, network, after)]
    kernel.send(b"".join([*parts, last, networks[-1], after]))
    # A netlink socket's send returns when the kernel has done the work, so all answers are there.
    answer = kernel.recv(_RECEIVE)
    code = _ERROR.unpack_from(answer, _HEADER.size)[0]
    if _HEADER.unpack_from(answer)[1] != _FAILURE or code:
        raise DeployError("the kernel refused a route", observed=os.strerror(-code), fix="more memory, or fewer routes")


def _count_routes() -> int:
    """Return the number of routes in this namespace with the prefix length of the table."""
    body = _ROUTE_MESSAGE.pack(_FAMILY_IPV4, 0, 0, 0, 0, 0, 0, 0, 0)
    found = 0
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.bind((0, 0))
        kernel.send(_HEADER.pack(_HEADER.size + len(body), _GET_ROUTE, _DUMP, 1, 0) + body)
        while True:
            data, at = kernel.recv(_RECEIVE), 0
            while at < len(data):
                length, kind, *_ = _HEADER.unpack_from(data, at)
                if kind == _DONE:
                    return found
                found += data[at + _HEADER.size + 1] == PREFIX
                at += (length + 3) // 4 * 4
