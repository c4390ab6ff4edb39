"""The toy's adapter."""

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.host.fitness import Fitness
from nfvbed.records import Deployment, Hop, SwitchCounters, WorkThread
from nfvbed.spec.variant import Variant, options_of
from tests.unit.dataplanes.toy_plane.options import ToyOptions


class Toy(DataPlane):
    """Deploys nothing."""

    kind = "toy"

    def probe(self, variant: Variant) -> Fitness:
        """Count its wheels."""
        wheels = options_of(variant, ToyOptions).wheels
        return Fitness(reason=f"{wheels} wheels")

    def deploy(self, request: DeployRequest) -> Deployment:
        """Return a deployment that is none."""
        workspace = request.workspace
        return Deployment(id=workspace.id, variant=request.variant.name, site="lab", topology="p2p", ports=())

    def verify(self, deployment: Deployment) -> None:
        """It lives."""

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """None."""

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """None."""
        return ()

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """None."""
        return ()
