"""Options of Open vSwitch on DPDK."""

from typing import Literal

from nfvbed.records import PortKind
from nfvbed.spec.dataplanes.ovs_userspace import OvsUserspaceOptions, refuse_unless_vhost_user
from nfvbed.spec.vnf import VnfChoice


class OvsDpdkOptions(OvsUserspaceOptions):
    """Open vSwitch with the DPDK datapath."""

    dataplane: Literal["ovs-dpdk"]

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """All of its ports are vhost-user sockets."""
        refuse_unless_vhost_user(choice, "ovs-dpdk")
        return PortKind.VHOST_USER
