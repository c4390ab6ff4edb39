"""The kernel as a VNF: a bridge or a router between two network devices in the VNF's namespace."""

import os
import platform
from pathlib import Path

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.errors import DeployError, OnboardError, PrerequisiteError, SwitchDiedError, UnsupportedError, VnfDiedError
from nfvbed.host import fixes
from nfvbed.host.fitness import Fitness
from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.napi import still_there
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Hop, VnfHandle, WorkThread
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.process import devices
from nfvbed.vnfs.process.devices import DeviceState
from nfvbed.vnfs.process.life import kernel_ports
from nfvbed.vnfs.vnf import VnfDriver, VnfSeat

BRIDGE = "vbr0"
_BRIDGE_OPTIONS = {"br_stp_state": 0, "br_forward_delay": 0, "br_mcast_snooping": 0}
_NETWORKS = ("198.18.0.0", "198.19.0.0")
_PREFIX = 16
_SETTINGS = {
    "ip_forward": "1",
    "conf/all/rp_filter": "0",
    "conf/default/rp_filter": "0",
    "conf/all/send_redirects": "0",
    "conf/default/send_redirects": "0",
}


class KernelVnf(VnfDriver):
    """The kernel as a VNF, without any process: the devices' threaded NAPI works on the VNF's core."""

    def probe(self, choice: VnfChoice) -> Fitness:
        """Make its parts in a namespace, and remove them."""
        if os.geteuid() != 0:
            raise PrerequisiteError("links and namespaces can only be made by root", fix="run it with sudo")
        try:
            _try(choice.forwarding)
        except (OSError, NetlinkError) as failure:
            raise UnsupportedError(
                "the kernel refuses", observed=str(failure), fix=fixes.load("bridge", "veth")
            ) from failure
        return Fitness()

    def start(self, seat: VnfSeat) -> VnfHandle:
        """Join the devices."""
        netns, names = kernel_ports(seat)
        steps = Steps()
        with steps.timed(f"onboard.{seat.name}.start"):
            try:
                if seat.does == "router":
                    inside(netns, _allow_routing)
                threads = devices.prepare(seat)
                inside(netns, lambda: _join(seat, names))
            except (OSError, NetlinkError) as failure:
                raise OnboardError(
                    f"{seat.name} cannot be made a {seat.does}", where=netns, observed=repr(failure)
                ) from failure
        macs = tuple(port.mac for port in seat.ports) if _routes(seat) else None
        return VnfHandle(
            name=seat.name,
            kind=seat.choice.kind,
            forwarding=seat.does,
            ports=seat.ports,
            cores=seat.cores,
            shares_core=seat.shares_core,
            threads=threads,
            control=DeviceState(netns=netns, destination_macs=macs).as_control(),
            versions={"linux": platform.release()},
            steps=steps.done,
        )

    def ready(self, seat: VnfSeat, handle: VnfHandle) -> VnfHandle:
        """Wait until its links are up."""
        names = tuple(port.address for port in handle.ports)
        steps = Steps()
        with steps.timed(f"onboard.{handle.name}.ready"):
            try:
                veth.wait_until_up(DeviceState.of(handle).netns, (*names, *_own_links(handle)))
            except DeployError as failure:
                raise OnboardError(
                    f"{handle.name}: {failure.what}", where=failure.where, observed=failure.observed
                ) from failure
        return handle.model_copy(update={"steps": (*handle.steps, *steps.done)})

    def verify(self, handle: VnfHandle) -> None:
        """Check that its links are there and up, and that their threads live."""
        names = (*(port.address for port in handle.ports), *_own_links(handle))
        try:
            found = veth.read(DeviceState.of(handle).netns, names)
        except SwitchDiedError as failure:
            raise VnfDiedError(
                f"{handle.name}: its links are gone", where=failure.where, observed=failure.observed
            ) from failure
        down = [name for name, counted in found.items() if not counted.up]
        if down:
            raise VnfDiedError(f"{handle.name}: links are down", where=str(down), fix="see who set them down")
        lost = set(handle.threads) - set(still_there(handle.threads))
        if lost:
            names_lost = sorted(thread.name for thread in lost)
            raise VnfDiedError(f"{handle.name}: its NAPI threads are gone", where=str(names_lost), fix="start it again")

    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """Return the kernel's counters of its devices."""
        return devices.hops(handle)

    def threads(self, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return the NAPI threads of its devices."""
        return still_there(handle.threads)

    def stop(self, handle: VnfHandle) -> None:
        """Remove the bridge; routes and devices go with the namespace."""
        netns = DeviceState.of(handle).netns
        if _own_links(handle) and Path(netns).exists():
            inside(netns, _remove_bridge)


def _routes(seat: VnfSeat) -> bool:
    return seat.does == "router"


def _own_links(handle: VnfHandle) -> tuple[str, ...]:
    return (BRIDGE,) if handle.forwarding == "bridge" else ()


def _join(seat: VnfSeat, names: tuple[str, ...]) -> None:
    if not _routes(seat):
        links.add_bridge(BRIDGE, names, _BRIDGE_OPTIONS, learning=True)
        return
    with IPRoute() as route:
        for number, (name, beyond) in enumerate(zip(names, seat.beyond, strict=True)):
            index = route.link_lookup(ifname=name)[0]
            _lead_to(route, index, number, beyond)


def _lead_to(route: IPRoute, index: int, number: int, beyond: str) -> None:
    """Add a route through a port, without an address or ARP, so that only the traffic is sent."""
    route.route("add", dst=f"{_NETWORKS[number]}/{_PREFIX}", oif=index, scope="link")
    route.neigh("add", dst=GENERATOR_ADDRESSES[number], lladdr=beyond, ifindex=index, state="permanent")


def _allow_routing() -> None:
    for name, value in _SETTINGS.items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)


def _remove_bridge() -> None:
    with IPRoute() as route:
        for index in route.link_lookup(ifname=BRIDGE):
            route.link("del", index=index)


def _try(forwarding: str) -> None:
    workspace = Workspace.create()
    try:
        netns = workspace.network_namespace("probe")
        inside(netns, lambda: links.add_veth("a", "b", ("02:4e:46:56:7f:00", "02:4e:46:56:7f:01")))
        if forwarding == "bridge":
            inside(netns, lambda: links.add_bridge(BRIDGE, ("a",), _BRIDGE_OPTIONS, learning=True))
        else:
            inside(netns, _allow_routing)
    finally:
        workspace.close()
