"""The links of a topology on kernel bridges: each cable is a bridge of its own, as each Neutron network is.

Cables that share the flows of one end are one bridge; how it steers them is in `shares.py`.

At an outside end n the bridge has the port `s<n>`, whose peer `g<n>` is the generator's. At a VNF's end it has the port
`v1a`, `v1b`, `v2a`, ...: a tap device that a virtual machine opens, or a veth pair whose peer `eth1a`, ... lies in a
namespace of that VNF.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports.shares import share_mac
from nfvbed.dataplanes.wiring import end_mac, vnf_ports
from nfvbed.errors import InternalError
from nfvbed.host.network import links, veth
from nfvbed.host.network.links import LinkCounters
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS
from nfvbed.records import Deployment, GeneratorPort, GuestNic, Hop, PortKind, VnfPort
from nfvbed.spec.layout import End, Layout, layout

IDLE_LINKS = ("n0", "n1")
"""A pair in the generator's namespace that leads nowhere, for the generator's port at an end where there is a VNF."""


@dataclass(frozen=True)
class BridgePlan:
    """Bridges and ports of a layout, by name."""

    layout: Layout
    vnf_kind: PortKind | None = None
    """veth or tap; None where the layout has no VNFs."""
    addressed: bool = False
    """The VNFs take only frames that are addressed to them, as a router does."""
    queues: int = 1
    """Queues of each tap."""

    @classmethod
    def of(cls, deployment: Deployment) -> Self:
        """Return the plan of a deployment."""
        kinds = {port.kind for ports in deployment.vnf_ports for port in ports}
        return cls(layout(deployment.topology), next(iter(kinds), None))

    @cached_property
    def bridges(self) -> dict[str, tuple[End, ...]]:
        """The bridges and the ends that each joins, in the order of the path."""
        joined: list[set[End]] = []
        for cable in self.layout.cables:
            ends = {cable.first, cable.second}
            same = next((other for other in joined if other & ends), None)
            if same is None:
                joined.append(ends)
            else:
                same |= ends
        return {f"br{place}": tuple(end for end in self.ends if end in ends) for place, ends in enumerate(joined)}

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """All ends, in the order of the path."""
        return self.layout.switch_ends

    @property
    def outside(self) -> tuple[End, ...]:
        """The ends at the generator."""
        return tuple(end for end in self.ends if end.vnf is None)

    @property
    def taps(self) -> tuple[str, ...]:
        """Bridge ports that are tap devices."""
        return tuple(self.port(end) for end in self.ends if self.is_tap(end))

    @property
    def veths(self) -> tuple[str, ...]:
        """Bridge ports that are ends of veth pairs."""
        return tuple(self.port(end) for end in self.ends if not self.is_tap(end))

    @property
    def ports(self) -> tuple[str, ...]:
        """All bridge ports, in the order of the path."""
        return tuple(self.port(end) for end in self.ends)

    @property
    def generator_links(self) -> tuple[str, ...]:
        """The generator's ends."""
        return tuple(self.peer(end) for end in self.outside)

    @property
    def always_up(self) -> tuple[str, ...]:
        """Links that have a carrier even without running VNFs: a tap has one only while its guest lives."""
        bridges = [name for name, ends in self.bridges.items() if not all(self.is_tap(end) for end in ends)]
        return (*bridges, *self.veths)

    def vnf_links(self, vnf: int) -> tuple[str, ...]:
        """Return the VNF's ends of its veth pairs; none where they are taps."""
        return tuple(self.peer(end) for end in self.ends if end.vnf == vnf and not self.is_tap(end))

    def address(self, end: End) -> str:
        """Return the MAC address of a VNF's port; side by side, the one of its share."""
        shares = self.addressed and end.vnf is not None and self.layout.ways > 1
        return share_mac(end.port, end.vnf or 0) if shares else end_mac(end)

    def is_tap(self, end: End) -> bool:
        """Return whether the port at an end is a tap device."""
        return end.vnf is not None and self.vnf_kind is PortKind.TAP

    def port(self, end: End) -> str:
        """Return the name of the bridge's port at an end."""
        return f"s{end.port}" if end.vnf is None else end.name

    def peer(self, end: End) -> str:
        """Return the name of a veth pair's other side: the generator's or the VNF's."""
        return f"g{end.port}" if end.vnf is None else f"eth{end.vnf + 1}{'ab'[end.port]}"


@dataclass(frozen=True)
class BridgeSpaces:
    """The network namespaces, by path."""

    switch: str
    generator: str | None
    """None where VNFs are both ends."""
    vnfs: tuple[str, ...]
    """One for each VNF; none for those with taps."""


def make_spaces(request: DeployRequest, plan: BridgePlan) -> BridgeSpaces:
    """Make the namespaces."""
    workspace = request.workspace
    return BridgeSpaces(
        switch=workspace.network_namespace("switch"),
        generator=workspace.network_namespace("generator") if plan.outside else None,
        vnfs=tuple(
            workspace.network_namespace(f"vnf{vnf + 1}") for vnf in range(plan.layout.vnfs) if plan.vnf_links(vnf)
        ),
    )


