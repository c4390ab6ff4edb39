"""Options of Open vSwitch on AF_XDP sockets."""

from typing import Literal

from nfvbed.dataplanes.ovs.afxdpoptions import AfxdpDatapathOptions


class OvsAfxdpOptions(AfxdpDatapathOptions):
    """Open vSwitch whose ports are AF_XDP sockets on devices of the kernel."""

    dataplane: Literal["ovs-afxdp"]
    colour = 4
