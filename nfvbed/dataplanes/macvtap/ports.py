"""The links of a topology on macvtap: every cable is a lower link with the VNFs' devices on it.

At an outside end n the lower link is `s<n>`, whose peer `g<n>` is the generator's. Between two VNFs it is `m<k>`, whose
peer `w<k>` depends on the mode. In `bridge` it leads nowhere. In `vepa` it is the port of a bridge `h<k>` that sends
frames back where they came from. In `passthru` a link has one device, and the second VNF's device is on the peer.

Where a virtual machine opens it, a VNF's device is a macvtap `v1a`, `v1b`, ... beside its lower link. Else it is a
macvlan `eth1a`, `eth1b`, ... in a network namespace of the VNF.
"""

from dataclasses import dataclass
from functools import cached_property, partial

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.macvtap.options import MacvtapOptions
from nfvbed.dataplanes.ports.kernel_links import BridgePlan
from nfvbed.dataplanes.ports.kernel_options import vhost_of
from nfvbed.dataplanes.ports.shares import share_mac
from nfvbed.dataplanes.wiring import end_mac, vnf_ports
from nfvbed.errors import InternalError
from nfvbed.host.network import links, macvlans, veth
from nfvbed.host.network.macvlans import MacvlanDevice
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS
from nfvbed.records import GeneratorPort, PortKind, VnfPort
from nfvbed.spec.layout import End, Layout

_WIRE = 0x40
"""Byte 4 of the addresses of links between VNFs."""


@dataclass(frozen=True)
class Segment:
    """A cable's lower link, and who is on it."""

    lower: str
    peer: str
    ends: tuple[End, ...]
    """The VNFs'."""
    outside: int | None
    """The generator's port that the peer is; None between VNFs."""
    relay: str = ""
    """A bridge that the peer is a port of, which sends frames back."""


@dataclass(frozen=True)
class MacvtapPlan:
    """Lower links and devices of a layout, by name."""

    layout: Layout
    options: MacvtapOptions
    taps: bool = False
    """The VNFs are virtual machines."""
    queues: int = 1
    """Queues of each macvtap."""

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The cables' links, in the order of the path."""
        return tuple(self._segment(place, ends) for place, ends in enumerate(BridgePlan(self.layout).bridges.values()))

    def _segment(self, place: int, ends: tuple[End, ...]) -> Segment:
        outside = next((end.port for end in ends if end.vnf is None), None)
        inner = tuple(end for end in ends if end.vnf is not None)
        if outside is not None:
            return Segment(f"s{outside}", f"g{outside}", inner, outside)
        relay = f"h{place}" if self.options.mode == "vepa" else ""
        return Segment(f"m{place}", f"w{place}", inner, None, relay)

    @property
    def ends(self) -> tuple[End, ...]:
        """The VNFs' ends, in the order of the path."""
        return tuple(end for end in self.layout.switch_ends if end.vnf is not None)

    @property
    def lowers(self) -> tuple[str, ...]:
        """The lower links, and their peers on the switch's side."""
        between = [name for segment in self._between for name in (segment.lower, segment.peer)]
        return (*(f"s{port}" for port in self.layout.outside), *between)

    @property
    def relays(self) -> tuple[str, ...]:
        """The bridges that send frames back."""
        return tuple(segment.relay for segment in self._between if segment.relay)

    @property
    def _between(self) -> tuple[Segment, ...]:
        return tuple(segment for segment in self.segments if segment.outside is None)

    @property
    def generator_links(self) -> tuple[str, ...]:
        """The generator's ends."""
        return tuple(f"g{port}" for port in self.layout.outside)

    def behind(self, end: End) -> tuple[str, ...]:
        """Return the links behind a VNF's end towards the next VNF; none before a link that leads outside."""
        segment = next((segment for segment in self._between if segment.ends[0] == end), None)
        if segment is None:
            return ()
        return tuple(name for name in (segment.lower, segment.relay, segment.peer) if name)

    def lower(self, end: End) -> str:
        """Return the name of the lower link of a VNF's device."""
        segment = next(segment for segment in self.segments if end in segment.ends)
        second = self.options.mode == "passthru" and end != segment.ends[0]
        return segment.peer if second else segment.lower

    def device(self, end: End) -> str:
        """Return the name of a VNF's device."""
        if end.vnf is None:
            raise InternalError("an outside end has no macvtap")
        return end.name if self.taps else f"eth{end.vnf + 1}{'ab'[end.port]}"

    def address(self, end: End) -> str:
        """Return the MAC address of a VNF's device; side by side, the one that the generator gives the VNF's share."""
        return share_mac(end.port, end.vnf or 0) if self.layout.ways > 1 else end_mac(end)

    def first_macs(self) -> tuple[str, str] | None:
        """Return the destinations that frames from the generator's ports 0 and 1 need; None: none is needed."""
        if self.options.mode == "passthru":
            return None
        return self.address(self.ends[0]), self.address(End((self.ends[-1].vnf or 0) - self.layout.ways + 1, 1))


