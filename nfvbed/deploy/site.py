"""The interface of a site: where data planes are deployed. The lab is one; clouds are others."""

from abc import ABC, abstractmethod
from typing import Any

from nfvbed.records import CellRole, Deployment, Hop, PortKind, Support, SwitchCounters, WorkThread
from nfvbed.spec.variant import Variant
from nfvbed.traffic.generator import Generator


class Site(ABC):
    """A place that can run variants. All verbs but `deploy`, `open_generator` and `destroy` change nothing."""

    name: str

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Give the host's description; its hash is the host hash."""

    @abstractmethod
    def rig(self, port_kind: PortKind) -> dict[str, Any]:
        """Give what surrounds the variant: site, core arrangement, generator engine and version.

        Its hash is the rig hash.
        """

    @abstractmethod
    def probe(self, variant: Variant) -> Support:
        """Find out whether this host can run the variant, and why not."""

    @abstractmethod
    def deploy(self, variant: Variant, topology: str, role: CellRole = CellRole.SUBJECT) -> Deployment:
        """Set up a variant, or with another role the ceiling that belongs to its port kind.

        Raises:
            UnsupportedError, PrerequisiteError, DeployError: nothing is left behind then.
        """

    @abstractmethod
    def open_generator(self, deployment: Deployment) -> Generator:
        """Start the generator on the deployment's ports, pinned as the arrangement says."""

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
    def core_distance_ns(self, deployment: Deployment) -> float | None:
        """Measure the one-way cache-line time between the switch's and the generator's core; None on one core."""

    @abstractmethod
    def destroy(self, deployment: Deployment) -> None:
        """Take the deployment down completely; idempotent."""
