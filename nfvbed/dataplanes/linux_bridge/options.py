"""Options of the kernel's bridge."""

from typing import Literal

from pydantic import Field

from nfvbed.dataplanes.ports.kernel_options import OffloadOptions, Vhost, kernel_port_kind, require_nic
from nfvbed.records import GuestNic, PortKind
from nfvbed.spec.vnf import VnfChoice


class LinuxBridgeOptions(OffloadOptions):
    """The kernel's bridge between veth ports."""

    dataplane: Literal["linux-bridge"]
    colour = 0
    takes_queued_taps = True
    netfilter: bool = False
    """Use of iptables for bridged frames (bridge-nf-call-iptables)."""
    learning: bool = True
    """Learning of source addresses; without it unknown destinations are flooded."""
    fdb_max_learned: int | None = Field(None, ge=1)
    """Addresses that each bridge may learn (Linux 6.7 or later); None: no limit but memory."""
    guest_nic: GuestNic = "any"
    """NIC model of VNFs, all of which are guests then; any: whatever VNF, and the NIC that it asks for."""
    vhost: Vhost = "auto"
    """Use of vhost-net, by which the kernel moves a guest's frames between its virtio-net NIC and the tap; auto: where
    it can."""

    queue_balancer: bool = False
    """Balancer of multi-queue taps, in the place of the kernel's hash: it moves flows from loaded queues to idle
    ones."""
    queue_balancer_period_s: float = Field(0.2, ge=0.01, le=60)
    """Length of a period: flows are moved at its end, by the packets that they had in it."""
    queue_balancer_threshold_packets: int = Field(64, ge=0, le=1_000_000_000)
    """Difference of two queues' packets a period up to which nothing is moved between them."""

    @property
    def gives_emulated_nics(self) -> bool:
        """Whether the variant asks for an emulated NIC."""
        return self.guest_nic in ("e1000", "rtl8139")

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return tap for a virtual machine, veth for all others."""
        fitting = ("any", "tap") if self.guest_nic == "virtio" else ("any", self.guest_nic)
        require_nic(self.guest_nic, choice, fitting, self.dataplane)
        return kernel_port_kind(choice, self.dataplane)
