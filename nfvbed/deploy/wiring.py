"""From a topology's layout to the switch's ports: their names, numbers and addresses, and the kind a VNF's ports have.

Pure: nothing here touches the host. The names are the same on every switch: `p0` and `p1` (on the bridge: `s0`, `s1`)
lead outside, `v1a` and `v1b` to the first VNF's port 0 and 1.
"""

from collections.abc import Callable

from nfvbed.deploy.steering.path import SteeringPath, SwitchCable
from nfvbed.errors import InternalError, UnsupportedError
from nfvbed.records import PortKind, VnfKind, VnfPort
from nfvbed.spec.layout import End, Layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice, Vnic

KERNEL_FORWARDING = frozenset({"bridge", "router", "xdp", "raw"})
"""What a process VNF does with ports that are network devices of the kernel."""

_BRIDGE_VM_VNICS = frozenset({"any", "tap", "e1000", "rtl8139"})
"""What QEMU connects to a tap; virtio-net but for the emulated cards."""


def switch_ends(plan: Layout) -> tuple[End, ...]:
    """Give the ends of the cables in the order of the path: outside end 0, the VNFs', outside end 1."""
    ends = {end for cable in plan.cables for end in (cable.first, cable.second)}
    last = End(None, 1)
    return tuple(sorted(ends, key=lambda end: (end == last, end.vnf is not None, end.vnf or 0, end.port)))


def port_numbers(plan: Layout) -> dict[str, int]:
    """Give the OpenFlow numbers of the ports by name, in the order of the path; 1 and 2 lead outside."""
    return {end_name(end): end.port + 1 if end.vnf is None else 3 + 2 * end.vnf + end.port for end in switch_ends(plan)}


def steering_path(plan: Layout) -> SteeringPath:
    """Give a layout as the path that a steering brings into a bridge."""
    cables = tuple(SwitchCable(end_name(c.first), end_name(c.second), c.share) for c in plan.cables)
    return SteeringPath(port_numbers(plan), cables)


def vnf_ports(plan: Layout, make: Callable[[End], VnfPort]) -> tuple[tuple[VnfPort, ...], ...]:
    """Make the ports of every VNF, in the order of the path."""
    return tuple(tuple(make(End(vnf, port)) for port in plan.ports_of(vnf)) for vnf in range(plan.vnfs))


def require_vnf(plan: Layout, choice: VnfChoice | None, variant: Variant) -> PortKind | None:
    """Give the kind of the VNFs' ports; None where the layout has no VNFs.

    Raises:
        InternalError: it has some, and nobody said which.
        UnsupportedError: they cannot be attached to this switch.
    """
    if not plan.vnfs:
        return None
    if choice is None:
        raise InternalError(f"topology {plan.name} needs a VNF, and none was chosen", where=variant.name)
    return vnf_port_kind(variant, choice)


def queues_of(choice: VnfChoice | None) -> int:
    """Give the queues that a VNF's ports are to have: those of a virtual machine's flavor; an emulated card has one."""
    if choice is None or choice.kind is not VnfKind.VM or vnic_of(choice) in ("e1000", "rtl8139"):
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


def end_name(end: End) -> str:
    """Name the switch's port at a VNF's end of a cable, or, by its number, at an outside end: `v2a`, `p0`."""
    return f"p{end.port}" if end.vnf is None else f"v{end.vnf + 1}{'ab'[end.port]}"


def end_mac(end: End) -> str:
    """Give the address of a VNF's port: locally administered, and the same in every deployment."""
    vnf = 0 if end.vnf is None else end.vnf + 1
    return f"02:4e:46:56:{0x10 + vnf:02x}:{end.port:02x}"


def vnf_port_kind(variant: Variant, choice: VnfChoice) -> PortKind:
    """Decide how a VNF's ports attach to a variant's switch.

    Raises:
        UnsupportedError: this VNF cannot be attached to this switch; with the reason.
    """
    if variant.options.dataplane == "ovs-dpdk":
        return _on_ovs_dpdk(choice)
    if variant.options.dataplane == "linux-bridge":
        return _on_linux_bridge(choice)
    raise UnsupportedError(
        f"variant {variant.name} has no ports for VNFs", observed=f"data plane {variant.options.dataplane}"
    )


def vnic_of(choice: VnfChoice) -> Vnic:
    """Give the network card that a VNF is to have: the choice's, else that which its ports ask for."""
    if choice.vnic != "any":
        return choice.vnic
    asked = [port.vnic for port in choice.vnf.ports if port.role != "management" and port.vnic != "any"]
    return asked[0] if asked else "any"


def _on_ovs_dpdk(choice: VnfChoice) -> PortKind:
    vnic = vnic_of(choice)
    if choice.kind is VnfKind.EXISTING:
        raise _existing()
    if choice.kind is not VnfKind.VM and choice.forwarding in KERNEL_FORWARDING:
        raise UnsupportedError(
            f"a VNF that forwards with {choice.forwarding!r} needs kernel ports",
            where="ovs-dpdk",
            observed="its ports to VNFs are vhost-user sockets, which a DPDK process or a virtual machine opens",
            fix="forwarding io, mac, macswap or 5tswap; or kind: vm, whose image can do it; or variant linux-bridge",
        )
    if vnic not in ("any", "vhost-user"):
        raise UnsupportedError(
            f"a network card of kind {vnic!r} needs a kernel port",
            where="ovs-dpdk",
            observed="its ports to VNFs are vhost-user sockets, which take virtio-net alone",
            fix="vnic: any or vhost-user; or variant linux-bridge",
        )
    return PortKind.VHOST_USER


def _on_linux_bridge(choice: VnfChoice) -> PortKind:
    vnic = vnic_of(choice)
    if choice.kind is VnfKind.EXISTING:
        raise _existing()
    if choice.kind is not VnfKind.VM:
        if vnic != "any":
            raise UnsupportedError(
                f"a VNF of kind {choice.kind} has no network card of kind {vnic!r}",
                where="linux-bridge",
                observed="a process or container gets the end of a veth pair",
                fix="vnic: any, or kind: vm",
            )
        return PortKind.VETH
    if vnic in _BRIDGE_VM_VNICS:
        return PortKind.TAP
    reasons = {
        "macvtap": "macvtap is no port of a bridge: it lies on another link and switches by itself",
        "vf": "a virtual function is a port of its network card, not of a bridge",
        "vhost-user": "a bridge of the kernel has no vhost-user ports",
    }
    raise UnsupportedError(
        f"a network card of kind {vnic!r} cannot be attached to a bridge",
        where="linux-bridge",
        observed=reasons[vnic],
        fix="vnic: any, tap, e1000 or rtl8139",
    )


def _existing() -> UnsupportedError:
    return UnsupportedError(
        "a VNF that runs already cannot be attached to a switch that is only being set up",
        where="lab",
        observed="kind: existing",
        fix="kind: process or vm",
    )
