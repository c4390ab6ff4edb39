"""Other tenants' resources on a rack's cloud, which are checked before a rack is taken down."""

from nfvbed.cloud.tacker import journal, others
from nfvbed.cloud.tacker.connection import connect
from nfvbed.sites.kolla.executor import journal as journals
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.openstack.descriptorvnfs import owners_of


def require_own(places: RackPlaces, site: str, *, evict: bool) -> None:
    """Refuse to take a rack down where others have something on its cloud, or may have.

    A rack whose cloud never came up, or that is half taken down already, has nothing to be asked.

    Args:
        evict: whether what others have may go with it: then nothing is asked.

    Raises:
        BusyError: they have, or the cloud cannot be asked.
    """
    found = journals.read(places)
    if evict or found is None or found.destroying or not places.clouds.exists():
        return
    others.require_none(site, lambda: connect(site, places.clouds), journal.of(places.cloud), owners_of(places.cloud))