def make_links(plan: BridgePlan, spaces: BridgeSpaces, veth_queues: int = 1) -> None:
    """Make pairs and taps; called in the switch's namespace. All are down."""
    for end in plan.ends:
        if plan.is_tap(end):
            links.add_tap(plan.port(end), plan.queues)
            continue
        far = spaces.generator if end.vnf is None else spaces.vnfs[end.vnf]
        links.add_veth(plan.port(end), plan.peer(end), _macs(plan, end), far, queues=veth_queues)


def make_idle(plan: BridgePlan, generator: str) -> None:
    """Make the pair that leads nowhere, for a generator that has one real port."""
    if len(plan.outside) == 1:
        inside(generator, lambda: links.add_veth(*IDLE_LINKS, ("02:4e:46:56:02:00", "02:4e:46:56:02:01")))
        veth.prepare(generator, IDLE_LINKS)


def prepare(plan: BridgePlan, spaces: BridgeSpaces, switch_offloads: bool, vnf_offloads: bool) -> None:
    """Bring all links up and set their offloads, the far ends first.

    The bridge's ports to a VNF without offloads have none either: there the kernel completes what it left to hardware,
    before the VNF has the frame.
    """
    if spaces.generator is not None:
        veth.prepare(spaces.generator, plan.generator_links, switch_offloads)
    for vnf, netns in enumerate(spaces.vnfs):
        veth.prepare(netns, plan.vnf_links(vnf), vnf_offloads)
    outer = tuple(plan.port(end) for end in plan.ends if end.vnf is None)
    inner = tuple(plan.port(end) for end in plan.ends if end.vnf is not None)
    veth.prepare(spaces.switch, outer, switch_offloads)
    veth.prepare(spaces.switch, inner, switch_offloads and vnf_offloads)


def generator_ports(plan: BridgePlan, spaces: BridgeSpaces) -> tuple[GeneratorPort, ...]:
    """Return the generator's ports."""
    return tuple(
        GeneratorPort(engine="xdp", spec=name, kind=PortKind.VETH, netns=spaces.generator)
        for name in plan.generator_links
    )


@dataclass(frozen=True)
class GuestSide:
    """The NICs that a variant asks for in virtual machines at its ports."""

    nic: GuestNic = "any"
    offloads: bool = True
    vhost: bool | None = None
    """Whether the kernel moves their frames (vhost-net); None: as the host can."""


def ports_of_vnfs(
    plan: BridgePlan, spaces: BridgeSpaces, guests: GuestSide | None = None
) -> tuple[tuple[VnfPort, ...], ...]:
    """Return the ports of every VNF, with the NICs that guests are to have."""
    guests = guests or GuestSide()

    def make(end: End) -> VnfPort:
        if end.vnf is None or plan.vnf_kind is None:
            raise InternalError("an outside end is no VNF's port")
        tap = plan.is_tap(end)
        return VnfPort(
            name=plan.port(end),
            vnf=end.vnf,
            port=end.port,
            kind=plan.vnf_kind,
            address=plan.port(end) if tap else plan.peer(end),
            netns=spaces.switch if tap else spaces.vnfs[end.vnf],
            mac=plan.address(end),
            queues=plan.queues if tap else 1,
            nic=guests.nic,
            offloads=guests.offloads,
            vhost=guests.vhost,
        )

    return vnf_ports(plan.layout, make)


def _macs(plan: BridgePlan, end: End) -> tuple[str, str]:
    """Return the addresses of a pair: first the bridge's side, then the other one."""
    if end.vnf is None:
        return MACS[f"s{end.port}"], MACS[f"g{end.port}"]
    return f"02:4e:46:56:{0x30 + end.vnf:02x}:{end.port:02x}", plan.address(end)


def bridge_names(plan: BridgePlan) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Return each bridge with its ports' names."""
    return [(name, tuple(plan.port(end) for end in ends)) for name, ends in plan.bridges.items()]


def between_generators(plan: BridgePlan, found: Mapping[str, LinkCounters], path: Sequence[Hop]) -> tuple[Hop, ...]:
    """Put the generator's links around a switch's hops: outside end 0 before the switch, end 1 after it.

    Args:
        found: counters of the generator's links, by name.
        path: the switch's own hops.
    """
    outer = {end.port: veth.generator_hop(plan.peer(end), end.port, found[plan.peer(end)]) for end in plan.outside}
    before = (outer[0],) if 0 in outer else ()
    behind = (outer[1],) if 1 in outer else ()
    return (*before, *path, *behind)


def walk(plan: BridgePlan) -> Iterable[tuple[End | None, str, str]]:
    """Yield the bridges and ports that frames pass, in the order of the path: end, name, the bridge's name.

    For a bridge the end is None. A bridge comes after its first port; one that joins VNFs side by side again
    comes before its last.
    """
    bridge_of = {end: (name, ends) for name, ends in plan.bridges.items() for end in ends}
    for end in plan.ends:
        name, ends = bridge_of[end]
        gathers = len(ends) > 2 and ends[0].vnf is not None
        if gathers and end == ends[-1]:
            yield None, name, name
        yield end, plan.port(end), name
        if not gathers and end == ends[0]:
            yield None, name, name
