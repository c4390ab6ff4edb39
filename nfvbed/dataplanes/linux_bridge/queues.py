"""A multi-queue tap at a deployed bridge, with a sender at the bridge and a reader for each queue.

They stand for a host's sender and for a guest with a vCPU for each queue. The sender sends into the bridge as a
program on the host does; what it sent, and what each queue had in each interval, is counted by frames alone.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from nfvbed.dataplanes.linux_bridge.adapter import BridgeState
from nfvbed.dataplanes.linux_bridge.balancer import TapBalancer
from nfvbed.dataplanes.ports.link_state import LinkState
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import how_it_ended
from nfvbed.host.native import native_binary
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, Record

PROGRAM = "nfvbed-queue-ends"
MOST_FLOWS = 256
_TAP = "q0"
_MAC = "02:4e:46:56:03:01"
_MS_PER_S = 1_000
_PATIENCE_S = 15.0


class SentFlow(Record):
    """A UDP flow, told apart by its source port."""

    port: int
    rate_pps: int


class FlowCounts(SentFlow):
    """What became of a flow, in frames."""

    sent: int
    unsent: int
    """The sender was kept from its core for too long; they are never sent later."""
    received: int
    reordered: int
    """Taken after a later one of the flow."""
    queues: int
    """A bit for each queue that it came by."""

    @property
    def first_queue(self) -> int | None:
        """The lowest queue that it came by; None: nothing came."""
        return (self.queues & -self.queues).bit_length() - 1 if self.queues else None


class QueueCounts(Record):
    """What the ends of a tap counted."""

    flows: tuple[FlowCounts, ...]
    interval_ms: int
    intervals: tuple[tuple[int, ...], ...]
    """Frames of each queue in each interval, in order."""


@dataclass(frozen=True)
class QueueLoad:
    """What is sent, for how long, and how it is taken."""

    flows: Sequence[SentFlow]
    duration_s: float
    interval_s: float = 0.2
    service_pps: int | None = None
    """Frames a second that the reader of each queue takes at most; None: as many as it can."""


@dataclass(frozen=True)
class MultiQueueTap:
    """A tap of several queues at the first bridge of a deployment; there is one at a time."""

    workspace: Workspace
    deployment: Deployment
    queues: int
    cores: tuple[int, ...]
    """Cores of the sender, the readers and the balancer."""
    netns: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "netns", LinkState.of(self.deployment).switch_netns)

    @contextlib.contextmanager
    def made(self) -> Iterator[None]:
        """Have the tap as a port of the bridge for a block."""
        bridge = BridgeState.of(self.deployment).bridge[0]
        inside(self.netns, lambda: links.add_tap(_TAP, self.queues))
        try:
            inside(self.netns, lambda: links.add_bridge_port(bridge, _TAP, _MAC))
            yield
        finally:
            inside(self.netns, lambda: links.remove([_TAP]))

    @property
    def balancer(self) -> TapBalancer:
        """Its balancer, which need not run."""
        return TapBalancer(self.workspace, self.netns, _TAP)

    def send(self, load: QueueLoad) -> QueueCounts:
        """Send flows, and count them at the queues.

        Raises:
            DeployError: sender or readers failed, with their words.
            PrerequisiteError: the program is not built.
        """
        bridge = BridgeState.of(self.deployment).bridge[0]
        argv = [str(native_binary(PROGRAM)), "--tap", _TAP, "--queues", str(self.queues), "--link", bridge]
        argv += ["--mac", _MAC, "--duration-ms", str(round(load.duration_s * _MS_PER_S))]
        argv += ["--interval-ms", str(round(load.interval_s * _MS_PER_S))]
        argv += ["--serve", str(load.service_pps)] if load.service_pps else []
        for flow in load.flows:
            argv += ["--flow", f"{flow.port}:{flow.rate_pps}"]
        process = self.workspace.spawn("queue-ends", argv, cores=self.cores, netns=self.netns)
        status = process.wait(load.duration_s + _PATIENCE_S)
        if status is None:
            process.kill()
        try:
            return QueueCounts.model_validate_json(process.log_tail(1))
        except ValidationError as failure:
            raise DeployError(
                "flows to the queues of a tap were not counted", where=str(process.log), observed=how_it_ended(process)
            ) from failure
