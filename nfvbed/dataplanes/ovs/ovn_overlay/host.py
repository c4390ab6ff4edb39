"""One chassis: an Open vSwitch whose br-int has no rules and no tunnel before ovn-controller writes them."""

from dataclasses import dataclass

from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.overlay.host import INTEGRATION, OverlayHost
from nfvbed.dataplanes.ovs.ovn.adapter import OPENFLOW


@dataclass(frozen=True)
class ChassisHost(OverlayHost):
    """A host whose rules are OVN's."""

    def add_integration(self, database: SwitchDatabase) -> None:
        """Make br-int, which ovn-controller may talk to."""
        database.add_bridge(INTEGRATION, [])
        database.allow_openflow(INTEGRATION, OPENFLOW)

    def add_rules(self, tenants: tuple[bytes, ...]) -> int:
        """Write none."""
        return 0

    def find_other(self) -> None:
        """Leave it for later: there is no tunnel before ovn-controller has made it."""
