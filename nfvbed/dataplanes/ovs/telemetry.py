"""Open vSwitch's own counters around a trial: poll-mode threads and receive queues, over its control socket."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from nfvbed.dataplanes.ovs import pmd, rxq
from nfvbed.dataplanes.ovs.pmd import PmdPerformance, PmdStatistics
from nfvbed.dataplanes.ovs.rxq import QueueLoads
from nfvbed.records.results import MeasuredRow, Quantity

_HITS = ("simple_match_hits", "emc_hits", "smc_hits", "megaflow_hits", "upcalls", "failed_upcalls")


class OvsReader:
    """Reads a switch's threads before and after a trial, and its queues' loads after it.

    Args:
        socket: the switch's control socket.
        duration_s: of the trial, in s; it sets over how long the queues' loads are read.
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
            thread_row(
                last.since(statistics[core]) if core in statistics else last,
                later[core].since(performance[core]) if core in performance else later[core],
            )
            for core, last in after.items()
            if core in later
        ]
        return (*threads, *queue_rows(self._loads, self._duration_s))

    def _look(self) -> tuple[dict[int, PmdStatistics], dict[int, PmdPerformance]]:
        statistics, performance = pmd.read_statistics(self._socket), pmd.read_performance(self._socket)
        return {thread.core: thread for thread in statistics}, {thread.core: thread for thread in performance}


def thread_row(statistics: PmdStatistics, performance: PmdPerformance) -> MeasuredRow:
    """Return what a poll-mode thread did between two readings."""
    busy, rounding = statistics.busy_cycles, statistics.rounding_cycles
    cycles = busy + statistics.idle_cycles
    quantities = (
        _of_busy("busy", "%", busy, rounding, cycles / 100),
        _of_busy("cycles", "cycles/packet", busy, rounding, statistics.packets),
    )
    counted: Mapping[str, int] = asdict(statistics)
    parameters: dict[str, str | int | float] = {
        "core": statistics.core,
        "numa": statistics.numa,
        "packets": statistics.packets,
        "busy_cycles": busy,
        "idle_cycles": statistics.idle_cycles,
        "iterations": performance.iterations,
        "busy_iterations": performance.busy_iterations,
        "rx_packets": performance.rx_packets,
        "tx_batches": performance.tx_batches,
        **{name: counted[name] for name in _HITS},
        "source": pmd.source_of((statistics,)),
    }
    if rounding is not None:
        parameters["rounding_cycles"] = rounding
    return MeasuredRow(label=f"PMD thread on core {statistics.core}", parameters=parameters, quantities=quantities)


def _of_busy(name: str, unit: str, busy: int, rounding: int | None, shared_over: float) -> Quantity:
    """Return busy cycles per something, with the uncertainty of the switch's rounding."""
    if not shared_over:
        return Quantity(name=name, value=None, unit=unit)
    value = busy / shared_over
    if rounding is None:
        return Quantity(name=name, value=value, unit=unit)
    open_by = rounding / shared_over
    return Quantity(name=name, value=value, unit=unit, low=max(0.0, value - open_by), high=value + open_by)


def queue_rows(loads: QueueLoads, duration_s: float) -> tuple[MeasuredRow, ...]:
    """Return the load of each receive queue; the switch's intervals may begin before a short trial."""
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
                "enabled": "unknown" if queue.enabled is None else str(queue.enabled).lower(),
                "window_s": "unknown" if window is None else window,
                "source": rxq.COMMAND,
            },
            quantities=(Quantity(name="busy", value=queue.usage_percent, unit="%"),),
            reason=why if queue.usage_percent is not None else "the switch does not know it yet",
        )
        for queue in loads.queues
    )
