"""The path of a deployment that stays: what a site can tell of it, and change."""

from collections.abc import Callable
from dataclasses import dataclass

from nfvbed.dataplanes.chaincontrol import ChainControl, FixedChain
from nfvbed.errors import UnsupportedError
from nfvbed.records import Deployment
from nfvbed.records.chain import ChainCable


@dataclass(frozen=True)
class DeployedChain:
    """The path of a deployment, on a site that cannot change it."""

    control: ChainControl
    deployment: Deployment
    site: str

    @classmethod
    def of(cls, site: str, deployment: Deployment, fixed: str) -> "DeployedChain":
        """Return the path of a site that joins VNFs only once, with the reason."""
        control = FixedChain(fixed, f"{deployment.variant} on site {site}", "onboard in the order that is wanted")
        return cls(control, deployment, site)

    @property
    def fixed(self) -> str:
        """Why the order cannot be changed while it runs; empty: it can."""
        return self.control.fixed

    @property
    def lengths(self) -> tuple[int, ...]:
        """Chains that `redeploy` can make of it, in VNFs."""
        return ()

    def cables(self) -> tuple[ChainCable, ...]:
        """Read the rules that join the ports, in the order of the path.

        Raises:
            DeployError: as its control.
        """
        return self.control.cables()

    def apply(self, order: tuple[int, ...]) -> Deployment:
        """Change the order while all run; return the changed deployment once frames come through.

        Args:
            order: the VNFs from outside end 0 to outside end 1, by their numbers from 0.

        Raises:
            UnsupportedError: it is fixed.
            DeployError, OnboardError, VnfDiedError: the order is as before.
        """
        self.require_free()
        self.control.apply(order)
        return self.deployment

    def require_free(self) -> None:
        """Refuse to change an order that is fixed.

        Raises:
            UnsupportedError: it is; with the reason.
        """
        if self.fixed:
            raise UnsupportedError(
                f"the order of the VNFs of {self.deployment.variant} ({self.deployment.topology}) is fixed",
                where=f"site {self.site}",
                observed=self.fixed,
                fix="ovs-dpdk with a chain (pvvp, pv3p, ...) in the lab lets its order be changed",
            )

    def foresee(self, length: int) -> str:
        """Return a line that says what `redeploy` would do; nothing is changed.

        Raises:
            UnsupportedError: as `redeploy`.
        """
        raise UnsupportedError(
            f"a chain is not set up again with another length on site {self.site}",
            where=f"{self.deployment.variant} ({self.deployment.topology}) to {length} VNFs",
            observed="the site has no such verb",
            fix="nfvbed offboard, then nfvbed onboard VNF --topology with the wanted chain",
        )

    def redeploy(self, length: int, tell: Callable[[str], None]) -> Deployment:
        """Take the deployment down and set it up again as a chain of another length.

        Args:
            length: number of VNFs.
            tell: is called with each step.

        Raises:
            UnsupportedError: the site cannot, or not with this data plane or these VNFs; nothing is changed.
            DeployError, OnboardError: it does not come up; the old one is gone.
        """
        tell(self.foresee(length))
        return self.deployment
