"""The interface of a site: where data planes are deployed. The lab is one; clouds are others."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from nfvbed.dataplanes.catalogue import data_plane
from nfvbed.dataplanes.dataplane import SwitchReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable
from nfvbed.errors import InternalError, UnsupportedError
from nfvbed.host.arrangement import Arrangement
from nfvbed.host.workspace import Workspace
from nfvbed.records import (
    CellRole,
    Deployment,
    Hop,
    PortKind,
    QualityWarning,
    Renewed,
    Support,
    SwitchCounters,
    WorkThread,
)
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator


class Site(ABC):
    """A place that can run variants. All verbs but `deploy`, `open_generator` and `destroy` change nothing."""

    name: str
    renews: Renewed = Renewed.DEPLOYMENT
    """What is set up again for each visit to a cell: what lasts from one visit to the next can make them alike."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Give the host's description; its hash is the host hash."""

    @abstractmethod
    def rig(self, port_kind: PortKind, deployment: Deployment) -> dict[str, Any]:
        """Give what surrounds a variant: site, core arrangement, generator engine and version, VNFs.

        Its hash is the rig hash.

        Args:
            port_kind: of the cell's ports.
            deployment: stands; the arrangement is its own, with all cores of its switch and its VNFs.
        """

    @abstractmethod
    def probe(self, variant: Variant) -> Support:
        """Find out whether this host can run the variant, and why not."""

    @abstractmethod
    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        """Set up a variant, or with another role the ceiling that belongs to its port kind.

        Args:
            variant: what is deployed.
            topology: its layout's name.
            role: the variant under test, or one of its ceilings.
            vnf: what its VNFs will be; their ports and cables are made for it. None where there are none.

        Raises:
            UnsupportedError, PrerequisiteError, DeployError: nothing is left behind then.
        """

    def missing(self, topology: str, choice: VnfChoice) -> str:
        """Say what VNFs need, is not there and can be known before anything is deployed; empty: nothing.

        Args:
            topology: its layout's name.
            choice: what its VNFs will be.
        """
        return ""

    def workspace(self, deployment: Deployment) -> Workspace:
        """Give the workspace into which processes beside the deployment are started; it ends with `destroy`.

        Raises:
            DeployError: the deployment does not stand.
            InternalError: the site's deployments have none.
        """
        raise InternalError(f"deployments on site {self.name} have no workspace", where=deployment.variant)

    def arrangement(self, deployment: Deployment) -> Arrangement:
        """Give who sits on which core.

        Raises:
            DeployError: the deployment does not stand.
            InternalError: the site's deployments have no cores.
        """
        raise InternalError(f"deployments on site {self.name} have no cores", where=deployment.variant)

    def doubts(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """Name what the deployment, as it stands, casts doubt on: every trial on it has these.

        Args:
            deployment: stands, with its generator.
            threads: those that do the packet work, the generator's included.
        """
        return deployment.doubts

    @abstractmethod
    def open_generator(self, deployment: Deployment) -> Generator:
        """Start the generator on the deployment's ports, pinned as the arrangement says.

        With one port (`p2v`, `v2p`) the other one of the generator leads nowhere: its port 0 stands at outside end 0
        and its port 1 at outside end 1 all the same.

        Raises:
            InternalError: the deployment has no ports for a generator.
        """

    @abstractmethod
    def verify(self, deployment: Deployment) -> None:
        """Check that the switch (and VNFs) still live.

        Raises:
            SwitchDiedError: with its exit status and the last lines of its log.
        """

    @abstractmethod
    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the switch's own counters; None where there are none (a loop-back)."""

    @abstractmethod
    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Read the packet counters of every hop, in the order of the path from port 0 to port 1."""

    @abstractmethod
    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Give the threads that do the packet work now (kernel threads included)."""

    @abstractmethod
    def core_distances_ns(self, deployment: Deployment) -> dict[tuple[int, int], float]:
        """Measure the one-way cache-line time between each switch core and each other core that shares the work.

        Returns:
            ns by pair of cores; nothing where cores have no distance.
        """

    def core_distance_ns(self, deployment: Deployment) -> float | None:
        """Measure the greatest of these; None where there is none."""
        return max(self.core_distances_ns(deployment).values(), default=None)

    def reset(self, deployment: Deployment, after_s: float) -> ResetReport:
        """Wait, then break the switch off and bring it back as it was; called while frames flow.

        Args:
            deployment: whose switch.
            after_s: how long it is left alone first, seconds.

        Raises:
            UnsupportedError: the site or the data plane has no reset.
            DeployError, SwitchDiedError: it did not come back.
        """
        raise UnsupportedError(
            f"switches on site {self.name} cannot be reset",
            where=f"{deployment.variant}, after {after_s:g} s",
            fix="leave the test reset out",
        )

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Open the table of entries that frames of a deployment are looked up in.

        Raises:
            TableNotApplicable: it has none.
            UnsupportedError, DeployError: it cannot be filled here.
        """
        return data_plane(variant).forwarding_table(deployment, variant)

    def learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Open the table of addresses that a deployment's switch learns, with a monitoring port on it.

        Raises:
            TableNotApplicable: it learns none.
            DeployError: the monitoring port cannot be added.
        """
        return data_plane(variant).learning_table(deployment, variant)

    def switch_reader(self, deployment: Deployment, duration_s: float) -> SwitchReader | None:
        """Return what reads the switch's own counters around a trial; None: it has no more than its ports'.

        Args:
            deployment: whose switch.
            duration_s: of the trial, in seconds.
        """
        return None

    @abstractmethod
    def destroy(self, deployment: Deployment) -> None:
        """Take the deployment down completely; idempotent."""
