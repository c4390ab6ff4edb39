"""What is different with Open vSwitch in the kernel: a process decides on the flows that the kernel forwards."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks

QUIRKS = Quirks(process=SWITCH, flows_outlive_process=True)
