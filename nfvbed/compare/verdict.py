"""The verdict on one difference: higher, lower, same, undecided or not comparable.

"Different" is decided by a test on the raw samples, and a difference must also be large enough to matter.

**Limited results are lower bounds.** A rate that the generator, the ports, the VNF or the wire bounded says
that the data plane can do at least this much. With candidate C and baseline B:

| limited   | C seen above B       | no difference seen | C seen below B      |
|-----------|----------------------|--------------------|---------------------|
| neither   | higher               | same               | lower               |
| C         | higher, by at least  | undecided          | undecided           |
| B         | undecided            | undecided          | lower, by at least  |
| both      | undecided            | undecided          | undecided           |

C limited and below B may still be above it in truth; with both limited there is no upper bound on either, so
that even a large difference only compares the two limits.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from pydantic import Field

from nfvbed.compare.statistics import (
    Interval,
    detectable_difference,
    median,
    rank_test,
    ratio_interval,
    smallest_p_value,
)
from nfvbed.records import Record

COARSEST: Final = 0.25
"""Samples that could not have shown a difference of this size decide nothing."""


class Verdict(StrEnum):
    """What the samples say of a candidate against its baseline."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    UNDECIDED = "undecided"
    NOT_COMPARABLE = "not-comparable"


class Bound(StrEnum):
    """How the ratio is to be read."""

    EXACT = "exact"
    AT_LEAST = "at-least"
    """The true ratio is this or higher: the candidate was limited."""
    AT_MOST = "at-most"
    """The true ratio is this or lower: the baseline was limited."""
    UNKNOWN = "unknown"
    """Both were limited: the ratio says nothing of the data planes."""


class Rules(Record):
    """What a verdict is made with; shown with every comparison."""

    alpha: float = Field(0.05, gt=0, lt=1)
    """Level of the test."""
    resolution: float = Field(0.01, ge=0, lt=1)
    """A smaller relative difference of medians is called `same`, however significant."""
    needed: int = Field(5, ge=1)
    """Trials in one placement class that a row should have."""
    max_spread: float = Field(0.05, gt=0)
    """Interquartile range of a row's rates in one class, as a part of their median, that counts as stable."""


class Samples(Record):
    """One side of a comparison: rates of single trials, frames/s."""

    values: tuple[float, ...]
    limited: bool = False
    """The values bound from below what the data plane can do."""


class Judgement(Record):
    """A verdict with all that it rests on."""

    verdict: Verdict
    reason: str = ""
    bound: Bound = Bound.EXACT
    ratio: float | None = None
    """Median of the candidate over median of the baseline."""
    interval: Interval | None = None
    p_value: float | None = None
    detectable: float | None = None
    """The relative difference that would have been seen with 80 % power; never below the resolution."""


def judge(candidate: Samples, baseline: Samples, rules: Rules) -> Judgement:
    """Compare two sides that are comparable in scope and placement class."""
    counts = len(candidate.values), len(baseline.values)
    bound = _bound(candidate, baseline)
    if min(counts) == 0:
        return Judgement(verdict=Verdict.UNDECIDED, reason="one side has no trial in this class", bound=bound)
    seen = _measure(candidate.values, baseline.values, rules).model_copy(update={"bound": bound})
    if smallest_p_value(*counts) > rules.alpha:
        reason = f"too few trials: {counts[0]} against {counts[1]} cannot reach the {rules.alpha:.0%} level"
        return seen.model_copy(update={"verdict": Verdict.UNDECIDED, "reason": reason})
    verdict, reason = _plain_verdict(seen, candidate, baseline, rules)
    return _respect_limits(seen.model_copy(update={"verdict": verdict, "reason": reason}))


def not_comparable(reason: str) -> Judgement:
    """Give the judgement on two sides that have no common scope."""
    return Judgement(verdict=Verdict.NOT_COMPARABLE, reason=reason, bound=Bound.UNKNOWN)


def _measure(samples: Sequence[float], baseline: Sequence[float], rules: Rules) -> Judgement:
    below = median(baseline)
    detectable = detectable_difference(samples, baseline, rules.alpha)
    return Judgement(
        verdict=Verdict.UNDECIDED,
        ratio=median(samples) / below if below > 0 else None,
        interval=ratio_interval(samples, baseline),
        p_value=rank_test(samples, baseline),
        detectable=None if detectable is None else max(detectable, rules.resolution),
    )


def _plain_verdict(seen: Judgement, candidate: Samples, baseline: Samples, rules: Rules) -> tuple[Verdict, str]:
    """Decide as if nothing were limited."""
    if seen.p_value is not None and seen.p_value <= rules.alpha:
        if seen.ratio is not None and abs(seen.ratio - 1) < rules.resolution:
            return Verdict.SAME, f"a difference, but below the resolution of {rules.resolution:.1%}"
        above = median(candidate.values) > median(baseline.values)
        return (Verdict.HIGHER if above else Verdict.LOWER), ""
    if seen.detectable is None or seen.detectable > COARSEST:
        return Verdict.UNDECIDED, f"the trials scatter so much that {COARSEST:.0%} could have been missed"
    return Verdict.SAME, f"no difference seen; {seen.detectable:.1%} would have been"


def _bound(candidate: Samples, baseline: Samples) -> Bound:
    if candidate.limited and baseline.limited:
        return Bound.UNKNOWN
    if candidate.limited:
        return Bound.AT_LEAST
    return Bound.AT_MOST if baseline.limited else Bound.EXACT


def _respect_limits(seen: Judgement) -> Judgement:
    """Withdraw what a lower bound cannot say (the table in the module's text)."""
    holds = {
        Bound.EXACT: True,
        Bound.AT_LEAST: seen.verdict is Verdict.HIGHER,
        Bound.AT_MOST: seen.verdict is Verdict.LOWER,
        Bound.UNKNOWN: False,
    }[seen.bound]
    if holds or seen.verdict is Verdict.UNDECIDED:
        return seen
    reason = {
        Bound.AT_LEAST: "this result is limited, so the data plane may do more",
        Bound.AT_MOST: "the baseline's result is limited, so its data plane may do more",
        Bound.UNKNOWN: "both results are limited: this compares the limits, not the data planes",
    }[seen.bound]
    return seen.model_copy(update={"verdict": Verdict.UNDECIDED, "reason": reason})
