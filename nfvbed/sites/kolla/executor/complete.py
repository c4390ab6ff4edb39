"""Whether what was begun on a rack came to its end: then there is a cloud."""

from nfvbed.errors import UnsupportedError
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces


def require_complete(site: str, places: RackPlaces) -> Journal:
    """Return what was done on a rack that has a cloud; nothing is asked of it.

    Raises:
        UnsupportedError: nothing is deployed on it, or not all.
        DeployError: the journal cannot be read.
    """
    found = journal.read(places)
    if found is None or found.destroying or found.stopped_in() or not places.clouds.is_file():
        raise UnsupportedError(
            f"site {site} has no cloud",
            where=f"deploy/sites/{site}.yml",
            observed="nothing is deployed on it" if found is None else f"{found.variant} is not complete on it",
            fix=f"nfvbed deploy VARIANT --site {site} (docs/howto/kolla.md)",
        )
    return found
