"""Executes the tests of a port's queues: how evenly flows are spread over those of a multi-queue tap."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median

from nfvbed.dataplanes.linux_bridge.balancer import BalancerTotals
from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.dataplanes.linux_bridge.queues import (
    MOST_FLOWS,
    FlowCounts,
    MultiQueueTap,
    QueueCounts,
    QueueLoad,
    SentFlow,
)
from nfvbed.errors import DeployError
from nfvbed.records import Status
from nfvbed.records.results import MeasuredRow, Quantity, Series, TablePayload
from nfvbed.run.kinds.celltest import CellTest, Outcome
from nfvbed.sites.hosted import require_host
from nfvbed.spec.testkinds.queues import QueueBalanceTest
from nfvbed.spec.variant import options_of

_FIRST_PORT, _LAST_PORT = 1_024, 65_535
_PROBED_PORTS = range(20_000, 20_000 + MOST_FLOWS)
_PROBE = (50, 0.2)
"""Frames/s of each flow, and for how long, to see which queue the kernel's hash puts it on."""
_PROBES, _ENOUGH = 5, 8
"""Tries at most, until so many times the wanted flows are known."""
_NOTES = (
    "Imbalance: frames of the busiest queue over the mean of all queues, the median of the intervals, with the least"
    " and the greatest; 1 is even. Least possible: no spread of whole flows is below it.",
    "UDP of constant rates, sent into the bridge by the host, in place of netperf's TCP; a reader for each queue in"
    " place of a guest's vCPU. Nothing here is a throughput: that takes a core for each queue.",
    "The balancer knows a queue's load as its packets of a period: the backlog, which the thesis takes, cannot be read"
    " of a tap.",
)


def queue_balance(cell_test: CellTest, spec: QueueBalanceTest) -> Outcome[TablePayload]:
    """Send flows to a tap of each number of queues, by the kernel's hash or through the balancer, as the variant says.

    Raises:
        DeployError: sender, readers or balancer failed.
        UnsupportedError: the site is no host.
    """
    setup = cell_test.setup
    if not setup.variant.options.takes_queued_taps:
        reason = "a tap of several queues can be a port of the kernel's bridge alone, which this variant is not"
        return Outcome(None, Status.NOT_APPLICABLE, reason)
    if setup.deployment.topology != "p2p":
        return Outcome(None, Status.NOT_APPLICABLE, "the tap is a port of the one bridge between two ports: p2p")
    host = require_host(setup.site, setup.deployment, "a tap's queues")
    cores = tuple({*host.arrangement.switch_cores, host.arrangement.generator_core})
    options = options_of(setup.variant, LinuxBridgeOptions)
    drawing = random.Random(f"{cell_test.plan.experiment.name} {cell_test.unit.round}")
    rows, series = [], []
    for queues, colliding in product(spec.queues, spec.colliding):
        tap = MultiQueueTap(host.workspace, setup.deployment, queues, cores)
        with tap.made():
            ports = _ports(tap, spec, colliding, drawing)
            measured = _Measured(spec, queues, colliding, *_measure(tap, options, spec, ports))
        rows.append(measured.row())
        series.append(measured.series())
    return Outcome(TablePayload(rows=tuple(rows), notes=_NOTES, series=tuple(series)))


def _measure(
    tap: MultiQueueTap, options: LinuxBridgeOptions, spec: QueueBalanceTest, ports: Sequence[int]
) -> tuple[QueueCounts, BalancerTotals | None]:
    flows = [SentFlow(port=port, rate_pps=rate) for port, rate in zip(ports, rates(spec), strict=True)]
    load = QueueLoad(flows, spec.duration_s, spec.interval_s, spec.service_pps)
    if not options.queue_balancer:
        return tap.send(load), None
    tap.balancer.start(tap.queues, options, tap.cores, timed=True)
    try:
        counts = tap.send(load)
    finally:
        totals = tap.balancer.stop()
    return counts, totals


def rates(spec: QueueBalanceTest) -> list[int]:
    """Return the rate of each flow, frames/s, the largest first."""
    parts = [1 / place if spec.volumes == "skewed" else 1.0 for place in range(1, spec.flows + 1)]
    return [max(1, round(spec.load_pps * part / sum(parts))) for part in parts]


def _ports(tap: MultiQueueTap, spec: QueueBalanceTest, colliding: bool, drawing: random.Random) -> Sequence[int]:
    if not colliding:
        return drawing.sample(range(_FIRST_PORT, _LAST_PORT + 1), spec.flows)
    rate_pps, duration_s = _PROBE
    probe = QueueLoad([SentFlow(port=port, rate_pps=rate_pps) for port in _PROBED_PORTS], duration_s)
    return probed_ports(lambda: tap.send(probe).flows, spec.flows)


