"""The interface of a VNF's driver: one for each kind and way of forwarding, found in `catalogue.py`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.dataplanes.reader import CounterReader
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, Hop, VnfHandle, VnfPort, WorkThread
from nfvbed.spec.bearers import BearerTable
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.numa import GuestPlacement

SOURCE = "source"
SINK = "sink"


@dataclass(frozen=True)
class VnfHost:
    """The host that VNFs of a deployment are started on."""

    workspace: Workspace
    arrangement: Arrangement
    root: Path
    """Folder of the project."""


@dataclass(frozen=True)
class VnfSeat:
    """A VNF's seat: all that a driver needs to start it."""

    index: int
    """Place in the path, from 0; its name is `vnf<index + 1>`."""
    choice: VnfChoice
    does: str
    """What it is to do with frames: the choice's forwarding, or `source` or `sink` where it is an end of the path."""
    ports: tuple[VnfPort, ...]
    workspace: Workspace
    cores: tuple[int, ...]
    """Where its data-plane threads run."""
    control_cores: tuple[int, ...]
    """Where everything else of it runs."""
    shares_core: bool
    """One of its cores is also the generator's or another VNF's: what polls there must yield."""
    root: Path
    """Folder of the project."""
    frame_size: int = 64
    """What a source sends, in bytes, FCS included."""
    beyond: tuple[str, str] = ("", "")
    """The MAC addresses that port 0 and port 1 lead to: the next VNF's port's, or the generator's."""
    guest: GuestPlacement | None = None
    """Who of a virtual machine runs where, as its flavor wants it; None for every other kind."""

    @property
    def name(self) -> str:
        """Unique in the deployment."""
        return f"vnf{self.index + 1}"


class VnfDriver(ABC):
    """Runs one kind of VNF. What it makes on the host is made through the seat's workspace.

    It holds no state but caches: a handle tells another process all that it needs.
    """

    @abstractmethod
    def probe(self, choice: VnfChoice) -> Fitness:
        """Probe, by trying, how this host can run the VNF.

        Raises:
            UnsupportedError, PrerequisiteError, OnboardError: it cannot.
        """

    def require_files(self, choice: VnfChoice, root: Path) -> None:
        """Check that the VNF's files are there, without asking anything of the host; most VNFs have none.

        Raises:
            PrerequisiteError: one is not there.
            OnboardError: one is not what it should be.
        """
        return

    @abstractmethod
    def start(self, seat: VnfSeat) -> VnfHandle:
        """Start the VNF, whose ports' other ends are deployed already; it need not forward yet.

        Raises:
            OnboardError, PrerequisiteError, UnsupportedError: the caller then undoes the workspace.
        """

    @abstractmethod
    def ready(self, seat: VnfSeat, handle: VnfHandle) -> VnfHandle:
        """Wait until the VNF reports that it forwards; return the handle with its threads, versions and steps.

        Raises:
            OnboardError: it did not within its readiness time-out; the message holds the last lines of its log.
            VnfDiedError: it ended.
        """

    def carry(self, seat: VnfSeat, handle: VnfHandle, deployment: Deployment) -> bool:
        """Prove that the VNF forwards, if plain frames of the generator cannot; return whether that was needed.

        The generator is not open then.

        Args:
            handle: handle of a VNF that is ready.
            deployment: a deployment with the outside ports for the frames.

        Raises:
            OnboardError: frames do not come through within its readiness time-out.
        """
        return False

    def bearers(self, handle: VnfHandle) -> BearerTable | None:
        """Return the bearers of frames through the VNF; None: it takes plain frames."""
        return None

    @abstractmethod
    def verify(self, handle: VnfHandle) -> None:
        """Check that the VNF lives.

        Raises:
            VnfDiedError: with its exit status and its last lines.
        """

    @abstractmethod
    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """Return the cumulative counters of the VNF's ports, in the order of the path."""

    @abstractmethod
    def threads(self, handle: VnfHandle) -> Sequence[WorkThread]:
        """Return the threads that do its packet work now, in the role `vnf`."""

    def reader(self, handle: VnfHandle) -> CounterReader | None:
        """Return the reader of its own counters around a trial; None: it has only its ports'."""
        return None

    @abstractmethod
    def stop(self, handle: VnfHandle) -> None:
        """End the VNF in an orderly way; idempotent."""

    def end(self, handle: VnfHandle) -> None:
        """End the VNF with the whole deployment: its ports go too, and nothing starts on them again. Idempotent."""
        self.stop(handle)
