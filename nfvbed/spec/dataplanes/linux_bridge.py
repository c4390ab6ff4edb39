"""Options of the kernel's bridge."""

from typing import Literal

from pydantic import Field

from nfvbed.errors import UnsupportedError
from nfvbed.records import GuestCard, PortKind, VnfKind
from nfvbed.spec.dataplanes.guest_cards import Vhost, require_card
from nfvbed.spec.dataplanes.options import CoreUse, DataPlaneOptions, refuse_existing
from nfvbed.spec.vnf import VnfChoice, vnic_of

_VM_VNICS = frozenset({"any", "tap", "e1000", "rtl8139"})
"""What QEMU connects to a tap; virtio-net but for the emulated cards."""


class LinuxBridgeOptions(DataPlaneOptions):
    """The kernel's bridge between veth ports."""

    dataplane: Literal["linux-bridge"]
    core_use: CoreUse = "threaded-napi"
    """Which core does the bridge's work: a NAPI thread or RPS on the switch's core, or the sender's own softirq."""
    netfilter: bool = False
    """Whether bridged frames pass iptables (bridge-nf-call-iptables)."""
    offloads: bool = True
    """Checksum, segmentation and receive offloads of the ports, the VNFs' ends of them among these."""
    learning: bool = True
    fdb_max_learned: int | None = Field(None, ge=1)
    """Addresses that each bridge may learn (Linux 6.7 or later); None: no limit but memory."""
    guest_card: GuestCard = "any"
    """The network card of VNFs, all of which are guests then; any: whatever VNF, and the card that it asks for."""
    vhost: Vhost = "auto"
    """Whether the kernel moves a guest's frames between its virtio-net card and the tap (vhost-net); auto: where it
    can."""

    @property
    def veth_core_use(self) -> CoreUse:
        """As its own."""
        return self.core_use

    @property
    def veth_offloads(self) -> bool:
        """As its own."""
        return self.offloads

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """A virtual machine gets a tap, everything else a veth."""
        vnic = vnic_of(choice)
        if choice.kind is VnfKind.EXISTING:
            raise refuse_existing()
        fitting = ("any", "tap") if self.guest_card == "virtio" else ("any", self.guest_card)
        require_card(self.guest_card, choice, fitting, self.dataplane)
        if choice.kind is not VnfKind.VM:
            if vnic != "any":
                raise UnsupportedError(
                    f"a VNF of kind {choice.kind} has no network card of kind {vnic!r}",
                    where="linux-bridge",
                    observed="a process or container gets the end of a veth pair",
                    fix="vnic: any, or kind: vm",
                )
            return PortKind.VETH
        if vnic in _VM_VNICS:
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
