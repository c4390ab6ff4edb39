"""Options of Open vSwitch on the kernel's datapath."""

from typing import Literal

from nfvbed.dataplanes.ovs.options import OvsOptions
from nfvbed.dataplanes.ports.kernel_options import kernel_port_kind
from nfvbed.records import PortKind
from nfvbed.spec.options import CoreUse
from nfvbed.spec.vnf import VnfChoice


class OvsKernelOptions(OvsOptions):
    """Open vSwitch with the kernel's datapath (the module openvswitch)."""

    dataplane: Literal["ovs-kernel"]
    core_use: CoreUse = "threaded-napi"
    """Core that does the datapath's work: a NAPI thread or RPS on the switch's core, or the sender's own softirq."""
    offloads: bool = True
    """Checksum, segmentation and receive offloads of the ports."""

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
