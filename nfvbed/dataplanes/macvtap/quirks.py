"""What is different with macvtap: it has no reset, and VNFs switch in their own system calls."""

from nfvbed.dataplanes.quirks import Quirks
from nfvbed.records import PortKind

QUIRKS = Quirks(not_separable=frozenset({PortKind.MACVTAP}))