def probed_ports(send: Callable[[], Iterable[FlowCounts]], flows: int) -> list[int]:
    """Return ports whose flows collide, by what came of all that were sent; on a busy host by several tries.

    Raises:
        DeployError: fewer flows came to a queue than are wanted.
    """
    seen: dict[int, FlowCounts] = {}
    for _ in range(_PROBES):
        seen |= {flow.port: flow for flow in send() if flow.first_queue is not None}
        if len(seen) >= min(len(_PROBED_PORTS), _ENOUGH * flows):
            break
    if len(seen) < flows:
        raise DeployError(
            "too few flows came to the tap's queues to choose those that collide",
            observed=f"{len(seen)} of {len(_PROBED_PORTS)}, {flows} are wanted",
            fix="see what else runs on the host: readers and sender share its cores",
        )
    return colliding_ports(seen.values(), flows)


def colliding_ports(probed: Iterable[FlowCounts], flows: int) -> list[int]:
    """Return ports whose flows are on as few queues as possible: those of the fullest queue first."""
    seen = [(flow.first_queue, flow.port) for flow in probed if flow.first_queue is not None]
    sizes = Counter(queue for queue, _ in seen)
    return [port for _, port in sorted(seen, key=lambda one: (-sizes[one[0]], one[0], one[1]))][:flows]


def imbalance(interval: Sequence[int]) -> float | None:
    """Return the frames of the busiest queue over the mean; None: there were none."""
    total = sum(interval)
    return max(interval) * len(interval) / total if total else None


def least_imbalance(volumes: Sequence[int], queues: int) -> float:
    """Return a bound that no assignment of whole flows is below, by the mean and by the largest flows.

    Some queue has the largest flow, and where there are more flows than queues two of the first queues + 1.
    """
    ordered = sorted(volumes, reverse=True)
    pair = ordered[queues - 1] + ordered[queues] if len(ordered) > queues else 0
    return max(1.0, max(ordered[0], pair) * queues / sum(ordered))


@dataclass(frozen=True)
class _Measured:
    """One number of queues with one choice of flows."""

    spec: QueueBalanceTest
    queues: int
    colliding: bool
    counts: QueueCounts
    totals: BalancerTotals | None
    """None: there was no balancer."""

    @property
    def label(self) -> str:
        """Label of its row."""
        drawn = "colliding flows" if self.colliding else "flows"
        return f"{self.queues} queues, {self.spec.flows} {self.spec.volumes} {drawn}"

    def row(self) -> MeasuredRow:
        """Return its quantities."""
        return MeasuredRow(
            label=self.label,
            parameters={
                "queues": self.queues,
                "flows": self.spec.flows,
                "volumes": self.spec.volumes,
                "colliding": "yes" if self.colliding else "no",
            },
            quantities=tuple(self._quantities()),
        )

    def series(self) -> Series:
        """Return the imbalance over time."""
        return Series(
            label=self.label,
            name="imbalance",
            unit="",
            step_s=self.spec.interval_s,
            values=tuple(imbalance(interval) for interval in self.counts.intervals),
        )

    def _quantities(self) -> Iterator[Quantity]:
        flows = self.counts.flows
        found = [seen for seen in map(imbalance, self.counts.intervals) if seen is not None]
        used = [sum(frames > 0 for frames in interval) for interval in self.counts.intervals if any(interval)]
        yield _spread("imbalance", found)
        yield _only("least possible", least_imbalance([flow.rate_pps for flow in flows], self.queues))
        yield _spread("queues used", used)
        yield _only("out of order", sum(flow.reordered for flow in flows), "frames")
        yield _only("lost", sum(flow.sent - flow.received for flow in flows), "frames")
        yield _only("received", sum(flow.received for flow in flows), "frames")
        if self.totals is not None:
            yield _only("moves", self.totals.moves)
            runs = self.totals.mapper_runs
            yield _only("mapper", self.totals.mapper_ns / runs if runs else None, "ns")


def _spread(name: str, values: Sequence[float]) -> Quantity:
    if not values:
        return _only(name, None)
    return Quantity(name=name, value=median(values), unit="", low=min(values), high=max(values))


def _only(name: str, value: float | None, unit: str = "") -> Quantity:
    return Quantity(name=name, value=value, unit=unit)
