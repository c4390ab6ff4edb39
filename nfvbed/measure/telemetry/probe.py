"""The readings around one trial's traffic."""

import gzip
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from nfvbed.dataplanes.reader import CounterReader
from nfvbed.measure.telemetry.perf import PerfCounters
from nfvbed.measure.telemetry.threads import ThreadReading, ThreadUse, look, used
from nfvbed.measure.telemetry.tracedtimes import TracedTimes, traced_times
from nfvbed.measure.telemetry.tracing import CoreTracer
from nfvbed.records.readings import ThreadId

_OPTION = "CONFIG_IRQ_TIME_ACCOUNTING="


@dataclass(frozen=True)
class Instruments:
    """What reads; each but the look at threads may be left out."""

    tracer: CoreTracer | None = None
    counters: PerfCounters | None = None
    own: tuple[CounterReader, ...] = ()
    """Counters of the switch, and of VNFs that count by themselves."""


@dataclass(frozen=True)
class Readings:
    """The telemetry of one trial: threads, traced softirqs, hardware counters."""

    window_ns: int
    """Between the two looks at threads; a little longer than frames were sent."""
    threads: dict[ThreadId, ThreadUse]
    traced: TracedTimes | None = None
    hardware: dict[tuple[int, str], int | None] = field(default_factory=dict)
    """Counts by thread id and event."""


class Probe:
    """Entered before the traffic and left after it; then `collect` gives what was read."""

    def __init__(self, threads: Sequence[ThreadId], instruments: Instruments) -> None:
        self._threads = tuple(threads)
        self._instruments = instruments
        self._looks: list[ThreadReading] = []
        self._traced: list[int] = []

    def __enter__(self) -> Self:
        use = self._instruments
        for reader in use.own:
            reader.start()
        if use.tracer:
            self._traced.append(time.monotonic_ns())
            use.tracer.start()
        if use.counters:
            use.counters.start()
        self._looks.append(look(self._threads))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        use = self._instruments
        self._looks.append(look(self._threads))
        if use.counters:
            use.counters.stop()
        if use.tracer:
            use.tracer.stop()
            self._traced.append(time.monotonic_ns())
        for reader in use.own if kind is None else ():
            reader.stop()

    def collect(self) -> Readings:
        """Return what was read; the trace is decoded here and not in the trial, from whose cores it would take time."""
        before, after = self._looks
        use = self._instruments
        return Readings(
            window_ns=after.sample.at_ns - before.sample.at_ns,
            threads=used(before, after),
            traced=self._trace(use.tracer) if use.tracer else None,
            hardware=use.counters.read() if use.counters else {},
        )

    def _trace(self, tracer: CoreTracer) -> TracedTimes:
        began, ended = self._traced
        events = {core: tracer.events(core) for core in tracer.cores}
        return traced_times(events, (began, ended), tracer.lost())


def ticks_hold_softirqs(
    places: Sequence[Path] = (Path("/proc/config.gz"), Path(f"/boot/config-{platform.release()}")),
) -> bool:
    """Return whether this kernel counts the ticks in a softirq among those of the thread that it interrupts.

    It does by ticks, unless it was built with exact accounting of interrupts (CONFIG_IRQ_TIME_ACCOUNTING); where its
    configuration cannot be read it is taken to.
    """
    for place in places:
        try:
            raw = place.read_bytes()
        except OSError:
            continue
        text = (gzip.decompress(raw) if place.suffix == ".gz" else raw).decode(errors="replace")
        return f"\n{_OPTION}y" not in text
    return True
