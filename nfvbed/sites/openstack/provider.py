"""The interface of what a deployment's VNFs come from: Tacker, or a cloud where they run already."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nfvbed.cloud.compute import Compute
from nfvbed.errors import InternalError, UnsupportedError
from nfvbed.host.timing import Steps
from nfvbed.records import RenewedPart, VnfHandle
from nfvbed.sites.openstack.deployment import CloudDeployment, CloudRequest
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.layout import Layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.descriptors.epa import Mismatch

Tell = Callable[[str], None]
"""Takes a sentence on what goes on."""


class VnfProvider(ABC):
    """Gives VNFs to deployments of one site."""

    form: str = "legacy"
    """What it describes VNFs in: `legacy` or `sol`."""
    renews: RenewedPart = RenewedPart.VNF
    """What is set up again for each visit to a cell."""

    @abstractmethod
    def check(self, plan: Layout, choice: VnfChoice | None) -> None:
        """Make sure that the site supports such a path, with such VNFs on it.

        Raises:
            UnsupportedError, OnboardError: it has not.
        """

    def require_ports(self, compute: Compute, variant: Variant, choice: VnfChoice, plan: Layout) -> None:
        """Make sure that a compute has ports for such VNFs.

        Raises:
            UnsupportedError: they have not.
        """
        return

    def fit(self, variant: Variant, choice: VnfChoice) -> Sequence[Mismatch]:
        """Return what of the requested VNFs does not fit flavor and variant; empty: all fits."""
        return ()

    def machines(self, choice: VnfChoice) -> Mapping[str, Flavor]:
        """Return the flavors of a VNF's virtual machines by their names; empty: it has one, with its own flavor."""
        return {}

    @abstractmethod
    def prepare(self, choice: VnfChoice) -> None:
        """Make sure that such VNFs are possible, and that their files are there.

        Raises:
            UnsupportedError, PrerequisiteError, OnboardError: with the reason.
        """

    @abstractmethod
    def provide(self, live: CloudDeployment, choice: VnfChoice, steps: Steps) -> tuple[VnfHandle, ...]:
        """Return the VNFs of a deployment in the order of its path, once all of them run.

        Raises:
            PrerequisiteError, OnboardError, UnsupportedError: with the reason; `remove` takes away what was made.
        """

    @abstractmethod
    def heal(self, owner: str, wanted: CloudRequest, place: int, dead: VnfHandle) -> VnfHandle:
        """Bring a dead VNF back.

        Args:
            wanted: the deployment as it was asked for.
            place: number of the VNF on its path, from 0.

        Raises:
            UnsupportedError, OnboardError: it stays dead.
        """

    def scale(self, owner: str, wanted: CloudRequest, first: VnfHandle, delta: int) -> tuple[VnfHandle, ...]:
        """Have a VNF scaled by instances; return a handle for each instance that is there then.

        Args:
            wanted: the deployment as it was asked for.
            first: the handle of one of its instances.

        Raises:
            UnsupportedError: it cannot be scaled.
            OnboardError: it was not.
        """
        raise UnsupportedError(
            f"{first.name} is not scaled",
            where=owner,
            observed="others have made it: nfvbed did not onboard it",
            fix="a VNF that nfvbed onboards through Tacker",
        )

    def require_monitored(self, choice: VnfChoice) -> None:
        """Make sure that a monitor asks after such VNFs, and has them respawned.

        Raises:
            UnsupportedError: none does.
        """
        raise UnsupportedError(
            f"nobody monitors {choice.vnf.name}",
            observed="others have made it: nfvbed did not onboard it",
            fix="a VNF that nfvbed onboards through Tacker",
        )

    def respawned(self, owner: str, wanted: CloudRequest, dead: VnfHandle, noticed: Callable[[], None]) -> VnfHandle:
        """Wait until a monitor has had the path's first VNF, whose instance is dead, respawned.

        Args:
            wanted: the deployment as it was asked for.
            noticed: called when the monitor has found out.

        Raises:
            UnsupportedError: as `require_monitored`.
            OnboardError: the monitor does not notice, or the VNF is not made again.
        """
        raise InternalError("what nobody monitors is not respawned", where=dead.name)

    @abstractmethod
    def remove(self, owner: str) -> None:
        """Remove what a deployment has made, in whatever state, and check that nothing of it is left.

        Raises:
            OnboardError: something stays.
        """

    @abstractmethod
    def release(self) -> tuple[str, ...]:
        """Remove what stays between deployments, as images; return lines that say what was.

        Raises:
            OnboardError: something stays.
        """

    @abstractmethod
    def check_removal(self) -> None:
        """Make sure that VNFs may be removed.

        Raises:
            UnsupportedError: they belong to others.
        """

    @abstractmethod
    def described(self, choice: VnfChoice) -> dict[str, Any]:
        """Return the VNFs' part of the rig."""
