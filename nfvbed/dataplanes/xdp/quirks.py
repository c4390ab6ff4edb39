"""What is different with the XDP switch: the kernel forwards as long as a process holds the programs on the ports."""

from nfvbed.dataplanes.quirks import Quirks
from nfvbed.dataplanes.xdp.process import NAME

QUIRKS = Quirks(process=NAME)
