"""The data plane of a cloud that exists already: nfvbed cannot deploy it, and every method raises that."""

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.errors import UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.records import Deployment, Hop, SwitchCounters, WorkThread
from nfvbed.spec.variant import Variant


class ExistingPlane(DataPlane):
    """A data plane that others run."""

    kind = "existing"

    def probe(self, variant: Variant) -> Fitness:
        """Raise: the data plane runs elsewhere."""
        raise _elsewhere(variant.name)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Raise: the data plane is not set up by nfvbed."""
        raise _elsewhere(request.variant.name)

    def verify(self, deployment: Deployment) -> None:
        """Raise: nothing of it is deployed here."""
        raise _elsewhere(deployment.variant)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Raise: nfvbed cannot read it."""
        raise _elsewhere(deployment.variant)

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Raise: nfvbed cannot read it."""
        raise _elsewhere(deployment.variant)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Raise: nfvbed cannot read it."""
        raise _elsewhere(deployment.variant)


def _elsewhere(variant: str) -> UnsupportedError:
    return UnsupportedError(
        f"{variant} is no data plane that nfvbed sets up",
        where=f"variant {variant}",
        observed="it is whatever a cloud that exists already runs",
        fix="a site of kind cloud (deploy/sites/cloud.yml)",
    )
