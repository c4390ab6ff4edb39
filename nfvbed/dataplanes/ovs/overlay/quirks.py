"""What is different with the overlay: each host has its own Open vSwitch with 103,000 rules, and there is no reset."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks

QUIRKS = Quirks(process=f"{SWITCH}-h1", quick={"rules": 1000})
