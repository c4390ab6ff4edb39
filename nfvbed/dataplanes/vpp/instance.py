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
        program: the program that `binaries.locate` found.
    """

    def __init__(self, workspace: Workspace, program: Path) -> None:
        self._workspace = workspace
        self._program = program
        self._directory = workspace.directory

    @classmethod
    def of(cls, deployment: Deployment) -> "VppInstance":
        """Return the deployed VPP, from its record."""
        workspace = Workspace.attach(Path(deployment.run_directory))
        return cls(workspace, Path(VppState.of(deployment).program))

    @property
    def directory(self) -> Path:
        """Its run directory."""
        return self._directory

    def configure(self, settings: StartupSettings) -> None:
        """Write its configuration into the run directory; the ledger records what a killed VPP leaves."""
        self._workspace.ledger.record(SharedMemoryEntry(prefix=f"{settings.prefix}-"))
        (self._directory / FILE_NAME).write_text(render(settings))

    def start(self, netns: str, cores: Sequence[int]) -> ManagedProcess:
        """Start VPP in the foreground, after removing the sockets that a killed one has left.

        Args:
            netns: path of the network namespace whose devices VPP can open.
            cores: cores of its main thread, then of its workers; VPP itself pins its threads to them.
        """
        for name in (API_SOCKET, CLI_SOCKET, STATISTICS_SOCKET):
            (self._directory / name).unlink(missing_ok=True)
        argv = [str(self._program), "-c", str(self._directory / FILE_NAME)]
        return self._workspace.spawn(SWITCH, argv, cores=cores, netns=netns)

    def connect(self) -> VppApi:
        """Connect to its API, waiting until it listens."""
        return VppApi(self._directory / API_SOCKET, self.check)

    def check(self) -> None:
        """Check that it runs.

        Raises:
            SwitchDiedError: it has ended.
        """
        check_alive(self._workspace.process(SWITCH))
