"""The part of a site's interface that sites have whose clouds can be verified."""

from abc import abstractmethod

from nfvbed.findings import Finding
from nfvbed.sites.deployed import Deployed
from nfvbed.sites.site import Site


class VerifiableSite(Site):
    """A site with a cloud."""

    @abstractmethod
    def inspect(self, deployed: Deployed) -> tuple[Finding, ...]:
        """Compare what runs with what a variant says; nothing is changed.

        Raises:
            UnsupportedError: this cloud's machines are not reached.
            DeployError: nothing is deployed.
        """

    @abstractmethod
    def keep_findings(self, deployed: Deployed, findings: tuple[Finding, ...]) -> None:
        """Write down beside a deployment what verifying it found."""
