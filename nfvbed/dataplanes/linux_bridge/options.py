"""Options of the kernel's bridge."""

from typing import Literal

from pydantic import Field

from nfvbed.dataplanes.ports.guest_cards import Vhost, require_card
from nfvbed.dataplanes.ports.kernel_options import kernel_port_kind
from nfvbed.records import GuestCard, PortKind
from nfvbed.spec.options import CoreUse, DataPlaneOptions
from nfvbed.spec.vnf import VnfChoice


class LinuxBridgeOptions(DataPlaneOptions):
    """The kernel's bridge between veth ports."""

    dataplane: Literal["linux-bridge"]
    core_use: CoreUse = "threaded-napi"
    """Core that does the bridge's work: a NAPI thread or RPS on the switch's core, or the sender's own softirq."""
    netfilter: bool = False
    """Use of iptables for bridged frames (bridge-nf-call-iptables)."""
    offloads: bool = True
    """Checksum, segmentation and receive offloads of the ports, the VNFs' ends of them among these."""
    learning: bool = True
    """Learning of source addresses; without it unknown destinations are flooded."""
    fdb_max_learned: int | None = Field(None, ge=1)
    """Addresses that each bridge may learn (Linux 6.7 or later); None: no limit but memory."""
    guest_card: GuestCard = "any"
    """NIC model of VNFs, all of which are guests then; any: whatever VNF, and the NIC that it asks for."""
    vhost: Vhost = "auto"
    """Use of vhost-net, by which the kernel moves a guest's frames between its virtio-net NIC and the tap; auto: where
    it can."""

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
        fitting = ("any", "tap") if self.guest_card == "virtio" else ("any", self.guest_card)
        require_card(self.guest_card, choice, fitting, self.dataplane)
        return kernel_port_kind(choice, self.dataplane)
