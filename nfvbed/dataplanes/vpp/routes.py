"""Many routes in a VPP that routes between the generator's ports, in place of joining them at layer 2."""

import time
from dataclasses import replace

from nfvbed.dataplanes.networks import FLOWS_MOST, MOST, NOTE, PREFIX, ROUTED, runs
from nfvbed.dataplanes.tables import FilledTable, ForwardingTable, TableNotApplicable, share_out
from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.dataplanes.vpp.instance import VppInstance
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.dataplanes.vpp.routing import Router
from nfvbed.dataplanes.vpp.state import VppState
from nfvbed.errors import ConfigurationError, DeployError
from nfvbed.records import Deployment

_PORT_TO_PORT = "p2p"
_OUTSIDE = ("p0", "p1")
HEAP_BYTES_A_ROUTE, HEAP_BYTES_A_FLOW = 640, 2560
"""What a route and a flow take of VPP's main heap, at most: VPP 26.06 took 332 bytes for each of a million routes (more
while its tables grow), and 2.2 KiB for the part of its trie that the routes of one flow lie in.
"""
HEAP_BYTES_BESIDE = 96 << 20
"""What else is in the main heap: 69 MiB there."""


class VppRoutes(ForwardingTable):
    """The main table of IPv4. While it is open the ports route; afterwards they are joined as before.

    Args:
        deployment: a vpp whose ports are joined port to port.

    Raises:
        TableNotApplicable: the path has VNFs.
        DeployError: the ports cannot be made to route.
    """

    entry = "routes"
    most = MOST
    notes = (NOTE, "while this is measured VPP routes IPv4 between its ports, in place of the variant's layer 2")

    def __init__(self, deployment: Deployment, options: VppOptions) -> None:
        if deployment.topology != _PORT_TO_PORT:
            raise TableNotApplicable("VPP's routes are measured between two ports of one VPP (p2p)")
        self._heap_bytes = options.main_heap_mib << 20
        instance = VppInstance.of(deployment)
        numbers = VppState.of(deployment).interfaces
        self._shares: tuple[int, ...] = ()
        self._api: VppApi | None = instance.connect().open()
        try:
            ports = [numbers[name] for name in _OUTSIDE]
            self._router = Router(self._api, ports, options.forwarding, instance.directory)
            self._router.begin()
        except BaseException:
            self._api.close()
            raise

    def fill(self, entries: int, directions: int) -> FilledTable:
        """Replace earlier routes; those to the generator's own networks stay."""
        self._check(entries)
        self._empty()
        self._shares = share_out(entries, directions)
        began = time.monotonic_ns()
        for way, share in enumerate(self._shares):
            self._router.change("add", way, runs(way, share), PREFIX)
        duration_ns = time.monotonic_ns() - began
        found = self._router.routes(PREFIX)
        if found != sum(self._shares):
            raise DeployError(
                "VPP does not hold the routes",
                where="show ip fib summary",
                observed=f"{found:,} of {sum(self._shares):,}",
                fix="choose fewer",
            )
        addressing = replace(ROUTED, macs=self._router.macs)
        return FilledTable(found, min(*self._shares, FLOWS_MOST), addressing, duration_ns)

    def close(self) -> None:
        """Remove the routes; join the ports again."""
        api, self._api = self._api, None
        if api is None:
            return
        try:
            self._empty()
            self._router.end()
        finally:
            api.close()

    def _empty(self) -> None:
        shares, self._shares = self._shares, ()
        for way, share in enumerate(shares):
            self._router.change("del", way, runs(way, share), PREFIX)

    def _check(self, entries: int) -> None:
        """Refuse a number of routes that would end VPP: it ends itself when its heap is full."""
        in_trie = min(entries, 2 * FLOWS_MOST) * HEAP_BYTES_A_FLOW
        needed = entries * HEAP_BYTES_A_ROUTE + in_trie + HEAP_BYTES_BESIDE
        if needed > self._heap_bytes:
            raise ConfigurationError(
                f"{entries:,} routes do not fit into VPP's memory",
                where="options.main_heap_mib",
                observed=f"{self._heap_bytes >> 20} MiB, about {needed >> 20} MiB are needed",
                fix=f"main_heap_mib: {-(-needed >> 20)}",
            )
