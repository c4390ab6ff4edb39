"""How VNFs attach to a switch of the kernel: by a veth, and where they are virtual machines by a tap."""

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.options import refuse_existing
from nfvbed.spec.vnf import VnfChoice, vnic_of

_VM_VNICS = frozenset({"any", "tap", "e1000", "rtl8139"})
"""What QEMU connects to a tap; virtio-net but for the emulated cards."""


def kernel_port_kind(choice: VnfChoice, switch: str) -> PortKind:
    """Decide how a VNF attaches.

    Args:
        choice: the VNF.
        switch: the data plane's name, for messages.

    Raises:
        UnsupportedError: it cannot; with the reason.
    """
    vnic = vnic_of(choice)
    if choice.kind is VnfKind.EXISTING:
        raise refuse_existing()
    if choice.kind is not VnfKind.VM:
        if vnic != "any":
            raise UnsupportedError(
                f"a VNF of kind {choice.kind} has no network card of kind {vnic!r}",
                where=switch,
                observed="a process or container gets the end of a veth pair",
                fix="vnic: any, or kind: vm",
            )
        return PortKind.VETH
    if vnic in _VM_VNICS:
        return PortKind.TAP
    reasons = {
        "macvtap": "macvtap is no port of a switch: it lies on another link and switches by itself",
        "vf": "a virtual function is a port of its network card, not of a switch",
        "vhost-user": "a switch of the kernel has no vhost-user ports",
    }
    raise UnsupportedError(
        f"a network card of kind {vnic!r} cannot be attached to a switch of the kernel",
        where=switch,
        observed=reasons[vnic],
        fix="vnic: any, tap, e1000 or rtl8139",
    )
