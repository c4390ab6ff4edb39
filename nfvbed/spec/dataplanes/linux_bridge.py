"""Options of the kernel's bridge."""

from typing import Literal

from pydantic import Field

from nfvbed.records import PortKind
from nfvbed.spec.dataplanes.kernel_ports import kernel_port_kind
from nfvbed.spec.dataplanes.options import CoreUse, DataPlaneOptions
from nfvbed.spec.vnf import VnfChoice


class LinuxBridgeOptions(DataPlaneOptions):
    """The kernel's bridge between veth ports."""

    dataplane: Literal["linux-bridge"]
    core_use: CoreUse = "threaded-napi"
    """Which core does the bridge's work: a NAPI thread or RPS on the switch's core, or the sender's own softirq."""
    netfilter: bool = False
    """Whether bridged frames pass iptables (bridge-nf-call-iptables)."""
    offloads: bool = True
    """Checksum, segmentation and receive offloads of the ports."""
    learning: bool = True
    fdb_max_learned: int | None = Field(None, ge=1)
    """Addresses that each bridge may learn (Linux 6.7 or later); None: no limit but memory."""

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
        return kernel_port_kind(choice, self.dataplane)
