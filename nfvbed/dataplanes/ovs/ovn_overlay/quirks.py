"""What is different with OVN on two chassis: each has its own ovs-vswitchd, and there is no reset."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks

QUIRKS = Quirks(process=f"{SWITCH}-h1")
