"""What Open vSwitch with AF_XDP does otherwise: it is a process."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks

QUIRKS = Quirks(process=SWITCH)
