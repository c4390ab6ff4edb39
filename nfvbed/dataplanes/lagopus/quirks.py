"""What is different with Lagopus: it is a process, which does not report how much of its time frames take."""

from nfvbed.dataplanes.lagopus.process import NAME
from nfvbed.dataplanes.quirks import Quirks
from nfvbed.records import PortKind

QUIRKS = Quirks(process=NAME, not_separable=frozenset({PortKind.VETH, PortKind.VHOST_USER}))
