"""The balancer of multi-queue taps, after Han (Seoul National University, 2013): a process for each tap.

Its program in the kernel maps every packet that goes out by the tap to a queue; the process moves flows from loaded
queues to idle ones. What differs from the thesis is in `docs/howto/variant-linux-bridge.md`.
"""

import json
import time
from dataclasses import dataclass

from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.native import native_binary
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Record

PROGRAM = "nfvbed-balancer"
_MS_PER_S = 1_000
_PATIENCE_S = 5.0
_LOOK_S = 0.01
_ATTACHED = '{"attached": true}'


class BalancerTotals(Record):
    """What a balancer did until it ended."""

    periods: int
    moves: int
    """Flows that were moved, each as often as it was."""
    flows: int
    """Flows of the last period."""
    packets: int
    no_flow: int
    """Packets without an IP header, which went to the first queue."""
    no_entry: int
    """Packets of flows that the table had no room for; their queue is their hash's."""
    attached_again: int
    """How often something else had taken the tap's choice of queues."""
    mapper_ns: int
    """Time of all runs of the mapper; 0: it was not taken."""
    mapper_runs: int


@dataclass(frozen=True)
class TapBalancer:
    """The balancer of one tap, by name."""

    workspace: Workspace
    netns: str
    tap: str

    @property
    def name(self) -> str:
        """Name of its process in the workspace."""
        return f"balancer-{self.tap}"

    def start(self, queues: int, options: LinuxBridgeOptions, cores: tuple[int, ...], *, timed: bool = False) -> None:
        """Start it, and wait until the tap asks its program for each packet's queue.

        Args:
            timed: the kernel takes the time of each run of a program, on the whole host, as long as it lives.

        Raises:
            SwitchDiedError: it ended: the kernel refuses the program, or there is no such tap; with its words.
            DeployError: it does not come up in time.
            PrerequisiteError: it is not built.
        """
        argv = [str(native_binary(PROGRAM)), "--tap", self.tap, "--queues", str(queues)]
        argv += ["--period-ms", str(round(options.queue_balancer_period_s * _MS_PER_S))]
        argv += ["--threshold", str(options.queue_balancer_threshold_packets)]
        process = self.workspace.spawn(self.name, argv + (["--timed"] if timed else []), cores=cores, netns=self.netns)
        deadline = time.monotonic() + _PATIENCE_S
        while _ATTACHED not in process.log_tail():
            check_alive(process)
            if time.monotonic() > deadline:
                raise DeployError(
                    "the balancer does not come up", where=str(process.log), observed=process.log_tail() or "no output"
                )
            time.sleep(_LOOK_S)

    def check(self) -> None:
        """Check that it runs.

        Raises:
            SwitchDiedError: it does not; its tap's flows then stay where they are.
        """
        check_alive(self.workspace.process(self.name), f"{self.name} has ended: flows stay on their queues")

    def stop(self) -> BalancerTotals:
        """End it; the choice of queues is the kernel's again.

        Raises:
            DeployError: it did not say what it had done.
        """
        process = self.workspace.process(self.name)
        process.stop()
        try:
            told = json.loads(process.log_tail(1))
            return BalancerTotals.model_validate({key: told[key] for key in BalancerTotals.model_fields})
        except (ValueError, KeyError, TypeError) as failure:
            raise DeployError(
                "the balancer did not end in order", where=str(process.log), observed=process.log_tail() or "no output"
            ) from failure
