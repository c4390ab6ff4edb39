"""When the intervals of a soak began, so that what they lost can be seen over time."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from nfvbed.records import TrialRecord
from nfvbed.records.results import LoadPoint
from nfvbed.units import NS_PER_S


def interval_starts_s(points: Sequence[LoadPoint], trials: Mapping[int, TrialRecord]) -> tuple[float, ...]:
    """Return the start of each interval, in s since the first one began, to the millisecond.

    A start is the clock's, so the moments between two intervals, in which no frames are sent, are in it. No interval
    begins before the traffic of those before it is over: a simulation takes no time, and a clock may be set back.

    Args:
        points: those of the soak, in the order in which they were measured.
        trials: those of the points, by sequence; the start of a missing one comes from the traffic alone.
    """
    found = [trials.get(point.sequence) for point in points]
    began = [datetime.fromisoformat(trial.started_at) if trial else None for trial in found]
    origin = next((moment for moment in began if moment is not None), None)
    starts: list[float] = []
    over_s = 0.0
    for point, moment in zip(points, began, strict=True):
        by_clock_s = (moment - origin).total_seconds() if moment is not None and origin is not None else 0.0
        start_s = round(max(by_clock_s, over_s), 3)
        starts.append(start_s)
        over_s = start_s + point.duration_ns / NS_PER_S
    return tuple(starts)
