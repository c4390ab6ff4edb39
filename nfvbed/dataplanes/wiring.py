"""From a topology's layout to the switch's ports: their names, numbers and addresses, and the kind a VNF's ports have.

Pure: nothing here touches the host. The names are the same on every switch: `p0` and `p1` (on the bridge: `s0`, `s1`)
lead outside, `v1a` and `v1b` to the first VNF's port 0 and 1.
"""

from collections.abc import Callable

from nfvbed.errors import InternalError, UnsupportedError
from nfvbed.records import Deployment, PortKind, VnfKind, VnfPort
from nfvbed.spec.gateway import GATEWAYS, require_ports
from nfvbed.spec.layout import VEPC, End, Layout, layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice, vnic_of

_FIRST_OF_VNFS = 3
"""OpenFlow number of the first VNF's port 0."""
EMULATED_NICS = ("e1000", "rtl8139")
"""NICs that QEMU itself emulates, of one queue."""


def layout_of(deployment: Deployment) -> Layout:
    """Return the layout of a deployment's topology, with its VNFs in their present order."""
    return layout(deployment.topology).in_order(deployment.order)


def port_numbers(plan: Layout) -> dict[str, int]:
    """Return the OpenFlow numbers of the ports by name, in the order of the path; 1 and 2 lead outside."""
    return {
        end.name: end.port + 1 if end.vnf is None else _FIRST_OF_VNFS + 2 * end.vnf + end.port
        for end in plan.switch_ends
    }


def end_of(number: int) -> End:
    """Return the end of the path of a port, given its OpenFlow number by `port_numbers`."""
    return End(None, number - 1) if number < _FIRST_OF_VNFS else End(*divmod(number - _FIRST_OF_VNFS, 2))


def vnf_ports(plan: Layout, make: Callable[[End], VnfPort]) -> tuple[tuple[VnfPort, ...], ...]:
    """Make the ports of every VNF, in the order of the path."""
    return tuple(tuple(make(End(vnf, port)) for port in plan.ports_of(vnf)) for vnf in range(plan.vnfs))


def require_vnf(plan: Layout, choice: VnfChoice | None, variant: Variant) -> PortKind | None:
    """Return the kind of the VNFs' ports; None where the layout has no VNFs.

    Raises:
        InternalError: it has some, and it is not said which.
        UnsupportedError: they cannot be attached to this switch.
    """
    if not plan.vnfs:
        return None
    if choice is None:
        raise InternalError(f"topology {plan.name} needs a VNF, and none was chosen", where=variant.name)
    return vnf_port_kind(variant, choice)


def queues_of(choice: VnfChoice | None) -> int:
    """Return the queues of a VNF's ports: those of a virtual machine's flavor; an emulated NIC has one."""
    if choice is None or choice.kind is not VnfKind.VM or vnic_of(choice) in EMULATED_NICS:
        return 1
    return choice.flavor.queues


def refuse_many_vnfs(plan: Layout) -> None:
    """Refuse to loop back anything but one VNF with two ports.

    Raises:
        UnsupportedError: it is something else; a chain is bounded by its one VNF.
    """
    if plan.vnfs != 1 or plan.one_way:
        raise UnsupportedError(
            f"topology {plan.name} cannot be looped back alone",
            observed=f"{plan.vnfs} VNFs, the generator at {len(plan.outside)} ends",
            fix="topology pvp",
        )


def end_mac(end: End) -> str:
    """Return the address of a VNF's port: locally administered, and the same in every deployment."""
    vnf = 0 if end.vnf is None else end.vnf + 1
    return f"02:4e:46:56:{0x10 + vnf:02x}:{end.port:02x}"


def vnf_port_kind(variant: Variant, choice: VnfChoice) -> PortKind:
    """Return how a VNF's ports attach to a variant's switch.

    Raises:
        UnsupportedError: this VNF cannot be attached to this switch; with the reason.
    """
    return variant.options.vnf_port_kind(choice)


def on_path(plan: Layout, choice: VnfChoice) -> VnfChoice:
    """Return a VNF as it runs on a path: its ends send and receive as testpmd does, however they could forward."""
    return choice.model_copy(update={"forwarding": "io"}) if plan.one_way else choice


def require_topology(variant: Variant, topology: str) -> None:
    """Check that a variant has a topology, and that its options fit it.

    Raises:
        UnsupportedError: with the reason.
    """
    lacking = variant.lacks(topology)
    if lacking:
        raise UnsupportedError(
            lacking,
            where=f"variant {variant.name}, topologies",
            fix=f"choose one of {', '.join(variant.topologies) or 'none'}",
        )
    variant.options.check_layout(layout(topology))


def _require_core(topology: str, choice: VnfChoice) -> None:
    """Refuse a mobile core anywhere but between S1-U and SGi, and any other VNF there.

    What another virtual machine does there depends on its image.
    """
    is_gateway, is_image = choice.forwarding in GATEWAYS, choice.kind is VnfKind.VM
    if is_gateway != (topology == VEPC) and (is_gateway or not is_image):
        raise UnsupportedError(
            f"a VNF that forwards as {choice.forwarding!r} cannot be in topology {topology}",
            where=choice.label,
            observed="between S1-U and SGi there is a mobile core, and no other topology has these",
            fix=f"VNF vepc with topology {VEPC}; any other VNF with another topology",
        )


def require_path(variant: Variant, topology: str, choice: VnfChoice | None) -> None:
    """Check what can be known without a host: the variant has the topology, and the VNFs can be attached to it.

    Raises:
        UnsupportedError: with the reason.
    """
    require_topology(variant, topology)
    plan = layout(topology)
    if choice is not None and plan.vnfs:
        runs = on_path(plan, choice)
        _require_core(topology, runs)
        require_ports(runs.forwarding, vnf_port_kind(variant, runs))
        variant.options.check(plan, runs)
