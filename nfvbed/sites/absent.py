"""A site on which nothing can run as it is: what would is refused with the reason."""

from collections.abc import Sequence
from typing import NoReturn

from nfvbed.errors import NfvbedError
from nfvbed.records import CellRole, Deployment, WorkThread
from nfvbed.records.readings import Part
from nfvbed.sites.site import Site
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice


class AbsentSite(Site):
    """A site whose optional parts may be there, while it has nothing to run a variant on.

    Args:
        why: why nothing runs there: the message of every refusal.
    """

    def __init__(self, name: str, why: NfvbedError) -> None:
        self.name = name
        self._why = why

    def require_open(self) -> NoReturn:
        """Refuse the site: nothing runs on it."""
        raise self._why

    def facts(self) -> NoReturn:
        """Refuse to describe a host: nothing runs on the site."""
        raise self._why

    def probe(self, variant: Variant) -> NoReturn:
        """Refuse to probe: no variant can run here."""
        raise self._why

    def begin(self, *, many: bool = False) -> NoReturn:
        """Refuse to begin: there is nothing to take."""
        raise self._why

    def close(self) -> None:
        """Do nothing: nothing was taken."""

    def find_deployed(self) -> NoReturn:
        """Refuse to say what is deployed: it is not known."""
        raise self._why

    def take_down(self, *, everything: bool = False) -> tuple[str, ...]:
        """Refuse to take anything down."""
        raise self._why

    def foresee_take_down(self) -> tuple[str, ...]:
        """Refuse to say what would be taken down."""
        raise self._why

    def deploy(
        self, variant: Variant, topology: str, role: CellRole = CellRole.SUBJECT, vnf: VnfChoice | None = None
    ) -> NoReturn:
        """Refuse to deploy."""
        raise self._why

    def destroy(self, deployment: Deployment) -> NoReturn:
        """Refuse to destroy."""
        raise self._why

    def verify(self, deployment: Deployment) -> NoReturn:
        """Refuse to verify."""
        raise self._why

    def rig(self, deployment: Deployment) -> NoReturn:
        """Refuse to describe a rig."""
        raise self._why

    def open_generator(self, deployment: Deployment) -> NoReturn:
        """Refuse to open a generator."""
        raise self._why

    def look(self, deployment: Deployment, *parts: Part, threads: Sequence[WorkThread] | None = None) -> NoReturn:
        """Refuse to read anything."""
        raise self._why
