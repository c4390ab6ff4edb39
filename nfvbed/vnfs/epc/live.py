"""A deployment's mobile core, for tests that use its functions; afterwards it is as before."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nfvbed.errors import VnfDiedError
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, VnfHandle
from nfvbed.spec.bearers import BearerTable
from nfvbed.spec.layout import VEPC
from nfvbed.units import NS_PER_S
from nfvbed.vnfs.epc.carrying import BearerReport, Ends
from nfvbed.vnfs.epc.core import BESIDE, FUNCTIONS, Core, FunctionCores, Subscribers
from nfvbed.vnfs.epc.driver import GATEWAY, EpcState, attached, bearers_of, pcrf_of, require_alive, table_of
from nfvbed.vnfs.epc.network import EpcNamespaces
from nfvbed.vnfs.epc.reports import AttachReport

NEXTEPC = "nextepc"
"""The gateway whose bearers are its own: another one's table would have to be written for each attach."""


class LiveCore:
    """A mobile core whose functions are restarted, again and again."""

    def __init__(self, handle: VnfHandle, workspace: Workspace) -> None:
        self._handle = handle
        self._state = EpcState.of(handle)
        self._core = Core(workspace, handle.name, pcrf_of(handle))
        self._has_own_gateway = handle.facts.get(GATEWAY) != NEXTEPC

    def begin(self) -> float:
        """Restart all functions, so that their pools are full; return the time that took, s.

        Raises:
            OnboardError, VnfDiedError: one does not come up.
        """
        began = time.monotonic_ns()
        network = self._core.network()
        self._core.kill()
        others = self._state.others
        # Where nfvbed's own gateway has the VNF's core, no frame passes nextepc's.
        seats = FunctionCores(others if self._has_own_gateway else self._handle.cores, others)
        subscribers = Subscribers.all_known(self._core.most_attached, network)
        self._core.start(EpcNamespaces(self._state.spaces), seats, Path(self._state.root), subscribers)
        return (time.monotonic_ns() - began) / NS_PER_S

    def attach(self, number: int, in_flight: int = 1) -> AttachReport:
        """Attach so many UEs, in the subscribers' order.

        Raises:
            VnfDiedError: a function has ended, or the MME does not answer.
        """
        report = self._core.emulator.attach(self._imsis(number), in_flight)
        require_alive(self._core, report)
        return report

    def attached(self, number: int) -> BearerTable:
        """Attach so many UEs, in the subscribers' order, and return their bearers.

        Raises:
            OnboardError: one is refused.
            VnfDiedError: as `attach`.
        """
        return attached(self._core, number)

    def detach(self, number: int) -> AttachReport:
        """Detach so many UEs, in the subscribers' order.

        Raises:
            VnfDiedError: the eNB's association is gone.
        """
        return self._core.emulator.detach(self._imsis(number))

    def bearers(self) -> BearerTable:
        """Return the bearers of the UEs that are attached now."""
        return table_of(self._core)

    def freeze(self) -> None:
        """Stop the functions that no frame passes."""
        self._core.freeze(FUNCTIONS if self._has_own_gateway else BESIDE)

    def kill(self, function: str) -> None:
        """Kill one function, and wait until its end is noticed."""
        (pid,) = self._core.pids((function,))
        os.kill(pid, signal.SIGKILL)
        self._core.wait_for_end(function)

    def end(self) -> None:
        """End all functions: never is only half of them there; `nfvbed heal` starts them."""
        self._core.kill()

    def put_back(self) -> None:
        """Start all functions, and attach the UEs of the onboarding again, over the same bearers.

        Raises:
            OnboardError, VnfDiedError: it does not succeed.
        """
        table = bearers_of(self._handle)
        # Those beyond were written to nfvbed's own gateway, and are there still.
        number = len(table.bearers) - int(self._handle.facts.get("synthetic", 0))
        before = table.model_copy(update={"bearers": table.bearers[:number]})
        self.begin()
        found = self.attached(number)
        if found != before:
            raise VnfDiedError(
                f"{self._handle.name} has other bearers than before its functions were started again",
                observed=f"{sum(a != b for a, b in zip(found.bearers, before.bearers, strict=True))} of"
                f" {number} differ",
                fix="nfvbed offboard, then nfvbed onboard vepc",
            )
        self.freeze()

    def _imsis(self, number: int) -> list[str]:
        return [subscriber.imsi for subscriber in self._core.subscribers()[:number]]


def absence(deployment: Deployment) -> str:
    """Return why a deployment has no usable mobile core; empty where it has one."""
    if deployment.topology != VEPC or not deployment.vnfs:
        return f"topology {deployment.topology} has no mobile core; topology {VEPC} has"
    return ""


def absence_of_bearers(deployment: Deployment) -> str:
    """Return why single UEs' bearers cannot be tried from here; empty where they can."""
    gateway = str(deployment.vnfs[0].facts.get("gateway", ""))
    if gateway != NEXTEPC:
        return f"gateway {gateway} has the bearers that were there when it was onboarded, not those of each attach"
    others = [port for port in deployment.ports if not port.kind.is_kernel or port.netns is None]
    if others:
        kinds = ", ".join(f"{port.kind} {port.spec}" for port in others)
        return f"frames over single bearers are sent from kernel ports, and the generator's are {kinds}"
    return ""


@contextmanager
def at_work(deployment: Deployment, workspace: Workspace) -> Iterator[LiveCore]:
    """Give a deployment's mobile core to a test for the length of a block; then restore it.

    Where the block or the restoring fails, the functions are ended.

    Args:
        deployment: a deployment of topology vepc.
        workspace: workspace of processes that are started beside the deployment: the deployment's own, but for one that
            stays.

    Raises:
        OnboardError, VnfDiedError: it could not be put back.
    """
    handle = deployment.vnfs[0]
    directory = Path(EpcState.of(handle).run_directory)
    own = workspace if workspace.directory == directory else Workspace.attach(directory)
    core, whole = LiveCore(handle, own), False
    try:
        yield core
        core.put_back()
        whole = True
    finally:
        if not whole:
            core.end()


def carry_each(deployment: Deployment, table: BearerTable, frames: int) -> tuple[BearerReport, ...]:
    """Send so many frames each way over each bearer in turn; the generator must be closed.

    Raises:
        OnboardError: its ports are no kernel ports.
    """
    handle = deployment.vnfs[0]
    first, last = (port.mac for port in handle.ports)
    beyond, other = EpcState.of(handle).beyond
    ends = Ends(deployment.ports, ((beyond, other), (first, last)))
    singles = (table.model_copy(update={"bearers": (bearer,)}) for bearer in table.bearers)
    return tuple(ends.carry(single, frames) for single in singles)
