"""What Open vSwitch in the kernel does otherwise: a process decides about the flows that the kernel forwards."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks

QUIRKS = Quirks(process=SWITCH, flows_outlive_process=True)
