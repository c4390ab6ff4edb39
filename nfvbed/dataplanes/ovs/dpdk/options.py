"""Options of Open vSwitch on DPDK."""

from typing import Literal

from nfvbed.dataplanes.ovs.dpdkoptions import DpdkDatapathOptions


class OvsDpdkOptions(DpdkDatapathOptions):
    """Open vSwitch with the DPDK datapath."""

    dataplane: Literal["ovs-dpdk"]
    colour = 1
