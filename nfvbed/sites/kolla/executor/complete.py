"""Whether the deployment of a rack is complete: only then is there a cloud."""

from nfvbed.errors import UnsupportedError
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces


def require_complete(site: str, places: RackPlaces) -> Journal:
    """Return the journal of a rack that has a complete cloud; nothing is asked of the machines.

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