@dataclass(frozen=True)
class MacvtapSpaces:
    """The network namespaces, by path."""

    switch: str
    generator: str
    vnfs: tuple[str, ...]
    """One for each VNF that is no virtual machine."""

    def of(self, end: End) -> str:
        """Return the namespace of a VNF's device."""
        return self.vnfs[end.vnf or 0] if self.vnfs else self.switch


def make_spaces(request: DeployRequest, plan: MacvtapPlan) -> MacvtapSpaces:
    """Make the namespaces."""
    workspace = request.workspace
    own = () if plan.taps else range(plan.layout.vnfs)
    return MacvtapSpaces(
        switch=workspace.network_namespace("switch"),
        generator=workspace.network_namespace("generator"),
        vnfs=tuple(workspace.network_namespace(f"vnf{vnf + 1}") for vnf in own),
    )


def make_links(plan: MacvtapPlan, spaces: MacvtapSpaces) -> None:
    """Make lower links, relays and devices; called in the switch's namespace. All but the relays are down."""
    links.silence_ipv6()
    for place, segment in enumerate(plan.segments):
        macs = _macs(plan, place, segment)
        links.add_veth(segment.lower, segment.peer, macs, None if segment.outside is None else spaces.generator)
        if segment.relay:
            links.add_bridge(segment.relay, (segment.peer,), {"br_stp_state": 0, "br_mcast_snooping": 0}, learning=True)
            macvlans.reflect(segment.peer)
    for end in plan.ends:
        device = MacvlanDevice(
            name=plan.device(end),
            lower=plan.lower(end),
            mac=plan.address(end),
            mode=plan.options.mode,
            promiscuous=plan.options.promiscuous,
            tap=plan.taps,
            queues=plan.queues,
        )
        macvlans.add(device, None if plan.taps else spaces.of(end))


def prepare(plan: MacvtapPlan, spaces: MacvtapSpaces, vnf_offloads: bool) -> None:
    """Bring all links up and set their offloads.

    A frame enters a macvlan device as it came into the lower link. So a VNF without offloads needs them off at the
    other end of that link: there the kernel completes what it left to hardware, before the VNF has the frame. A macvtap
    completes it for its virtual machine.
    """
    outer = plan.options.offloads and (vnf_offloads or plan.taps)
    veth.prepare(spaces.generator, plan.generator_links, outer)
    veth.prepare(spaces.switch, plan.lowers, plan.options.offloads)
    for netns, names in devices_by_space(plan, spaces).items():
        veth.prepare(netns, names, plan.options.offloads and vnf_offloads)
    veth.wait_until_up(spaces.switch, (*plan.lowers, *plan.relays))


def devices_by_space(plan: MacvtapPlan, spaces: MacvtapSpaces) -> dict[str, tuple[str, ...]]:
    """Return the VNFs' devices by the path of their namespace."""
    found: dict[str, tuple[str, ...]] = {}
    for end in plan.ends:
        netns = spaces.of(end)
        found[netns] = (*found.get(netns, ()), plan.device(end))
    return found


def check_modes(plan: MacvtapPlan, spaces: MacvtapSpaces) -> dict[str, str]:
    """Read every device's mode; return it by the device's name."""
    found: dict[str, str] = {}
    for netns, names in devices_by_space(plan, spaces).items():
        for name in names:
            found[name] = inside(netns, partial(macvlans.mode_of, name))
    return found


def generator_ports(plan: MacvtapPlan, spaces: MacvtapSpaces) -> tuple[GeneratorPort, ...]:
    """Return the generator's ports."""
    return tuple(
        GeneratorPort(engine="xdp", spec=name, kind=PortKind.VETH, netns=spaces.generator)
        for name in plan.generator_links
    )


def ports_of_vnfs(plan: MacvtapPlan, spaces: MacvtapSpaces) -> tuple[tuple[VnfPort, ...], ...]:
    """Return the ports of every VNF."""

    def make(end: End) -> VnfPort:
        return VnfPort(
            name=end.name,
            vnf=end.vnf or 0,
            port=end.port,
            kind=PortKind.MACVTAP,
            address=plan.device(end),
            netns=spaces.of(end),
            mac=plan.address(end),
            queues=plan.queues,
            offloads=plan.options.offloads,
            vhost=vhost_of(plan.options.vhost),
        )

    return vnf_ports(plan.layout, make)


def _macs(plan: MacvtapPlan, place: int, segment: Segment) -> tuple[str, str]:
    """Return the addresses of a lower link and its peer; in mode passthru a device has its lower link's."""
    own = (f"02:4e:46:56:{_WIRE + place:02x}:00", f"02:4e:46:56:{_WIRE + place:02x}:01")
    if segment.outside is not None:
        own = (MACS[segment.lower], MACS[segment.peer])
    if plan.options.mode != "passthru":
        return own
    of_devices = {plan.lower(end): plan.address(end) for end in segment.ends}
    return of_devices.get(segment.lower, own[0]), of_devices.get(segment.peer, own[1])
