"""Whether one side's rates spread more than the other's: steadier, less steady, or undecided.

**Paired rounds** are judged by Pitman and Morgan's test with Kendall's tau (`ranks.rank_spread`): both sides met the
host's states in the same rounds, which every test for independent samples would take for scatter of their own. It is
exact at any number of rounds, has looks as verdicts on rates have, and an interval of the ratio of both spreads.

**Tables** of results that were published or imported have no rounds. They are judged by Fligner and Killeen's test
(Journal of the American Statistical Association 71, 1976) in the form that Conover, Johnson and Johnson (Technometrics
23, 1981) found most robust of 56: normal scores of the ranks of the distances to each side's own median. Up to 25
samples a side its distribution is that of all ways to deal the scores out, exactly; above, its approximation.

Spread is a part of the rate (standard deviation of logarithms), so that a fast data plane is not less steady for being
fast. That two sides spread alike is never shown here: it takes hundreds of samples.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import erfc, exp, isfinite, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nfvbed.compare.rows.visits import Visit, steadiness_samples
from nfvbed.compare.samples.ranks import LARGEST_LOG, Interval, rank_spread
from nfvbed.compare.verdict import MANY_COMPARISONS, Rules
from nfvbed.distributions import average_ranks, normal_quantiles
from nfvbed.records import Record

EXACT_SIDE: Final = 25
"""Samples a side up to which tables are judged exactly."""
GRID: Final = 500
"""Scores are rounded to so many parts of one, so that all ways to deal them out can be counted."""
FEWEST: Final = 5
"""Samples a side that tables need: of fewer a median, and so the distances to it, say next to nothing."""


class SpreadVerdict(StrEnum):
    """What the samples say of a candidate's spread against its baseline's."""

    STEADIER = "steadier"
    LESS_STEADY = "less-steady"
    UNDECIDED = "undecided"


class SpreadJudgement(Record):
    """A verdict on spread with all that it rests on."""

    verdict: SpreadVerdict
    reason: str = ""
    ratio: float | None = None
    """Candidate's spread over the baseline's; None where a side did not spread at all."""
    interval: Interval | None = None
    """Interval of the ratio; tables have none."""
    p_value: float | None = None
    """Two-sided."""
    adjusted_p: float | None = None
    """Corrected for all comparisons, where there are several."""
    level: float = 0.0
    """Two-sided error of the test; of paired rounds attained exactly."""
    look: int = 0
    """Rounds that it rests on; 0 of tables."""
    candidate_spread: float | None = None
    """Standard deviation of the logarithms of the samples: about that of the rate, as a part of it."""
    baseline_spread: float | None = None
    levelled: bool = False
    """What the host's states do to each side's own rates was taken off first."""


def judge_spread(
    candidate: Sequence[Visit], baseline: Sequence[Visit], rules: Rules, comparisons: int = 1
) -> SpreadJudgement:
    """Return the judgement on the spread of paired rounds.

    Args:
        baseline: visits of the same run as the candidate's.
        comparisons: how many are judged at this traffic point; with many there is one look, each at a part of the
            level.
    """
    many = comparisons > MANY_COMPARISONS
    looks = rules.looks[-1:] if many else rules.looks
    alpha = rules.alpha / (comparisons if many else len(looks))
    sides, levelled = steadiness_samples(candidate, baseline)
    taken = [look for look in looks if look <= len(sides)]
    if rules.purpose == "survey" or not taken:
        reason = "a survey shows ranges" if rules.purpose == "survey" else f"{len(sides)} of {looks[0]} rounds"
        return SpreadJudgement(verdict=SpreadVerdict.UNDECIDED, reason=reason)
    for look in taken:
        seen = _paired(sides[:look], alpha).model_copy(update={"levelled": levelled})
        if seen.verdict is not SpreadVerdict.UNDECIDED:
            break
    return seen


def _paired(sides: Sequence[tuple[float, float]], alpha: float) -> SpreadJudgement:
    own, other = ([pair[place] for pair in sides] for place in (0, 1))
    found = rank_spread(own, other, alpha)
    interval = found.interval
    if interval is not None:
        interval = interval.model_copy(update={"low": exp(interval.low), "high": exp(interval.high)})
    seen = SpreadJudgement(
        verdict=SpreadVerdict.UNDECIDED,
        ratio=exp(found.estimate) if abs(found.estimate) < LARGEST_LOG else None,
        interval=interval,
        p_value=found.p_value,
        level=found.attained,
        look=len(sides),
        candidate_spread=float(np.std(own, ddof=1)),
        baseline_spread=float(np.std(other, ddof=1)),
    )
    if found.decided and found.interval is not None:
        verdict = SpreadVerdict.LESS_STEADY if found.interval.low > 0 else SpreadVerdict.STEADIER
        return seen.model_copy(update={"verdict": verdict})
    return seen.model_copy(update={"reason": f"p {found.p_value:.2g} at a level of {found.attained:.3g}"})


def judge_spread_of_tables(
    candidate: Sequence[float], baseline: Sequence[float], alpha: float, adjusted_p: float | None = None
) -> SpreadJudgement:
    """Return the judgement on the spread of two tables of results that are not paired.

    Args:
        candidate: results, all above zero, in one unit with the baseline's.
        alpha: two-sided error.
        adjusted_p: the p-value as corrected for other comparisons; where there is one, the verdict is by it.
    """
    if min(len(candidate), len(baseline)) < FEWEST:
        counts = f"{len(candidate)} against {len(baseline)}"
        return SpreadJudgement(verdict=SpreadVerdict.UNDECIDED, reason=f"too few results: {counts}, {FEWEST} needed")
    if min(*candidate, *baseline) <= 0:
        return SpreadJudgement(verdict=SpreadVerdict.UNDECIDED, reason="a result is not positive")
    own, other = ([log(value) for value in side] for side in (candidate, baseline))
    p_value = fligner_killeen(own, other)
    spreads = float(np.std(own, ddof=1)), float(np.std(other, ddof=1))
    ratio = spreads[0] / spreads[1] if spreads[1] > 0 else None
    seen = SpreadJudgement(
        verdict=SpreadVerdict.UNDECIDED,
        ratio=ratio if ratio and isfinite(ratio) else None,
        p_value=p_value,
        adjusted_p=adjusted_p,
        level=alpha,
        candidate_spread=spreads[0],
        baseline_spread=spreads[1],
    )
    decisive = p_value if adjusted_p is None else adjusted_p
    if decisive > alpha:
        return seen.model_copy(update={"reason": f"p {decisive:.2g} at a level of {alpha:.3g}"})
    wider = _mean_score(own, other) > 0
    return seen.model_copy(update={"verdict": SpreadVerdict.LESS_STEADY if wider else SpreadVerdict.STEADIER})


def fligner_killeen(samples: Sequence[float], baseline: Sequence[float]) -> float:
    """Return the two-sided p-value of Fligner and Killeen's test around medians.

    Args:
        samples: at least two figures.
    """
    exact = _scores(samples, baseline)
    if max(len(samples), len(baseline)) > EXACT_SIDE:
        sides = exact[: len(samples)], exact[len(samples) :]
        between = sum(len(side) * (float(side.mean()) - float(exact.mean())) ** 2 for side in sides)
        variance = float(exact.var(ddof=1))
        # Chi-squared with one degree of freedom is the square of a normal value.
        return erfc(sqrt(between / variance / 2)) if variance else 1.0
    scores = np.rint(GRID * exact).astype(np.intp)
    count, total = len(samples), int(scores.sum())
    # Ways to deal so many of the scores to the one side, by their sum.
    ways = np.zeros((count + 1, total + 1))
    ways[0, 0] = 1.0
    for score in scores:
        ways[1:, score:] += ways[:-1, : total + 1 - score].copy()
    chances = ways[count] / ways[count].sum()
    expected = total * count / len(scores)
    distance = abs(int(scores[:count].sum()) - expected)
    return min(1.0, float(chances[np.abs(np.arange(total + 1) - expected) >= distance - 1e-9].sum()))


def _scores(samples: Sequence[float], baseline: Sequence[float]) -> NDArray[np.float64]:
    """Return the normal scores of the ranks of all distances to the own side's median, the samples' first."""
    distances = np.concatenate([np.abs(np.asarray(side) - np.median(side)) for side in (samples, baseline)])
    return normal_quantiles(0.5 + average_ranks(distances) / (2 * (len(distances) + 1)))


def _mean_score(samples: Sequence[float], baseline: Sequence[float]) -> float:
    scores = _scores(samples, baseline)
    return float(scores[: len(samples)].mean() - scores[len(samples) :].mean())
