"""Frames that are missing at a given load: those that were lost and those that a port refused, in one figure."""

from collections.abc import Iterable

from nfvbed.records.quality import QualityWarning
from nfvbed.records.trial import TrialRecord


def missing_ratio(lost: int, unsent: int, late: int, intended: int) -> float | None:
    """Return missing over intended frames; frames that the generator was too late for count in neither.

    Args:
        lost: sent and not received.
        unsent: not sent within their time, late ones among them.
        late: of the unsent: no port refused them, the generator came too late.
        intended: frames that were due, late ones among them.

    Returns:
        (lost + unsent - late) / (intended - late), at least 0; None where nothing was asked for.
    """
    asked = intended - late
    return max(0, lost + unsent - late) / asked if asked > 0 else None


def missing_of(trials: Iterable[TrialRecord]) -> float | None:
    """Return the ratio over all directions of trials.

    Of a generator that was too slow for the load late frames are missing too, as in searches (`search/measurer.py`):
    its limit must not look like the system's strength.
    """
    lost = unsent = late = intended = 0
    for trial in trials:
        excused = QualityWarning.GENERATOR_LIMITED not in trial.warnings
        for way in trial.directions:
            lost += way.lost
            unsent += way.unsent
            late += way.late if excused else 0
            # A count of due frames may fall short of those that were sent by what was on its way.
            intended += max(way.intended, way.sent + way.unsent)
    return missing_ratio(lost, unsent, late, intended)
