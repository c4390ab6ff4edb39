"""Options of OVN on two chassis."""

from typing import Literal

from nfvbed.dataplanes.ovs.overlay.hostoptions import OverlayHostOptions
from nfvbed.dataplanes.ovs.ovn.logicaloptions import LogicalPathOptions


class OvnOverlayOptions(LogicalPathOptions, OverlayHostOptions):
    """A logical network on one chassis or two, each an Open vSwitch of its own on the userspace datapath with DPDK."""

    dataplane: Literal["ovn-overlay"]
