"""What is different with OVN: ovs-vswitchd is a process, to which ovn-controller writes its rules again."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks

QUIRKS = Quirks(process=SWITCH)
