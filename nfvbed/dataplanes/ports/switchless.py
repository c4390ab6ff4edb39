"""What ceilings without a switch have in common: links or sockets of the generator, and nothing to count between."""

from pathlib import Path
from typing import ClassVar

from nfvbed.dataplanes.dataplane import DataPlane
from nfvbed.dataplanes.ports import veth
from nfvbed.dataplanes.ports.kernel_checks import require_up
from nfvbed.dataplanes.ports.veth import GENERATOR_LINKS
from nfvbed.dataplanes.ports.veth_probe import probe_veth
from nfvbed.errors import SwitchDiedError
from nfvbed.host import napi
from nfvbed.records import Deployment, Hop, Support, SwitchCounters, WorkThread
from nfvbed.spec.variant import Variant
from nfvbed.state import PlaneState


class SwitchlessState(PlaneState):
    """What is written down of links that no switch joins."""

    generator_netns: str
    core_use: str


class SwitchlessVeth(DataPlane):
    """Veth pairs of which the generator has an end, arranged as beside the bridge."""

    links_are: ClassVar[str]
    """What its links are, for the message when they are down."""

    def probe(self, variant: Variant) -> Support:
        """It needs veth ports and live frames."""
        return probe_veth(variant)

    def verify(self, deployment: Deployment) -> None:
        """Check that the generator's links are there and up."""
        found = veth.read(SwitchlessState.of(deployment).generator_netns, GENERATOR_LINKS)
        require_up(found, self.links_are)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """There is no switch."""
        return None

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """g0, g1; what is between them a VNF counts, where there is one."""
        found = veth.read(SwitchlessState.of(deployment).generator_netns, GENERATOR_LINKS)
        return tuple(veth.generator_hop(n, i, found[n]) for i, n in enumerate(GENERATOR_LINKS))

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The sinks' NAPI threads."""
        return napi.still_there(deployment.threads)


class SwitchlessVhostUser(DataPlane):
    """Vhost-user sockets in a run directory; the programs at both ends are not the deployment's."""

    directory_is: ClassVar[str]
    """What its run directory is, for the message when it is gone."""

    def verify(self, deployment: Deployment) -> None:
        """Check that the run directory is still there; nothing else of the deployment itself stands."""
        if not Path(deployment.run_directory).is_dir():
            raise SwitchDiedError(f"{self.directory_is} is gone", where=deployment.run_directory, fix="deploy again")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """There is no switch."""
        return None

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """There is nothing between the two ends."""
        return ()

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """There is no switch."""
        return ()
