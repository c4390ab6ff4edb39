"""From traced events to the time that softirqs took: by core, by kind, and by the thread in whose time they ran."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nfvbed.measure.telemetry.tracing import SoftirqEvent, Trace

VECTORS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")
"""By number (include/linux/interrupt.h)."""
NETWORK = frozenset({"NET_TX", "NET_RX"})


@dataclass
class CoreSoftirq:
    """What one core spent in softirqs."""

    by_vector: dict[str, int] = field(default_factory=dict)
    """ns by name of the vector, whatever they interrupted."""
    by_thread: dict[int, int] = field(default_factory=dict)
    """ns in the time of a thread; 0: while the core was idle."""
    count: int = 0

    @property
    def network_ns(self) -> int:
        """That of packets."""
        return sum(ns for name, ns in self.by_vector.items() if name in NETWORK)

    @property
    def total_ns(self) -> int:
        """All of it."""
        return sum(self.by_vector.values())


@dataclass(frozen=True)
class SoftirqTimes:
    """What was traced in one window, by core."""

    cores: dict[int, CoreSoftirq]
    window_ns: int
    lost: int = 0
    """Events that were not recorded; other than 0, the times are too small."""

    def in_thread(self, tid: int) -> int:
        """Give the softirq time that ran in the time of a thread, on any traced core."""
        return sum(core.by_thread.get(tid, 0) for core in self.cores.values())


def softirq_times(trace: Trace, window: tuple[int, int]) -> SoftirqTimes:
    """Add the softirqs of every core up; one that had begun before the window, or had not ended in it, is cut there.

    Args:
        trace: what was traced.
        window: when tracing began and ended, ns of the monotonic clock.
    """
    cores = {core: _core_times(events, window) for core, events in trace.events.items()}
    return SoftirqTimes(cores, window[1] - window[0], trace.lost)


def _core_times(events: Sequence[SoftirqEvent], window: tuple[int, int]) -> CoreSoftirq:
    found = CoreSoftirq()
    for begun, end in _pairs(events, window):
        # On one core softirqs do not interrupt each other: an end belongs to the begin before it.
        name = VECTORS[begun.vector] if begun.vector < len(VECTORS) else f"vector {begun.vector}"
        spent = max(0, end - begun.time_ns)
        found.by_vector[name] = found.by_vector.get(name, 0) + spent
        found.by_thread[begun.tid] = found.by_thread.get(begun.tid, 0) + spent
        found.count += 1
    return found


def _pairs(events: Sequence[SoftirqEvent], window: tuple[int, int]) -> Iterable[tuple[SoftirqEvent, int]]:
    """Give every softirq with the time of its end."""
    open_: SoftirqEvent | None = None
    for place, event in enumerate(events):
        if event.begins:
            open_ = event
        elif open_ is not None:
            yield open_, event.time_ns
            open_ = None
        elif place == 0:
            yield SoftirqEvent(min(window[0], event.time_ns), True, event.vector, event.tid), event.time_ns
    if open_ is not None:
        yield open_, max(window[1], open_.time_ns)
