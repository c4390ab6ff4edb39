"""What is different with the Linux bridge: a guest's writes to its tap are part of the bridge's work."""

from nfvbed.dataplanes.quirks import Quirks
from nfvbed.records import PortKind

QUIRKS = Quirks(not_separable=frozenset({PortKind.TAP}))
