"""What is different with Open vSwitch on DPDK: it is a process, and memif clients do not connect again to it."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks
from nfvbed.records import PortKind

QUIRKS = Quirks(process=SWITCH, no_reset={PortKind.MEMIF: "memif"})
