"""What the Linux bridge does otherwise: a guest's writes to its tap are part of its work."""

from nfvbed.dataplanes.quirks import Quirks
from nfvbed.records import PortKind

QUIRKS = Quirks(not_separable=frozenset({PortKind.TAP}))
