"""The ports of a VPP: sockets, NICs or network devices, with the names of both sides."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports import kernel_links, vhost_user
from nfvbed.dataplanes.ports.kernel_cores import place_generator
from nfvbed.dataplanes.ports.kernel_links import IDLE_LINKS, BridgePlan
from nfvbed.dataplanes.vpp.calls import MEMIF_BUFFER_BYTES
from nfvbed.dataplanes.vpp.interfaces import Graph, Interface
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.dataplanes.wiring import queues_of, vnf_ports
from nfvbed.errors import UnsupportedError
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.nics import take
from nfvbed.host.nics.inventory import Nic
from nfvbed.records import GeneratorPort, PortKind, VnfPort, WorkThread
from nfvbed.records.state import PlaneState
from nfvbed.spec.layout import End

KERNEL = frozenset({PortKind.VETH, PortKind.TAP})


@dataclass(frozen=True)
class VppPorts:
    """Everything on both sides of a VPP's ports."""

    interfaces: tuple[Interface, ...]
    """VPP's, in the order of the path."""
    generator: tuple[GeneratorPort, ...]
    vnfs: tuple[tuple[VnfPort, ...], ...]
    netns: str
    """The network namespace that VPP runs in."""
    threads: tuple[WorkThread, ...] = ()
    """Threads of the kernel that receive for the generator."""
    state: PlaneState = field(default_factory=PlaneState)
    """What is written down of them."""
    nics: tuple[Nic, ...] = ()
    """VPP's ports that are on NICs."""


def make(request: DeployRequest, options: VppOptions, vnf_kind: PortKind | None) -> VppPorts:
    """Make the ports; for sockets only the paths, as each is made by the side that serves it.

    Raises:
        DeployError: they cannot be made.
    """
    return _links(request, vnf_kind) if options.vnf_ports == "kernel" else _sockets(request, options)


def _sockets(request: DeployRequest, options: VppOptions) -> VppPorts:
    """Name the sockets of VNFs, and of the generator where it is not at the other ends of NICs."""
    plan, outer_kind = request.layout, request.variant.port_kind
    ends = plan.switch_ends
    cables = request.cables if outer_kind is PortKind.PCI else ()
    addresses = {f"p{number}": cable.switch for number, cable in enumerate(cables)}
    names = [end.name for end in ends if end.name not in addresses]
    paths = vhost_user.sockets(request.workspace.directory, names)

    def interface(end: End) -> Interface:
        kind = outer_kind if end.vnf is None else PortKind.VHOST_USER
        name = end.name
        address = addresses[name] if name in addresses else str(paths[name])
        return Interface(name=name, kind=kind, address=address, ring_size=options.ring_size)

    def generator(index: int, path: Path) -> GeneratorPort:
        if outer_kind is PortKind.MEMIF:
            return memif_port(index, path, options.ring_size)
        return vhost_user.server_port(index, path, options.ring_size)

    netns = request.workspace.network_namespace("switch")
    nics = take.take(cables, netns, request.workspace.ledger) if outer_kind is PortKind.PCI else {}
    outside = [paths[f"p{number}"] for number in plan.outside if f"p{number}" in paths]
    return VppPorts(
        interfaces=tuple(interface(end) for end in ends),
        generator=take.generator_ports(cables) or tuple(generator(*place) for place in enumerate(outside)),
        vnfs=vnf_ports(plan, _vnf_port(paths, options.ring_size, queues_of(request.vnf))),
        netns=netns,
        state=PlaneState(idle_port=vhost_user.IDLE if len(plan.outside) == 1 else None),
        nics=tuple(nics[cable.switch] for cable in cables),
    )


def _vnf_port(paths: dict[str, Path], ring_size: int, queues: int) -> Callable[[End], VnfPort]:
    return lambda end: vhost_user.vnf_port(end, paths[end.name], ring_size, queues)


def memif_port(index: int, path: Path, ring_size: int) -> GeneratorPort:
    """Return a generator's port that is the client of a memif which VPP serves.

    Frames are copied: in place, as nfvgen sends to Open vSwitch, was not run with VPP.
    """
    spec = (
        f"net_memif{index},zero-copy=no,socket={path},socket-abstract=no,id=0,rsize={ring_size.bit_length() - 1},"
        f"bsize={MEMIF_BUFFER_BYTES},mac={vhost_user.MACS[index]}"
    )
    return GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.MEMIF)


def _links(request: DeployRequest, vnf_kind: PortKind | None) -> VppPorts:
    """Make veth pairs and taps as a bridge has them, without bridges.

    Frames reach VPP's packet sockets in the sender's softirq: a kernel thread for that on VPP's core would wait for a
    worker that never sleeps. Frames that VPP sends wait in the links' queues while the other ends have no room.
    """
    plan = BridgePlan(request.layout, vnf_kind, request.is_addressed, queues_of(request.vnf))
    spaces = kernel_links.make_spaces(request, plan)
    inside(spaces.switch, lambda: kernel_links.make_links(plan, spaces))
    kernel_links.prepare(plan, spaces, False, False)
    inside(spaces.switch, lambda: links.add_queues(plan.veths))
    veth.wait_until_up(spaces.switch, plan.veths)
    if spaces.generator is not None:
        kernel_links.make_idle(plan, spaces.generator)
    idle = IDLE_LINKS[0] if len(plan.outside) == 1 else None
    return VppPorts(
        interfaces=tuple(
            Interface(
                name=end.name,
                kind=PortKind.TAP if plan.is_tap(end) else PortKind.VETH,
                address=plan.port(end),
            )
            for end in plan.ends
        ),
        generator=kernel_links.generator_ports(plan, spaces),
        vnfs=kernel_links.ports_of_vnfs(plan, spaces),
        netns=spaces.switch,
        threads=place_generator(plan.generator_links, spaces.generator, request.arrangement),
        state=PlaneState(generator_netns=spaces.generator, idle_port=idle),
    )


def graph(request: DeployRequest, options: VppOptions, ports: VppPorts) -> Graph:
    """Return how these ports are joined.

    Raises:
        UnsupportedError: cables share the flows of one port, and VPP's layer 2 cannot do that.
    """
    if request.layout.ways > 1:
        raise UnsupportedError(
            "VPP's layer 2 shares no flows out among VNFs side by side",
            where=f"topology {request.layout.name}",
            observed="a cross-connect joins two ports",
            fix="variant ovs-dpdk or linux-bridge, or a topology whose VNFs follow each other",
        )
    return Graph(
        interfaces=ports.interfaces,
        cables=tuple((cable.first.name, cable.second.name) for cable in request.layout.cables),
        forwarding=options.forwarding,
        rx_mode=options.rx_mode,
        mac_table_size=options.mac_table_size,
    )
