"""The doubts about a row: those stored with its trials, and those that only all its trials together show."""

from collections.abc import Sequence

from nfvbed.compare.statistics import interquartile_range, median
from nfvbed.compare.verdict import Rules
from nfvbed.records import Preset, QualityWarning, Record, TrialRecord

LEAST_SAMPLES = 3
"""Fewer have no spread to speak of."""
DERIVED = (QualityWarning.PLACEMENT_CHANGED, QualityWarning.UNSTABLE, QualityWarning.TOO_FEW_REPETITIONS)
"""What no trial can know of itself."""


class WarningCount(Record):
    """A doubt about a row; trials at maximum load and paced ones are counted apart."""

    kind: QualityWarning
    preset: Preset = Preset.MRR
    trials: int
    of: int
    detail: str = ""
    """What was observed, where a count of trials does not say it."""


def row_warnings(
    maximum: Sequence[TrialRecord], paced: Sequence[TrialRecord], changed: tuple[int, int], rules: Rules
) -> tuple[WarningCount, ...]:
    """Give the doubts about a row, in the order of the enum.

    Args:
        maximum: its trials at maximum load, of one placement class.
        paced: its trials at a given load.
        changed: trials at maximum load of its cell within which the class changed, and all of them.
        rules: how many trials there should be, and how far they may scatter.
    """
    derived = {entry.kind: entry for entry in _derived(maximum, changed, rules)}
    found = []
    for kind in QualityWarning:
        if kind in DERIVED:
            found += [derived[kind]] if kind in derived else []
            continue
        for preset, trials in ((Preset.MRR, maximum), (Preset.PACED, paced)):
            count = sum(kind in trial.warnings for trial in trials)
            if count:
                found.append(WarningCount(kind=kind, preset=preset, trials=count, of=len(trials)))
    return tuple(found)


def spread(samples: Sequence[float]) -> float | None:
    """Give the interquartile range as a part of the median; None with too few samples, or a median of zero."""
    if len(samples) < LEAST_SAMPLES or median(samples) <= 0:
        return None
    return interquartile_range(samples) / median(samples)


def _derived(maximum: Sequence[TrialRecord], changed: tuple[int, int], rules: Rules) -> list[WarningCount]:
    count = len(maximum)
    found = []
    if changed[0]:
        kind, text = QualityWarning.PLACEMENT_CHANGED, f"{changed[0]}/{changed[1]}, not used"
        found.append(WarningCount(kind=kind, trials=changed[0], of=changed[1], detail=text))
    scatter = spread([trial.forwarded_rate_pps for trial in maximum])
    if scatter is not None and scatter > rules.max_spread:
        text = f"quartiles {scatter:.1%} apart, bound {rules.max_spread:.1%}"
        found.append(WarningCount(kind=QualityWarning.UNSTABLE, trials=count, of=count, detail=text))
    if 0 < count < rules.needed:
        found.append(WarningCount(kind=QualityWarning.TOO_FEW_REPETITIONS, trials=count, of=rules.needed))
    return found
