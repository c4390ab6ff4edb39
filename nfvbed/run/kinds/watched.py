"""Trials whose frames are followed in time: each direction's timeline beside the trial's record."""

from collections.abc import Callable
from dataclasses import replace

from nfvbed.errors import GeneratorError
from nfvbed.records import TrialRecord
from nfvbed.run.kinds.bench import TestBench
from nfvbed.traffic.generator import TrafficRequest, TrafficResult
from nfvbed.traffic.timeline import Timeline

Watched = tuple[TrialRecord, tuple[Timeline, ...]]


def watch(
    bench: TestBench,
    shape: Callable[[TrafficRequest], TrafficRequest],
    meanwhile: Callable[[], None] | None = None,
) -> Watched:
    """Measure one trial with a timeline, and keep its record.

    Args:
        bench: of the test.
        shape: puts loads, durations and the width of the bins into the cell's traffic.
        meanwhile: what is done while frames are sent.

    Raises:
        GeneratorError: it has no timelines, or as `Measurement.measure`.
        SwitchDiedError, VnfDiedError: as `Measurement.measure`.
    """
    seen: list[TrafficResult] = []
    task = bench.task()
    # The counters of a switch that is restarted begin again, so no difference of theirs means anything.
    watched = replace(task, request=shape(task.request), counters=False, look=seen.append, meanwhile=meanwhile)
    record = bench.measure(watched)
    timelines = seen[0].timelines if seen else ()
    if len(timelines) != len(record.directions):
        raise GeneratorError(
            "the generator gave no timeline",
            where=record.engine.name,
            observed=f"{len(timelines)} for {len(record.directions)} directions",
            fix="build the generator of this version of nfvbed: make native",
        )
    return record, timelines
