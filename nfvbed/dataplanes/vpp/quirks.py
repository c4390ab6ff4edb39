"""What is different with VPP: it is a process, and peers of its sockets do not come back to a restarted one."""

from nfvbed.dataplanes.quirks import Quirks
from nfvbed.dataplanes.vpp.instance import SWITCH
from nfvbed.records import PortKind

_NO_RESTART = "do not restart"
QUIRKS = Quirks(
    process=SWITCH,
    no_reset={PortKind.VHOST_USER: _NO_RESTART, PortKind.MEMIF: _NO_RESTART},
)
