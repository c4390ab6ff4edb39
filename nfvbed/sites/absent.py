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
        name: the site's.
        why: nothing runs there.
    """

    def __init__(self, name: str, why: NfvbedError) -> None:
        self.name = name
        self._why = why

    def require_open(self) -> NoReturn:
        """Refuse it."""
        raise self._why

    def facts(self) -> NoReturn:
        """Refuse it."""
        raise self._why

    def probe(self, variant: Variant) -> NoReturn:
        """Refuse it."""
        raise self._why

    def begin(self, *, many: bool = False) -> NoReturn:
        """Refuse it."""
        raise self._why

    def close(self) -> None:
        """Nothing was taken."""

    def find_deployed(self) -> NoReturn:
        """Refuse it: nobody knows."""
        raise self._why

    def take_down(self, *, everything: bool = False) -> tuple[str, ...]:
        """Refuse it."""
        raise self._why

    def foresee_take_down(self) -> tuple[str, ...]:
        """Refuse it."""
        raise self._why

    def deploy(
        self, variant: Variant, topology: str, role: CellRole = CellRole.SUBJECT, vnf: VnfChoice | None = None
    ) -> NoReturn:
        """Refuse it."""
        raise self._why

    def destroy(self, deployment: Deployment) -> NoReturn:
        """Refuse it."""
        raise self._why

    def verify(self, deployment: Deployment) -> NoReturn:
        """Refuse it."""
        raise self._why

    def rig(self, deployment: Deployment) -> NoReturn:
        """Refuse it."""
        raise self._why

    def open_generator(self, deployment: Deployment) -> NoReturn:
        """Refuse it."""
        raise self._why

    def look(self, deployment: Deployment, *parts: Part, threads: Sequence[WorkThread] | None = None) -> NoReturn:
        """Refuse it."""
        raise self._why
