"""Tables of results that were published or imported: each against each, by rank tests, corrected for being many.

They have no rounds and no rig: nothing cancels what drifted between them, and what they were measured on is only what
their source says. So they are compared with each other, and never with a run as if both were of one host.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import sqrt
from typing import Final

import numpy as np

from nfvbed.compare.differences.dispersion import SpreadJudgement, judge_spread_of_tables
from nfvbed.compare.samples.multiple import holm_adjusted
from nfvbed.compare.verdict import Judgement, Rules, Verdict, judge_unpaired
from nfvbed.distributions import within_student
from nfvbed.records import Record

KISTI_Z: Final = 2.53
"""Factor of the intervals that the KISTI report calls 99 %: the normal quantile is 2.576, Student's for ten 3.250."""


class KistiInterval(Record):
    """The interval as the KISTI report (2017) made it, for putting beside its figures: mean and 2.53 standard errors.

    It is named by its factor, as it covers at neither 99 % nor 95 %.
    """

    low: float
    high: float
    z: float = KISTI_Z
    covers: float
    """The level at which it does cover normal samples, so many of them (Student)."""


class TableDifference(Record):
    """Two tables against each other."""

    candidate: str
    baseline: str
    judgement: Judgement
    """On the results themselves, by the exact Mann-Whitney test; its verdict is by `adjusted_p`."""
    spread: SpreadJudgement


def kisti_interval(samples: Sequence[float]) -> KistiInterval | None:
    """Return the KISTI report's interval of a mean; None below two samples."""
    if len(samples) < 2:
        return None
    values = np.asarray(samples, dtype=np.float64)
    half = KISTI_Z * float(values.std(ddof=1)) / sqrt(len(values))
    mean, covers = float(values.mean()), within_student(KISTI_Z, len(values) - 1)
    return KistiInterval(low=mean - half, high=mean + half, covers=covers)


def compare_tables(tables: Mapping[str, Sequence[float]], rules: Rules | None = None) -> tuple[TableDifference, ...]:
    """Return the difference of every table to every one before it; results and spreads are each corrected by Holm.

    Args:
        tables: positive results by name, in one unit.
        rules: level and margin; the rules of a survey are taken for those of a comparison.
    """
    rules = (rules or Rules()).model_copy(update={"purpose": "compare"})
    pairs = [(late, early) for early, late in combinations(tables, 2)]
    judged = [judge_unpaired(tables[name], tables[other], rules) for name, other in pairs]
    spreads = [judge_spread_of_tables(tables[name], tables[other], rules.alpha) for name, other in pairs]
    adjusted, of_spreads = _adjusted([j.p_value for j in judged]), _adjusted([s.p_value for s in spreads])
    return tuple(
        TableDifference(
            candidate=name,
            baseline=other,
            judgement=_corrected(judged[place], adjusted[place], rules.alpha),
            spread=judge_spread_of_tables(tables[name], tables[other], rules.alpha, of_spreads[place]),
        )
        for place, (name, other) in enumerate(pairs)
    )


def _adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct what was tested; comparisons with too few results count in the family all the same."""
    known = [p for p in p_values if p is not None]
    corrected = iter(holm_adjusted(known, len(p_values)))
    return [None if p is None else next(corrected) for p in p_values]


def _corrected(seen: Judgement, adjusted_p: float | None, alpha: float) -> Judgement:
    """Withdraw a direction that does not hold after the correction; its interval stays that of its own test."""
    if adjusted_p is None:
        return seen
    seen = seen.model_copy(update={"adjusted_p": adjusted_p})
    if seen.verdict not in (Verdict.HIGHER, Verdict.LOWER) or adjusted_p <= alpha:
        return seen
    reason = f"p {seen.p_value:.2g}, and {adjusted_p:.2g} after Holm's correction"
    return seen.model_copy(update={"verdict": Verdict.UNDECIDED, "reason": reason, "within_margin": False})
