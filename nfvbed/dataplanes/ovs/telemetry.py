"""Open vSwitch's own counters around a trial: poll-mode threads and receive queues, over its control socket."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from nfvbed.dataplanes.ovs import pmd, rxq, unixctl
from nfvbed.dataplanes.ovs.pmd import PmdPerformance, PmdStatistics
from nfvbed.dataplanes.ovs.rxq import QueueLoads
from nfvbed.results import MeasuredRow, Quantity

_Reading = TypeVar("_Reading", PmdStatistics, PmdPerformance)
_HITS = ("simple_match_hits", "emc_hits", "smc_hits", "megaflow_hits", "upcalls", "failed_upcalls")


class OvsReader:
    """Reads a switch's threads before and after a trial, and its queues' loads after it.

    Args:
        socket: its control socket.
        duration_s: of the trial.
    """

    def __init__(self, socket: Path, duration_s: float) -> None:
        self._socket = socket
        self._duration_s = duration_s
        self._looks: list[tuple[dict[int, PmdStatistics], dict[int, PmdPerformance]]] = []
        self._loads = QueueLoads((), None)

    def start(self) -> None:
        """Read the threads."""
        self._looks = [self._look()]

    def stop(self) -> None:
        """Read the threads again, and the queues."""
        self._looks.append(self._look())
        # The last full interval but one lies within the trial, wherever the intervals begin.
        self._loads = rxq.read_loads(self._socket, int(self._duration_s) - rxq.INTERVAL_S)

    def rows(self) -> tuple[MeasuredRow, ...]:
        """Return a row for each thread and each queue."""
        (statistics, performance), (after, later) = self._looks
        threads = [
            thread_row(_less(last, statistics.get(core)), _less(later[core], performance.get(core)))
            for core, last in after.items()
            if core in later
        ]
        return (*threads, *queue_rows(self._loads, self._duration_s))

    def _look(self) -> tuple[dict[int, PmdStatistics], dict[int, PmdPerformance]]:
        statistics = pmd.parse_statistics(unixctl.command(self._socket, "dpif-netdev/pmd-stats-show"))
        performance = pmd.parse_performance(unixctl.command(self._socket, "dpif-netdev/pmd-perf-show"))
        return {thread.core: thread for thread in statistics}, {thread.core: thread for thread in performance}


def thread_row(statistics: PmdStatistics, performance: PmdPerformance) -> MeasuredRow:
    """Say what a poll-mode thread did between two readings."""
    cycles = statistics.busy_cycles + statistics.idle_cycles
    quantities = (
        Quantity(name="busy", value=100 * statistics.busy_cycles / cycles if cycles else None, unit="%"),
        Quantity(
            name="cycles",
            value=statistics.busy_cycles / statistics.packets if statistics.packets else None,
            unit="cycles/packet",
        ),
    )
    counted: Mapping[str, int] = asdict(statistics)
    parameters: dict[str, str | int | float] = {
        "core": statistics.core,
        "numa": statistics.numa,
        "packets": statistics.packets,
        "busy_cycles": statistics.busy_cycles,
        "idle_cycles": statistics.idle_cycles,
        "iterations": performance.iterations,
        "busy_iterations": performance.busy_iterations,
        "rx_packets": performance.rx_packets,
        "tx_batches": performance.tx_batches,
        **{name: counted[name] for name in _HITS},
        "source": pmd.SOURCE,
    }
    return MeasuredRow(label=f"PMD thread on core {statistics.core}", parameters=parameters, quantities=quantities)


def queue_rows(loads: QueueLoads, duration_s: float) -> tuple[MeasuredRow, ...]:
    """Say what load each receive queue was; the switch adds up in intervals, which may begin before a short trial."""
    window = loads.window_s
    known = window is not None and duration_s >= window + rxq.INTERVAL_S
    why = "" if known else "the switch's intervals reach back to before the trial: one of 10 s holds a whole one"
    return tuple(
        MeasuredRow(
            label=f"queue {queue.queue} of {queue.port} on core {queue.core}",
            parameters={
                "core": queue.core,
                "port": queue.port,
                "queue": queue.queue,
                "enabled": str(queue.enabled).lower(),
                "window_s": "unknown" if window is None else window,
                "source": rxq.COMMAND,
            },
            quantities=(Quantity(name="busy", value=queue.usage_percent, unit="%"),),
            reason=why if queue.usage_percent is not None else "the switch does not know it yet",
        )
        for queue in loads.queues
    )


def _less(last: _Reading, first: _Reading | None) -> _Reading:
    """Subtract two readings of a thread; what tells where it is stays."""
    if first is None:
        return last
    before = asdict(first)
    return type(last)(
        **{name: value if name in ("core", "numa") else value - before[name] for name, value in asdict(last).items()}
    )
