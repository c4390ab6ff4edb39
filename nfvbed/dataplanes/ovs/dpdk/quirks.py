"""What Open vSwitch with DPDK does otherwise: it is a process, and memif clients do not come back to another one."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks
from nfvbed.records import PortKind

QUIRKS = Quirks(process=SWITCH, no_reset={PortKind.MEMIF: "memif"})
