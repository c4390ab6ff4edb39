"""Options of OVN on Open vSwitch's userspace datapath, on DPDK or on AF_XDP sockets."""

from typing import Literal, Self

from pydantic import model_validator

from nfvbed.dataplanes.ovs.afxdpoptions import AfxdpDatapathOptions
from nfvbed.dataplanes.ovs.dpdkoptions import DpdkDatapathOptions
from nfvbed.dataplanes.ovs.ovn.logicaloptions import LogicalNetworkOptions


class OvnOptions(LogicalNetworkOptions, DpdkDatapathOptions):
    """OVN beside Open vSwitch on DPDK."""

    dataplane: Literal["ovn"]

    @model_validator(mode="after")
    def ports_are_vhost_user(self) -> Self:
        if self.port_type != "vhost-user":
            raise ValueError("port_type of this data plane is vhost-user")
        return self


class OvnAfxdpOptions(LogicalNetworkOptions, AfxdpDatapathOptions):
    """OVN beside Open vSwitch on AF_XDP sockets."""

    dataplane: Literal["ovn-afxdp"]
