"""What is different with OVN: ovs-vswitchd is a process, to which ovn-controller writes its rules again."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.ovs.kerneloptions import KernelDatapathOptions
from nfvbed.dataplanes.quirks import Quirks
from nfvbed.spec.variant import Variant


def quirks_of(variant: Variant) -> Quirks:
    """Return them; on AF_XDP it is OVN's bridge on the ports of Open vSwitch on AF_XDP, and nothing else."""
    in_kernel = isinstance(variant.options, KernelDatapathOptions)
    return Quirks(process=SWITCH, flows_outlive_process=in_kernel, composed=variant.options.dataplane == "ovn-afxdp")
