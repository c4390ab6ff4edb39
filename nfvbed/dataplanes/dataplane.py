"""The interface of a data plane's adapter: one in each room of `nfvbed/dataplanes/`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from nfvbed.dataplanes.chaincontrol import ChainControl, FixedChain
from nfvbed.dataplanes.connections import ConnectionTracker
from nfvbed.dataplanes.reader import CounterReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, Hop, SwitchCounters, WorkThread
from nfvbed.spec.layout import Layout
from nfvbed.spec.onos import OnosSpec
from nfvbed.spec.pci import CableSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import ADDRESSED_FORWARDING, VnfChoice

PORT_TO_PORT = "p2p"


class Peers(Protocol):
    """What is on the other sides of the ports: VNFs and generator.

    A data plane whose ports are sockets that those listen on starts them before itself: then it finds
    a peer at each of its ports at once. One that finds none tries again only a second later.
    """

    def start(self, foreseen: Deployment) -> None:
        """Start them on the ports that there will be; called from the main thread, once or not at all."""

    def wait(self) -> None:
        """Wait until all of them run, so that all listen.

        Raises:
            OnboardError, VnfDiedError, GeneratorError: one does not come up.
        """


@dataclass(frozen=True)
class DeployRequest:
    """What is to be deployed, and where."""

    variant: Variant
    layout: Layout
    workspace: Workspace
    arrangement: Arrangement
    vnf: VnfChoice | None = None
    """What the VNFs of the layout will be; they are started by others, on the ports that are made for them."""
    onos: OnosSpec | None = None
    """The site's, for variants that are steered by it."""
    cables: tuple[CableSpec, ...] = ()
    """The site's, for variants whose ports are on NICs."""
    peers: Peers | None = None
    """Started by the data plane where that is of use; where it does not, by others after it."""

    @property
    def is_addressed(self) -> bool:
        """Whether the VNFs take only frames that are addressed to them."""
        return self.vnf is not None and self.vnf.forwarding in ADDRESSED_FORWARDING


@dataclass(frozen=True)
class OwnEnds:
    """Two devices of the kernel that are ports of the switch, at outside end 0 and 1; the generator's are cut off."""

    netns: str
    """Path of the network namespace that they are in; taps may be moved."""
    devices: tuple[str, str]
    what: str
    """How they are joined to the path, in words."""
    kind: str = "own ports"
    """Word for rows that are of them."""
    threads: tuple[WorkThread, ...] = ()
    """The switch's threads that serve them, where those are not among its `work_threads`."""
    told: Callable[[], tuple[str, ...]] = tuple
    """Gives what the switch says of them, in sentences."""


OwnKind = Literal["tap", "veth"]
"""What the devices of a switch's own ports are."""
OwnEndsMaker = Callable[[], AbstractContextManager[OwnEnds]]
"""Puts two such ports in the place of the generator's, for a block."""


class DataPlane(ABC):
    """Sets one kind of data plane up in a workspace.

    Everything it creates is recorded in the ledger of the workspace first.
    """

    kind: ClassVar[str]

    @abstractmethod
    def probe(self, variant: Variant) -> Fitness:
        """Find out, by trying and not by guessing, how this host can run the data plane.

        Raises:
            UnsupportedError, PrerequisiteError, DeployError: it cannot; the site makes its answer of it.
        """

    @abstractmethod
    def deploy(self, request: DeployRequest) -> Deployment:
        """Deploy the switch, all ports of the layout, and the cables between them.

        Raises:
            UnsupportedError, DeployError, PrerequisiteError: the caller then undoes the workspace's ledger.
        """

    @abstractmethod
    def verify(self, deployment: Deployment) -> None:
        """Check that the switch still lives.

        Raises:
            SwitchDiedError: with its exit status and the last lines of its log.
        """

    @abstractmethod
    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the switch's own counters, cumulative."""

    @abstractmethod
    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Read the packet counters along the path from port 0 to port 1.

        A switch's port says which end of the path it is (`vnf`, `port`): by it a VNF's own counters follow.
        """

    def wait_until_joined(self, deployment: Deployment, ports: Collection[str]) -> None:
        """Wait until the switch forwards to ports whose other sides are open: they may be ready before it is.

        Most switches need no wait: only that they live is checked.

        Args:
            ports: names of vhost-user ports (`p0`, `v1a`).

        Raises:
            DeployError: it does not in time.
        """
        self.verify(deployment)

    def release(self, deployment: Deployment) -> None:  # noqa: B027  most have nothing outside of the host
        """Take away what a deployment put where its workspace does not reach, before that is undone; idempotent."""

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill or disconnect the switch, and bring it back as it was configured; the other sides of its ports live on.

        Called in the main thread while frames flow. It returns when the switch is configured again.

        Raises:
            UnsupportedError: this data plane has no reset, which is so unless its class says how.
            DeployError, SwitchDiedError: it did not come back.
        """
        raise UnsupportedError(
            f"there is no reset of {self.kind}",
            where=f"variant {deployment.variant}",
            observed="its adapter does not say what one is",
            fix="leave the test reset out of experiments with this variant; docs/method.md says which have none",
        )

    def chain(self, deployment: Deployment) -> ChainControl:
        """Open the path for the order of its VNFs; the order is fixed unless a data plane's class can change it."""
        return FixedChain(
            f"{self.kind} joins the ports of VNFs once, when it is deployed; nfvbed steers Open vSwitch alone",
            f"variant {deployment.variant}",
            "a variant on Open vSwitch, such as ovs-dpdk",
        )

    def own_ends(self, deployment: Deployment) -> Mapping[OwnKind, OwnEndsMaker]:
        """Return what puts two ports of the switch's own in the place of the generator's, for a block, by their kind.

        Empty where the data plane has none; sockets are then on the generator's ports.
        """
        return {}

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Open the switch's table of entries.

        Raises:
            TableNotApplicable: it has none.
            UnsupportedError, DeployError: it cannot be filled here.
        """
        raise TableNotApplicable(f"{variant.name} has no table that entries can be put into")

    def learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Open the table of learnt addresses of a switch between two ports, with a monitoring port.

        Raises:
            TableNotApplicable: it learns none.
            DeployError: the monitoring port cannot be added.
        """
        if deployment.topology != PORT_TO_PORT:
            raise TableNotApplicable(
                "addresses are learnt between two ports of one switch; what is behind a VNF is seen with the VNF's"
                " (p2p)"
            )
        return self._learning_table(deployment, variant)

    def _learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Open the table for `learning_table`, between two ports."""
        raise TableNotApplicable(f"{variant.name} learns no addresses")

    def switch_reader(self, deployment: Deployment, duration_s: float) -> CounterReader | None:
        """Return a reader of the switch's own counters around a trial; None: it has only those of its ports."""
        return None

    def connections(self, deployment: Deployment) -> ConnectionTracker | None:
        """Open the switch's connection tracking; None where it tracks no connections."""
        return None

    @abstractmethod
    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the threads that forward packets now."""


class Ceiling(DataPlane):
    """What is measured on a variant's ports without its switch; it is deployed where the variant was probed."""

    def probe(self, variant: Variant) -> Fitness:
        """Return what is lacking; by default nothing beyond what the variant's ports need."""
        return Fitness()
