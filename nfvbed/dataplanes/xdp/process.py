"""The process that holds the programs: started, waited for, watched. When it ends they leave their ports."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nfvbed.dataplanes.xdp.client import XdpSwitchClient
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.native import native_binary
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Record

PROGRAM = "nfvbed-xdp-switch"
NAME = "xdp-switch"
"""Name of the process in its workspace."""
_PATIENCE_S = 5.0
_LOOK_S = 0.005
_LOG_LINES = 12
DIED = f"{NAME} has ended, and its programs have left the ports"


class XdpSwitchSpec(Record):
    """How a switch is started; kept with its deployment, so that it can be started again."""

    mode: Literal["native", "generic"]
    netns: str
    """Path of the namespace that its ports are in."""
    core: int
    """Core of its process; the programs run where the ports receive."""
    ports: tuple[str, ...]
    cables: tuple[tuple[str, str], ...]
    """By the ports' names; of several at one port each takes a share of the flows."""
    stations: tuple[str, str]
    """Addresses that task C's table holds: those of the generator's ports."""


@dataclass(frozen=True)
class XdpSwitch:
    """One switch in its workspace."""

    workspace: Workspace
    spec: XdpSwitchSpec

    @property
    def client(self) -> XdpSwitchClient:
        """A client of its socket."""
        return XdpSwitchClient(socket_of(self.workspace.directory))

    @property
    def process(self) -> ManagedProcess:
        """Its process: the last one that was started."""
        return self.workspace.process(NAME)

    def start(self) -> None:
        """Start it, and wait until its programs are attached.

        Raises:
            SwitchDiedError: it ended: the kernel refuses a program or a port; with its words.
            DeployError: it does not answer in time.
            PrerequisiteError: it is not built.
        """
        process = self.workspace.spawn(
            NAME, arguments(self.spec, self.workspace.directory), cores=(self.spec.core,), netns=self.spec.netns
        )
        deadline = time.monotonic() + _PATIENCE_S
        while not self.client.listens():
            check_alive(process, DIED)
            if time.monotonic() > deadline:
                raise DeployError(
                    "the XDP switch does not come up", where=str(process.log), observed=process.log_tail(_LOG_LINES)
                )
            time.sleep(_LOOK_S)


def socket_of(directory: Path) -> Path:
    """Return the switch's control socket."""
    return directory / f"{NAME}.sock"


def arguments(spec: XdpSwitchSpec, directory: Path) -> Sequence[str]:
    """Return the program and its arguments."""
    argv = [str(native_binary(PROGRAM)), "--socket", str(socket_of(directory))]
    argv += ["--generic"] if spec.mode == "generic" else []
    for port in spec.ports:
        argv += ["--port", port]
    for first, second in spec.cables:
        argv += ["--cable", f"{first}:{second}"]
    for station in spec.stations:
        argv += ["--station", station]
    return argv
