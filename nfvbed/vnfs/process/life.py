"""The common life of VNFs that are processes: their workspace, reopened from a handle, and their end."""

from pathlib import Path

from nfvbed.errors import DeployError, OnboardError, VnfDiedError
from nfvbed.host.ledger.processes import ManagedProcess, how_it_ended
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import PortKind, VnfHandle, VnfPort
from nfvbed.records.state import VnfState
from nfvbed.vnfs.vnf import VnfSeat


class ProcessState(VnfState):
    """The record of a VNF that is a process."""

    run_directory: str
    """Where the process is recorded."""


class Processes:
    """Finds a VNF's process; of one that this nfvbed has started, the exit status is known."""

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def remember(self, workspace: Workspace) -> None:
        """Keep the workspace in which VNFs were started."""
        self._workspaces[str(workspace.directory)] = workspace

    def of(self, handle: VnfHandle) -> ManagedProcess:
        """Return a VNF's process.

        Raises:
            VnfDiedError: its run directory is gone, and it with that.
        """
        directory = ProcessState.of(handle).run_directory
        try:
            if directory not in self._workspaces:
                self._workspaces[directory] = Workspace.attach(Path(directory))
            return self._workspaces[directory].process(handle.name)
        except DeployError as failure:
            raise VnfDiedError(
                f"{handle.name} is gone", where=failure.where, observed=failure.observed, fix=failure.fix
            ) from failure


def check_alive(process: ManagedProcess) -> None:
    """Make sure that a VNF's process runs.

    Raises:
        VnfDiedError: it has ended; with its exit status and the last lines of its log.
    """
    if process.alive():
        return
    raise VnfDiedError(
        f"{process.name} has ended",
        where=f"pid {process.pid}, log {process.log}",
        observed=how_it_ended(process),
        fix="start it again (nfvbed run, or destroy and deploy); with the same end, see its log",
    )


def kernel_ports(seat: VnfSeat) -> tuple[str, tuple[str, ...]]:
    """Return the network namespace and the names of a VNF's network devices.

    Raises:
        OnboardError: its ports are no network devices, or lie in several namespaces.
    """
    spaces = {port.netns for port in seat.ports}
    kinds = {port.kind for port in seat.ports}
    netns = seat.ports[0].netns
    if len(spaces) != 1 or netns is None or not kinds <= {PortKind.VETH, PortKind.TAP, PortKind.MACVTAP, PortKind.VF}:
        raise OnboardError(
            f"{seat.name} forwards between network devices of one namespace",
            where=seat.does,
            observed=", ".join(f"{port.name}: {port.kind} {port.address} in {port.netns}" for port in seat.ports),
            fix="choose a variant with kernel ports (linux-bridge), or another forwarding",
        )
    return netns, tuple(port.address for port in seat.ports)


def port_title(handle_name: str, port: VnfPort) -> str:
    """Return the name of a VNF's port as a hop."""
    return f"{handle_name} port {port.port}"
