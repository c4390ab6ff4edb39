"""A private VPP in a workspace: its configuration, its process, and the way to its API."""

from collections.abc import Sequence
from pathlib import Path

from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.dataplanes.vpp.startup import API_SOCKET, CLI_SOCKET, FILE_NAME, STATISTICS_SOCKET, StartupSettings, render
from nfvbed.dataplanes.vpp.state import VppState
from nfvbed.host.ledger.entries import SharedMemoryEntry
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment

SWITCH = "vpp"


class VppInstance:
    """One VPP.

    Args:
        workspace: where it runs.
        program: found by `binaries.locate`.
    """

    def __init__(self, workspace: Workspace, program: Path) -> None:
        self._workspace = workspace
        self._program = program
        self._directory = workspace.directory

    @classmethod
    def of(cls, deployment: Deployment) -> "VppInstance":
        """Return the one that is deployed, from its record."""
        workspace = Workspace.attach(Path(deployment.run_directory))
        return cls(workspace, Path(VppState.of(deployment).program))

    @property
    def directory(self) -> Path:
        """Where its files are."""
        return self._directory

    def configure(self, settings: StartupSettings) -> None:
        """Write its configuration into the run directory, and into the ledger what it leaves when it is killed."""
        self._workspace.ledger.record(SharedMemoryEntry(prefix=f"{settings.prefix}-"))
        (self._directory / FILE_NAME).write_text(render(settings))

    def start(self, netns: str, cores: Sequence[int]) -> ManagedProcess:
        """Start it in the foreground, without the sockets that a killed one has left.

        Args:
            netns: path of the network namespace in which it finds network devices.
            cores: of its main thread and of its workers; it puts its threads onto them by itself.
        """
        for name in (API_SOCKET, CLI_SOCKET, STATISTICS_SOCKET):
            (self._directory / name).unlink(missing_ok=True)
        argv = [str(self._program), "-c", str(self._directory / FILE_NAME)]
        return self._workspace.spawn(SWITCH, argv, cores=cores, netns=netns)

    def connect(self) -> VppApi:
        """Connect to its API; waits until it listens."""
        return VppApi(self._directory / API_SOCKET, self.check)

    def check(self) -> None:
        """Make sure that it runs.

        Raises:
            SwitchDiedError: it has ended.
        """
        check_alive(self._workspace.process(SWITCH))
