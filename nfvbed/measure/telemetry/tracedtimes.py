"""From traced events to times: of threads on their cores, and of softirqs by kind and by the thread they ran in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from nfvbed.measure.telemetry.tracing import Kind, TraceEvent

_Key = TypeVar("_Key", int, str)
VECTORS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")
"""By number (include/linux/interrupt.h)."""
NETWORK = frozenset({"NET_TX", "NET_RX"})


@dataclass
class CoreTimes:
    """The traced times of one core."""

    by_vector: dict[str, int] = field(default_factory=dict)
    """ns in softirqs by name of the vector, whatever they interrupted."""
    softirq_by_thread: dict[int, int] = field(default_factory=dict)
    """ns in softirqs in the time of a thread; 0: while the core was idle."""
    on_core: dict[int, int] = field(default_factory=dict)
    """ns for which a thread was on the core, softirqs among them."""
    softirqs: int = 0
    switches: int = 0

    @property
    def network_ns(self) -> int:
        """The time in softirqs of packets."""
        return sum(ns for name, ns in self.by_vector.items() if name in NETWORK)


@dataclass(frozen=True)
class TracedTimes:
    """What was traced in one window, by core."""

    cores: dict[int, CoreTimes]
    window_ns: int
    lost: int = 0
    """Events that were not recorded; other than 0, no time is right."""

    def softirq_in_thread(self, tid: int) -> int:
        """Return the softirq time that ran in the time of a thread, on any traced core."""
        return sum(core.softirq_by_thread.get(tid, 0) for core in self.cores.values())

    def of_thread(self, tid: int) -> int:
        """Return the time for which a thread was on a traced core."""
        return sum(core.on_core.get(tid, 0) for core in self.cores.values())

    def network_ns(self, cores: frozenset[int]) -> int:
        """Return the softirq time of packets on some cores."""
        return sum(times.network_ns for core, times in self.cores.items() if core in cores)


def traced_times(events: Mapping[int, Iterable[TraceEvent]], window: tuple[int, int], lost: int = 0) -> TracedTimes:
    """Return the sums of all events; what had begun before the window, or had not ended in it, is cut there.

    Args:
        events: those of each core, in order.
        window: when tracing began and ended, ns of the monotonic clock.
        lost: events that were not recorded.
    """
    cores = {core: _core_times(found, window) for core, found in events.items()}
    return TracedTimes(cores, window[1] - window[0], lost)


def _core_times(events: Iterable[TraceEvent], window: tuple[int, int]) -> CoreTimes:
    found = CoreTimes()
    on_core: int | None = None
    since = window[0]
    # On one core softirqs do not interrupt each other: an end belongs to the begin before it.
    begun: tuple[int, int, int] | None = None
    for time_ns, kind, value, tid in events:
        if on_core is None:
            on_core = tid
            begun = (window[0], value, tid) if kind is Kind.END else None
        if kind is Kind.SWITCH:
            _add(found.on_core, tid, time_ns - since)
            on_core, since = value, time_ns
            found.switches += 1
        elif kind is Kind.BEGIN:
            begun = (time_ns, value, tid)
        elif begun is not None:
            _end(found, begun, time_ns)
            begun = None
    if begun is not None:
        _end(found, begun, window[1])
    if on_core is not None:
        _add(found.on_core, on_core, window[1] - since)
    return found


def _end(found: CoreTimes, begun: tuple[int, int, int], time_ns: int) -> None:
    since, vector, tid = begun
    name = VECTORS[vector] if vector < len(VECTORS) else f"vector {vector}"
    _add(found.by_vector, name, time_ns - since)
    _add(found.softirq_by_thread, tid, time_ns - since)
    found.softirqs += 1


def _add(times: dict[_Key, int], key: _Key, spent_ns: int) -> None:
    times[key] = times.get(key, 0) + max(0, spent_ns)
