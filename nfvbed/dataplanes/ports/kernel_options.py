"""Options that switches of the kernel share: core use, offloads, guests' NICs, and how VNFs attach.

VNFs attach by a veth, virtual machines by a tap.
"""

from typing import Literal

from nfvbed.errors import UnsupportedError
from nfvbed.records import GuestNic, PortKind, VnfKind
from nfvbed.spec.options import CoreUse, DataPlaneOptions, refuse_existing
from nfvbed.spec.vnf import VnfChoice, vnic_of

_VM_VNICS = frozenset({"any", "tap", "e1000", "rtl8139"})
"""What QEMU connects to a tap; virtio-net but for the emulated NICs."""
Vhost = Literal["auto", "on", "off"]
"""Whether the kernel moves the frames of a guest's virtio-net NIC (vhost-net), or QEMU does; auto: the kernel where
it can."""


class CoreUseOptions(DataPlaneOptions):
    """Options of a switch between veth ports that places their receive work."""

    core_use: CoreUse = "threaded-napi"
    """Core that receives for the switch, and so does its work where that is the kernel's: a NAPI thread or RPS on the
    switch's core, or the sender's own softirq."""

    @property
    def veth_core_use(self) -> CoreUse:
        """`core_use`."""
        return self.core_use


class OffloadOptions(CoreUseOptions):
    """Options of a switch whose links may have offloads."""

    offloads: bool = True
    """Checksum, segmentation and receive offloads of the links, the VNFs' ends of them among these."""

    @property
    def veth_offloads(self) -> bool:
        """`offloads`."""
        return self.offloads

    def leaves_checksums_out(self, choice: VnfChoice) -> bool:
        """Return True for a process on a veth whose offloads are on."""
        if not (self.offloads and choice.offloads and choice.is_raw) or choice.kind is VnfKind.VM:
            return False
        return self.vnf_port_kind(choice) is PortKind.VETH


def kernel_port_kind(choice: VnfChoice, switch: str) -> PortKind:
    """Return how a VNF attaches.

    Raises:
        UnsupportedError: it cannot; with the reason.
    """
    vnic = vnic_of(choice)
    if choice.kind is VnfKind.EXISTING:
        raise refuse_existing()
    if choice.kind is not VnfKind.VM:
        if vnic != "any":
            raise UnsupportedError(
                f"a VNF of kind {choice.kind} has no NIC of kind {vnic!r}",
                where=switch,
                observed="a process or container gets the end of a veth pair",
                fix="vnic: any, or kind: vm",
            )
        return PortKind.VETH
    if vnic in _VM_VNICS:
        return PortKind.TAP
    reasons = {
        "macvtap": "macvtap is no port of a switch: it lies on another link and switches by itself",
        "vf": "a virtual function is a port of its NIC, not of a switch",
        "vhost-user": "a switch of the kernel has no vhost-user ports",
    }
    raise UnsupportedError(
        f"a NIC of kind {vnic!r} cannot be attached to a switch of the kernel",
        where=switch,
        observed=reasons[vnic],
        fix="vnic: any, tap, e1000 or rtl8139",
    )


def vhost_of(wanted: Vhost) -> bool | None:
    """Return whether a port uses vhost-net; None: where the host can."""
    return None if wanted == "auto" else wanted == "on"


def require_nic(nic: GuestNic, choice: VnfChoice, fitting: tuple[str, ...], where: str) -> None:
    """Refuse VNFs without the NIC that a variant is about.

    Args:
        nic: NIC of the variant; any: the variant is about none.
        fitting: kinds of `vnic` that become this NIC.

    Raises:
        UnsupportedError: it is no virtual machine, or asks for another NIC.
    """
    if nic == "any":
        return
    if choice.kind is not VnfKind.VM:
        raise UnsupportedError(
            f"a VNF of kind {choice.kind} has no {nic} NIC",
            where=where,
            observed=f"the variant is about a guest's {nic} NIC, and what is no guest has the end of a link",
            fix="kind: vm, or variant linux-bridge",
        )
    vnic = vnic_of(choice)
    if vnic not in fitting:
        raise UnsupportedError(
            f"the VNF asks for a NIC of kind {vnic!r}",
            where=where,
            observed=f"the variant gives its guests {nic} NICs",
            fix=f"vnic: {' or '.join(fitting)}; or variant linux-bridge",
        )
