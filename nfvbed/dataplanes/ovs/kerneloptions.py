"""Options of Open vSwitch on the kernel's datapath, whoever writes its rules."""

from nfvbed.dataplanes.ovs.options import OvsOptions
from nfvbed.dataplanes.ports.kernel_options import OffloadOptions, kernel_port_kind
from nfvbed.records import PortKind
from nfvbed.spec.vnf import VnfChoice


class KernelDatapathOptions(OvsOptions, OffloadOptions):
    """Open vSwitch with the kernel's datapath (the module openvswitch)."""

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return tap for a virtual machine, veth for all others."""
        return kernel_port_kind(choice, self.dataplane)
