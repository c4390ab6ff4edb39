"""Options of Open vSwitch on the kernel's datapath."""

from typing import Literal

from nfvbed.dataplanes.ovs.kerneloptions import KernelDatapathOptions


class OvsKernelOptions(KernelDatapathOptions):
    """Open vSwitch with the kernel's datapath (the module openvswitch)."""

    dataplane: Literal["ovs-kernel"]
    colour = 3
