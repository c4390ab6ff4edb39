"""What the overlay does otherwise: there is an Open vSwitch for each host, of 103,000 rules, and no reset."""

from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.quirks import Quirks

QUIRKS = Quirks(process=f"{SWITCH}-h1", quick={"rules": 1000})
