"""The interface of onboarding a VNF, which Tacker's legacy and SOL APIs implement."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nfvbed.cloud.instances import PlacedInstance
from nfvbed.errors import UnsupportedError

Tell = Callable[[str], None]
"""Takes a sentence on what goes on."""


@dataclass(frozen=True)
class VnfIdentity:
    """The owner of a VNF, and its name, by which Tacker's VNFs are told from each other."""

    owner: str
    """Id of the deployment."""
    name: str
    """Unique for its owner."""


@dataclass(frozen=True)
class OnboardRequest:
    """A request for one VNF."""

    name: str
    """Unique for its owner."""
    owner: str
    """Tag of all that is made: whose it is."""
    descriptor: Mapping[str, Any] | bytes
    """A legacy template, or a VNF package (SOL004) as it is uploaded."""
    networks: tuple[tuple[str, str], ...] = ()
    """Connection points and the networks they are on, in the order of the path; the SOL API connects them so. A legacy
    template names its networks itself: there they give the order of ports alone."""
    flavour: str = "simple"
    """SOL: the deployment flavour."""
    level: str = ""
    """SOL: the instantiation level; empty: the descriptor's default."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """SOL: the request's additionalParams. A package that has a HOT of its own (BaseHOT) is instantiated with it where
    they name its user data: `lcm-operation-user-data` and `lcm-operation-user-data-class`."""


@dataclass(frozen=True)
class TackerVnf:
    """A VNF in Tacker."""

    api: str
    """`legacy` or `sol`."""
    id: str
    """Tacker's, of the VNF or VNF instance."""
    descriptor_id: str
    """Tacker's, of the VNFD or VNF package."""
    name: str
    owner: str
    stack_id: str
    """Heat's; empty: it has none (yet)."""
    instances: tuple[PlacedInstance, ...] = ()
    steps: tuple[tuple[str, int], ...] = ()
    """What was done for it, with nanoseconds, in order; empty for one that was found."""


class OnboardingApi(ABC):
    """One way of onboarding. All requests and waits are bounded; passwords are in no error and no log."""

    @abstractmethod
    def onboard(self, request: OnboardRequest, tell: Tell) -> TackerVnf:
        """Onboard a VNF and wait until all its instances are ACTIVE; idempotent.

        A healthy VNF of the same owner, name and descriptor is taken as it is (its one step is `found`). Another VNF of
        that name, or one that is not complete, is removed first.

        Raises:
            OnboardError: it failed; the chain of causes is in `observed`, and what was made is removed.
            UnsupportedError: these credentials are not enough (with the role), or the API cannot do it.
            UsageError: the request is not one for this API.
        """

    @abstractmethod
    def scale(self, vnf: TackerVnf, delta: int) -> TackerVnf:
        """Scale the VNF by more (delta > 0) or fewer steps.

        Raises:
            OnboardError: it failed; with the chain of causes. The VNF stays.
            UnsupportedError: the descriptor has no scaling policy or aspect.
        """

    @abstractmethod
    def heal(self, vnf: TackerVnf, request: OnboardRequest, tell: Tell) -> TackerVnf:
        """Make the VNF's instances again.

        Args:
            request: what the VNF is made from, of the same owner and name.

        Raises:
            OnboardError: it failed; with the chain of causes.
        """

    def await_respawn(self, vnf: TackerVnf, noticed: Callable[[], None]) -> TackerVnf:
        """Wait until Tacker's monitor has found a VNF dead, and has made it again.

        Args:
            noticed: called when Tacker says that it is dead.

        Raises:
            UnsupportedError: the API monitors no VNF.
            OnboardError: the monitor does not notice, or Tacker does not make it again; with the chain of causes.
        """
        raise UnsupportedError(
            f"Tacker's {vnf.api} API monitors no VNF",
            where=f"VNF {vnf.name}",
            fix="onboarding: legacy in the site's file",
        )

    def reconnect(self, vnf: TackerVnf, networks: tuple[tuple[str, str], ...]) -> TackerVnf:
        """Change the VNF's external connectivity: put connection points on other networks while it runs.

        Args:
            networks: connection points with their new networks; the others stay where they are.

        Raises:
            UnsupportedError: the API has no such operation, or the descriptor no such connection points.
            OnboardError: it failed; with the chain of causes. The VNF stays, and `retry` does it again.
        """
        raise self._without("changes no external connectivity")

    def retry(self, vnf: TackerVnf) -> TackerVnf:
        """Do the operation again that failed for the time being.

        Raises:
            UnsupportedError: the API has no such operation.
            OnboardError: nothing failed, or it failed again.
        """
        raise self._without("retries no operation")

    def rollback(self, vnf: TackerVnf) -> None:
        """Undo what the operation made that failed for the time being.

        Raises:
            UnsupportedError: the API has no such operation, or Tacker never rolls this one back.
            OnboardError: nothing failed, or the rollback did.
        """
        raise self._without("rolls nothing back")

    @staticmethod
    def _without(lack: str) -> UnsupportedError:
        return UnsupportedError(
            f"this API of Tacker {lack}",
            observed="operations on a running VNF are retried, rolled back and reconnected by the SOL API alone",
            fix="onboarding: sol in the site's file, and onboard it again",
        )

    @abstractmethod
    def remove(self, vnf: TackerVnf) -> None:
        """Terminate and delete the VNF with its descriptor, and all that Tacker leaves of it; idempotent.

        Raises:
            OnboardError: something is still there; it is listed.
        """

    @abstractmethod
    def found(self, owner: str) -> tuple[TackerVnf, ...]:
        """Return an owner's VNFs, healthy or not, by their tags."""
