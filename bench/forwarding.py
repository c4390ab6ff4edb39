"""What carries frames between two veths, one after the other: the gateway, the XDP forwarder, the kernel's routing."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed.errors import DeployError
from nfvbed.host import linesocket
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.native import native_binary
from nfvbed.host.network import links, napi
from nfvbed.host.network import veth as veth_ports
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Role, WorkThread
from nfvbed.spec.bearers import Bearer, BearerTable
from nfvbed.vnfs.gateway.process import Gateway, GatewaySpec

CORE = 0
GENERATOR_LINKS = veth_ports.GENERATOR_LINKS
PORTS = ("u0", "u1")
MACS = {**veth_ports.MACS, "u0": "02:4e:46:47:00:10", "u1": "02:4e:46:47:00:11"}
UES = ("198.18.0.1", "198.19.0.1")
"""Addresses that frames bear: to UEs from the first one on, from the server."""
BEARERS = 1000
_NEXT_HOP = "198.18.255.254"
"""Whom the kernel routes all UEs' addresses to."""
_SETTINGS = {"ip_forward": "1", "conf/all/rp_filter": "0", "conf/default/rp_filter": "0"}
_PATIENCE_S = 5.0
Side = Callable[[], AbstractContextManager[None]]


class Bed:
    """Two veth pairs: the generator's ends in one namespace, the ports between which frames are carried in another.

    The ports' receive work is in threads on a core of its own.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.generator = workspace.network_namespace("generator")
        self.subject = workspace.network_namespace("subject")
        for link, port in zip(GENERATOR_LINKS, PORTS, strict=True):
            inside(self.generator, partial(self._pair, link, port))
        veth_ports.prepare(self.subject, PORTS)
        veth_ports.prepare(self.generator, GENERATOR_LINKS)
        veth_ports.wait_until_up(self.subject, PORTS)
        before = list(napi.napi_threads())
        napi.make_threaded(self.subject, PORTS)
        self.threads: tuple[WorkThread, ...] = tuple(
            thread for port in PORTS for thread in napi.pin_threads(port, before, CORE, Role.SWITCH)
        )
        inside(self.subject, _let_kernel_route)

    def _pair(self, link: str, port: str) -> None:
        links.add_veth(link, port, (MACS[link], MACS[port]), self.subject)

    def sides(self) -> dict[str, Side]:
        """Return what carries frames, by name; each ends with its context."""
        return {
            "gateway": partial(self._gateway, True),
            "gateway, no checksum": partial(self._gateway, False),
            "XDP forwarder": self._forwarder,
            "kernel's routing": self._kernel,
        }

    def arrived(self) -> int:
        """Read how many frames have come to the generator's first port."""
        return veth_ports.read(self.generator, GENERATOR_LINKS)[GENERATOR_LINKS[0]].rx_packets

    @contextmanager
    def _gateway(self, outer_checksum: bool) -> Iterator[None]:
        spec = GatewaySpec(
            kind="xdp",
            s1u=PORTS[0],
            sgi=PORTS[1],
            sgi_address="198.19.0.254",
            enb_mac=MACS["g0"],
            next_hop_mac=MACS["g1"],
            outer_checksum=outer_checksum,
            netns=self.subject,
            core=CORE,
        )
        gateway = Gateway(self._workspace, spec)
        gateway.start(_table())
        try:
            yield
        finally:
            gateway.stop()
            self._wait_until_left()

    @contextmanager
    def _forwarder(self) -> Iterator[None]:
        path = self._workspace.directory / "forwarder.sock"
        argv = [str(native_binary("nfvbed-xdp-forwarder")), "--socket", str(path)]
        argv += [word for port in PORTS for word in ("--port", port)]
        process = self._workspace.spawn("forwarder", argv, cores=(CORE,), netns=self.subject)
        try:
            deadline = time.monotonic() + _PATIENCE_S
            while not linesocket.listens(path):
                check_alive(process)
                if time.monotonic() > deadline:
                    raise DeployError("the XDP forwarder does not come up", observed=process.log_tail(5))
                time.sleep(0.005)
            yield
        finally:
            process.stop()
            self._wait_until_left()

    def _wait_until_left(self) -> None:
        """Wait until the ports have no program: the kernel detaches those of a process some time after its end."""
        deadline = time.monotonic() + _PATIENCE_S
        while inside(self.subject, _programs):
            if time.monotonic() > deadline:
                raise DeployError("programs do not leave the ports", where=str(PORTS), observed="XDP is attached")
            time.sleep(0.005)

    @contextmanager
    def _kernel(self) -> Iterator[None]:
        yield


def _programs() -> int:
    """Return how many of the ports have an XDP program."""
    with IPRoute() as route:
        found = (next(iter(route.get_links(ifname=port))).get_attr("IFLA_XDP") for port in PORTS)
        return sum(1 for xdp in found if xdp is not None and xdp.get_attr("XDP_ATTACHED"))


def _let_kernel_route() -> None:
    """Let the kernel carry the same frames where no program takes them: one route and one neighbour."""
    for name, value in _SETTINGS.items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)
    with IPRoute() as route:
        first, second = (route.link_lookup(ifname=port)[0] for port in PORTS)
        route.neigh("add", dst=_NEXT_HOP, lladdr=MACS["g0"], ifindex=first, state="permanent")
        route.route("add", dst="198.18.0.0/16", gateway=_NEXT_HOP, oif=first, flags=["onlink"])
        route.route("add", dst="198.19.0.0/16", oif=second, scope="link")


def _table() -> BearerTable:
    bearers = tuple(
        Bearer(
            imsi=f"00101{number:010d}",
            ue=f"198.18.{(number + 1) >> 8}.{(number + 1) & 255}",
            uplink_teid=number + 1,
            downlink_teid=number + 1,
        )
        for number in range(BEARERS)
    )
    return BearerTable(enb="10.11.0.1", sgw="10.11.0.2", server=UES[1], bearers=bearers, synthetic=True)


def run_time_ns(threads: tuple[WorkThread, ...]) -> int:
    """Return the CPU time of the receive threads so far."""
    return sum(napi.run_time_ns(thread.tid) or 0 for thread in threads)
