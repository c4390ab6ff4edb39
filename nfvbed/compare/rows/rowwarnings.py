"""The warnings about a row: those stored with its trials, and those that only all its trials together show."""

from collections import Counter
from collections.abc import Sequence

from nfvbed.compare.rows.rates import RateSummary
from nfvbed.compare.samples.statistics import interquartile_range, median
from nfvbed.compare.verdict import Rules
from nfvbed.records import Preset, QualityWarning, Record, TrialRecord

LEAST_SAMPLES = 3
"""Fewer have no spread to speak of."""
DERIVED = (QualityWarning.PLACEMENT_CHANGED, QualityWarning.UNSTABLE, QualityWarning.TOO_FEW_REPETITIONS)
"""What no trial can know of itself."""


class WarningCount(Record):
    """A warning about a row; trials at maximum load, at its own half load and at the common load are counted apart."""

    kind: QualityWarning
    preset: Preset = Preset.MRR
    trials: int
    of: int
    detail: str = ""
    """What was observed, where a count of trials does not say it."""


def row_warnings(
    used: Sequence[TrialRecord], rate: RateSummary | None, changed: tuple[int, int], rules: Rules
) -> tuple[WarningCount, ...]:
    """Return the warnings about a row, in the order of the enum.

    Args:
        used: the trials of the row.
        rate: what its trials at maximum load say together.
        changed: two numbers of its cell's trials at maximum load: those not used as the class changed within them, and
            all.
    """
    derived = {entry.kind: entry for entry in _derived(rate, changed, rules)}
    of = Counter(trial.preset for trial in used)
    carried = Counter((kind, trial.preset) for trial in used for kind in set(trial.warnings))
    found = []
    for kind in QualityWarning:
        if kind in DERIVED:
            found += [derived[kind]] if kind in derived else []
            continue
        for preset in (Preset.MRR, Preset.PACED, Preset.COMMON):
            if count := carried[kind, preset]:
                found.append(WarningCount(kind=kind, preset=preset, trials=count, of=of[preset]))
    return tuple(found)


def spread(samples: Sequence[float]) -> float | None:
    """Return the interquartile range as a part of the median; None with too few samples, or a median of zero."""
    if len(samples) < LEAST_SAMPLES or median(samples) <= 0:
        return None
    return interquartile_range(samples) / median(samples)


def _derived(rate: RateSummary | None, changed: tuple[int, int], rules: Rules) -> list[WarningCount]:
    found = []
    if changed[0]:
        kind, text = QualityWarning.PLACEMENT_CHANGED, f"{changed[0]}/{changed[1]}, not used"
        found.append(WarningCount(kind=kind, trials=changed[0], of=changed[1], detail=text))
    if rate is None:
        return found
    samples = _of_one_class(rate)
    scatter = spread(samples)
    if scatter is not None and scatter > rules.max_spread:
        text = f"quartiles {scatter:.1%} apart, bound {rules.max_spread:.1%}"
        found.append(WarningCount(kind=QualityWarning.UNSTABLE, trials=len(samples), of=rate.rounds, detail=text))
    wanted = rules.looks[0] if rules.purpose == "compare" else rules.needed
    if rate.rounds < wanted:
        found.append(WarningCount(kind=QualityWarning.TOO_FEW_REPETITIONS, trials=rate.rounds, of=wanted))
    return found


def _of_one_class(rate: RateSummary) -> list[float]:
    """Return the rates of visits in the class that most of them saw: that classes differ is no lack of stability."""
    by_class: dict[str, list[float]] = {}
    for visit in rate.visits:
        for name, seen in visit.by_class.items():
            by_class.setdefault(name, []).append(seen.rate_pps)
    most = max(by_class.values(), key=len, default=[])
    return most if len(most) >= LEAST_SAMPLES else list(rate.samples_pps)
