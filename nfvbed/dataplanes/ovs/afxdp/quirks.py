"""What is different with Open vSwitch on AF_XDP sockets: it is a process."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks

QUIRKS = Quirks(process=SWITCH)
