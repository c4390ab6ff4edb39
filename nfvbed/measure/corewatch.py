"""Watches the cores that do the work: whether their clock changed, and whether heat slowed them."""

from collections.abc import Mapping, Sequence

from nfvbed.host.cores.clocks import CoreReader, CoreReading
from nfvbed.records import QualityWarning, Role, WorkThread

CLOCK_CHANGE = 0.03
"""Part of its clock by which a core's may differ; more than one step of 100 MHz at 3.4 GHz."""


class CoreWatch:
    """Watches the cores of one deployment, around each trial and from one to the next.

    Where a core counts its cycles, its clock in a trial is their mean rate, and it is compared with the trial before.
    Where the clock can only be read, it is read before and after; before it counts only on the cores of pollers, as the
    others are idle then. What this host cannot tell raises no warning: the host's facts say so once.
    """

    def __init__(self, reader: CoreReader | None = None) -> None:
        self._reader = reader or CoreReader()
        self._last: dict[int, float] = {}
        self._before: dict[int, CoreReading] = {}
        self._polled: set[int] = set()

    def begin(self, threads: Sequence[WorkThread]) -> None:
        """Read the cores of these threads, right before a trial."""
        cores = {thread.core for thread in threads if thread.core is not None}
        # The generator polls too, but sleeps between trials.
        polled = (thread for thread in threads if thread.polling and thread.role is not Role.GENERATOR)
        self._polled = {thread.core for thread in polled if thread.core is not None}
        self._before = self._reader.read(cores)

    def end(self) -> tuple[QualityWarning, ...]:
        """Read them again, right after it, and name what changed."""
        before, after = self._before, self._reader.read(self._before)
        clocks = {core: clock for core in after if (clock := clock_in_trial(before[core], after[core])) is not None}
        at_start = {
            core: float(hz)
            for core, reading in before.items()
            if core in self._polled and reading.aperf is None and (hz := reading.hz) is not None
        }
        changed = is_changed(self._last, clocks) or is_changed(at_start, clocks)
        self._last |= clocks
        throttled = any(is_throttled(before[core], reading) for core, reading in after.items())
        found = ((changed, QualityWarning.FREQUENCY_CHANGED), (throttled, QualityWarning.THERMAL_THROTTLING))
        return tuple(kind for is_so, kind in found if is_so)


def clock_in_trial(before: CoreReading, after: CoreReading) -> float | None:
    """Return a core's clock: its mean by its counters, as a part of its constant clock; else as read last, in Hz.

    Returns:
        None where this host does not tell it, or where the core was idle all the time.
    """
    readings = before.aperf, before.mperf, after.aperf, after.mperf
    if None not in readings:
        actual, constant = (after.aperf or 0) - (before.aperf or 0), (after.mperf or 0) - (before.mperf or 0)
        return actual / constant if actual > 0 and constant > 0 else None
    return None if after.hz is None else float(after.hz)


def is_changed(reference: Mapping[int, float], clocks: Mapping[int, float]) -> bool:
    """Return whether a core's clock differs from what it was."""
    both = reference.keys() & clocks.keys()
    return any(abs(clocks[core] / reference[core] - 1) > CLOCK_CHANGE for core in both if reference[core])


def is_throttled(before: CoreReading, after: CoreReading) -> bool:
    """Return whether heat slowed a core between two readings."""
    return before.throttled is not None and after.throttled is not None and after.throttled > before.throttled
