"""Options of OVN on Open vSwitch: on DPDK, on AF_XDP sockets, or with the kernel's datapath."""

from typing import Literal, Self

from pydantic import model_validator

from nfvbed.dataplanes.ovs.afxdpoptions import AfxdpDatapathOptions
from nfvbed.dataplanes.ovs.dpdkoptions import DpdkDatapathOptions
from nfvbed.dataplanes.ovs.kerneloptions import KernelDatapathOptions
from nfvbed.dataplanes.ovs.ovn.logicaloptions import LogicalNetworkOptions
from nfvbed.spec.framelimits import GENEVE


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


class OvnKernelOptions(LogicalNetworkOptions, KernelDatapathOptions):
    """OVN beside Open vSwitch with the kernel's datapath (the module openvswitch)."""

    dataplane: Literal["ovn-kernel"]
    cloud_tunnel = GENEVE

    @model_validator(mode="after")
    def its_connections_are_read(self) -> Self:
        if self.tracks_connections:
            raise ValueError("acl: stateful is of ovn and ovn-afxdp: the kernel's connection table is not read")
        return self
