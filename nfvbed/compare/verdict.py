"""The verdict on one difference: higher, lower, same, undecided, depends on placement, or not comparable.

**The sample is the round.** A round visits both variants next to each other, so that they meet the host's states alike;
the verdict is on the log ratio of each round, by the exact signed-rank test. Rounds are looked at after numbers fixed
in advance (`Rules.looks`), each at an equal part of the level; the first look that decides is final. Many comparisons
at a traffic point are looked at once, at the last look, and corrected by `holm`.

*Same* is shown, not assumed: at the last look the 90 % interval of the ratio must lie within the margin (two one-sided
tests at 5 %; Schuirmann, 1987). A difference that is certain is reported also where it lies within the margin.

**Limited results are lower bounds.** A rate that the generator, the ports, the VNF or the wire bounded says that the
data plane can do at least this much. With candidate C and baseline B:

| limited   | C seen above B       | equal within margin | C seen below B      |
|-----------|----------------------|---------------------|---------------------|
| neither   | higher               | same                | lower               |
| C         | higher, by at least  | undecided           | undecided           |
| B         | undecided            | undecided           | lower, by at least  |
| both      | undecided            | undecided           | undecided           |

C limited and below B may still be above it in truth; with both limited there is no upper bound on either, so that even
a large difference only compares the two limits.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import exp, isfinite, log
from typing import Final, Literal

from pydantic import Field

from nfvbed.compare.samples.multiple import holm_adjusted
from nfvbed.compare.samples.ranks import LARGEST_LOG, Interval, RankResult, rank_shift, signed_rank
from nfvbed.records import Record

VERDICT_RULE: Final = 1
"""Version of the rules by which trials become verdicts: raised where the same trials may get another one. Bundles name
it, so that it is known which nfvbed can recompute their verdicts."""
SAME_LEVEL: Final = 0.90
"""Level of the interval that must lie within the margin: two one-sided tests at 5 %."""
MANY_COMPARISONS: Final = 3
"""With more comparisons at one traffic point there is one look, corrected by Holm."""
OPPOSING_PAIRS: Final = 3
"""So many pairs in one class, all of them on the other side, oppose a verdict."""
TESTED_PAIRS: Final = 6
"""From so many pairs in one class on, its own exact test says whether it opposes."""


class Verdict(StrEnum):
    """What the samples say of a candidate against its baseline."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    UNDECIDED = "undecided"
    DEPENDS_ON_PLACEMENT = "depends-on-placement"
    """Over all states it is higher or lower, and in one state of the host it is the other way round."""
    NOT_COMPARABLE = "not-comparable"


class Bound(StrEnum):
    """Whether the true ratio may lie above or below the one that was measured, as limits bounded a side."""

    EXACT = "exact"
    AT_LEAST = "at-least"
    """The true ratio is this or higher: the candidate was limited."""
    AT_MOST = "at-most"
    """The true ratio is this or lower: the baseline was limited."""
    UNKNOWN = "unknown"
    """Both were limited: the ratio says nothing of the data planes."""


class Bounds(Record):
    """Which sides are limited: their rates bound from below what the data plane can do."""

    candidate: bool = False
    baseline: bool = False


class Pair(Record):
    """The visits of two variants to one traffic point in one round."""

    round: int
    log_ratio: float
    """Natural logarithm of the candidate's rate over the baseline's."""
    placement: str = ""
    """The class in which trials of both sides were matched; empty: all trials of both visits."""
    levelled: bool = False
    """All trials, brought to one state of the host by what its states do to each variant's own rates."""


class ClassRatio(Record):
    """The pairs that were matched in one placement class."""

    name: str
    pairs: int
    ratio: float
    """Candidate over baseline, Hodges and Lehmann's estimate."""
    opposes: bool
    """Whether it points the other way than the verdict over all pairs, surely enough to say so."""


class Rules(Record):
    """What a verdict is made with; shown with every comparison."""

    alpha: float = Field(0.05, gt=0, lt=1)
    """Chance of a wrong *higher* or *lower* between equals, over all looks together."""
    looks: tuple[int, ...] = Field((8, 12), min_length=1)
    """Numbers of rounds after which there is a verdict, ascending."""
    margin: float = Field(0.05, gt=0, lt=1)
    """Ratios between 1 / (1 + margin) and 1 + margin count as the same."""
    needed: int = Field(5, ge=1)
    """Trials in one placement class that a row should have in tests beside the maximum receive rate."""
    max_spread: float = Field(0.05, gt=0)
    """Interquartile range of a row's rates in one class, as a part of their median, that counts as stable."""
    purpose: Literal["compare", "survey"] = "compare"
    """A survey shows ranges and makes no verdicts."""


class Judgement(Record):
    """A verdict with all that it rests on."""

    verdict: Verdict
    reason: str = ""
    bound: Bound = Bound.EXACT
    ratio: float | None = None
    """Candidate over baseline, Hodges and Lehmann's estimate; None where a side forwarded nothing."""
    interval: Interval | None = None
    """Interval of the ratio, with the level that it attains; the range of the ratios (`is_range`) before the first
    look.
    """
    p_value: float | None = None
    """Two-sided, of this look."""
    level: float = 0.0
    """Two-sided error of this look, attained exactly; 0 where there was no look."""
    look: int = 0
    """Pairs that the verdict rests on; 0 before the first look, and where sides are not paired."""
    pairs: int = 0
    """Pairs that there are."""
    matched: int = 0
    """Pairs of the look whose trials were matched in one placement class."""
    levelled: int = 0
    """Pairs of the look that met the host in different states and were brought to one."""
    within_margin: bool = False
    """Higher or lower, but the whole interval lies within the margin of the same."""
    same_interval: Interval | None = None
    """The 90 % interval that `same` asks for, at the last look."""
    unpaired: bool = False
    """The sides have no rounds in common: drift is not cancelled."""
    adjusted_p: float | None = None
    """The p-value corrected for all comparisons of a traffic point, where there are many."""
    by_class: tuple[ClassRatio, ...] = ()
    log_ratios: tuple[float, ...] = ()
    """Log ratios of the pairs that the verdict rests on, in order of rounds; before the first look of all."""


def judge(pairs: Sequence[Pair], rules: Rules, bounds: Bounds | None = None, comparisons: int = 1) -> Judgement:
    """Return the judgement on paired rounds of two sides that are comparable in scope.

    Args:
        pairs: those of the rounds that both sides have, in any order.
        comparisons: how many are judged at this traffic point; above `MANY_COMPARISONS` there is the last look alone,
            and the judgements have to be corrected by `holm`.
    """
    ordered = sorted(pairs, key=lambda pair: pair.round)
    looks = rules.looks[-1:] if comparisons > MANY_COMPARISONS else rules.looks
    bound = _bound(bounds or Bounds())
    if rules.purpose == "survey" or len(ordered) < looks[0]:
        reason = "a survey shows ranges" if rules.purpose == "survey" else f"{len(ordered)} of {looks[0]} pairs"
        seen = _describe(ordered, None)
        return seen.model_copy(update={"reason": reason, "bound": bound, "pairs": len(ordered)})
    seen = _first_decided(ordered, looks, rules)
    seen = seen.model_copy(update={"bound": bound, "pairs": len(ordered)})
    return _respect_classes(_respect_limits(seen))


def _first_decided(ordered: Sequence[Pair], looks: Sequence[int], rules: Rules) -> Judgement:
    """Return the first look that decides, else the last one that there are pairs for."""
    taken = [look for look in looks if look <= len(ordered)]
    for look in taken:
        pairs = ordered[:look]
        found = signed_rank([_finite(pair.log_ratio) for pair in pairs], rules.alpha / len(looks))
        seen = _describe(pairs, found).model_copy(update={"look": look})
        if look == looks[-1]:
            same = signed_rank([_finite(pair.log_ratio) for pair in pairs], 1 - SAME_LEVEL).interval
            seen = seen.model_copy(update={"same_interval": _as_ratio(same)})
        seen = _decide(seen, found, rules)
        if seen.verdict is not Verdict.UNDECIDED:
            return seen
    following = next((look for look in looks if look > len(ordered)), None)
    if following is None:
        return seen
    return seen.model_copy(update={"reason": f"{seen.reason}; {len(ordered)} of {following} pairs"})


def judge_unpaired(
    candidate: Sequence[float], baseline: Sequence[float], rules: Rules, bounds: Bounds | None = None
) -> Judgement:
    """Return the judgement on visits of runs without common rounds (trends, imported results), by the rank test.

    Args:
        candidate: rates of visits, frames/s.
        baseline: likewise.
        rules: level and margin; there is one look.
    """
    bound, counts = _bound(bounds or Bounds()), (len(candidate), len(baseline))
    seen = Judgement(verdict=Verdict.UNDECIDED, bound=bound, unpaired=True)
    if min(counts) == 0:
        return seen.model_copy(update={"reason": "one side has no visit"})
    sides = [_log_rate(rate) for rate in candidate], [_log_rate(rate) for rate in baseline]
    found = rank_shift(*sides, rules.alpha)
    seen = seen.model_copy(
        update={
            "ratio": _ratio(found.estimate),
            "interval": _as_ratio(found.interval or _range_of([a - b for a in sides[0] for b in sides[1]])),
            "p_value": found.p_value,
            "level": found.attained,
            "same_interval": _as_ratio(rank_shift(*sides, 1 - SAME_LEVEL).interval),
        }
    )
    if rules.purpose == "survey":
        return seen.model_copy(update={"reason": "a survey shows ranges"})
    if found.interval is None:
        reason = f"too few visits: {counts[0]} against {counts[1]} cannot reach the {rules.alpha:.0%} level"
        return seen.model_copy(update={"reason": reason})
    return _respect_limits(_decide(seen, found, rules))


def not_comparable(reason: str) -> Judgement:
    """Return the judgement on two sides that have no common scope."""
    return Judgement(verdict=Verdict.NOT_COMPARABLE, reason=reason, bound=Bound.UNKNOWN)


def holm(judgements: Sequence[Judgement], rules: Rules) -> tuple[Judgement, ...]:
    """Correct the judgements of one traffic point for being many (Holm, 1979), in the order given.

    Judgements are taken in order of their p-values, each at the level over the number of those not yet decided, until
    one fails. Every interval is then given at the level at which its test was made, so that interval and verdict agree.
    Judgements without a look pass unchanged; all but those that are not comparable count.
    """
    p_values = {place: entry.p_value or 0.0 for place, entry in enumerate(judgements) if entry.look}
    family = sum(entry.verdict is not Verdict.NOT_COMPARABLE for entry in judgements)
    adjusted = dict(zip(p_values, holm_adjusted(tuple(p_values.values()), family), strict=True))
    corrected, failed_at = list(judgements), 0
    for rank, place in enumerate(sorted(p_values, key=p_values.__getitem__)):
        left = failed_at or family - rank
        corrected[place] = _at_level(judgements[place], rules, left).model_copy(update={"adjusted_p": adjusted[place]})
        if not failed_at and not _is_different(corrected[place]):
            failed_at = left
    return tuple(corrected)


def _at_level(seen: Judgement, rules: Rules, parts: int) -> Judgement:
    """Return a judgement made again at a part of the level."""
    found = signed_rank(seen.log_ratios, rules.alpha / parts)
    update = {"interval": _as_ratio(found.interval), "level": found.attained, "within_margin": False, "reason": ""}
    plain = _decide(seen.model_copy(update=update | {"verdict": Verdict.UNDECIDED}), found, rules)
    return _respect_classes(_respect_limits(plain))


def _is_different(seen: Judgement) -> bool:
    interval = seen.interval
    return interval is not None and not interval.is_range and (interval.low > 1 or interval.high < 1)


def _describe(pairs: Sequence[Pair], found: RankResult | None) -> Judgement:
    """Return what is seen, without a verdict; without a look (`found`) the range of the ratios and their estimate."""
    logs = [_finite(pair.log_ratio) for pair in pairs]
    if not logs:
        return Judgement(verdict=Verdict.UNDECIDED)
    interval = _range_of(logs) if found is None else found.interval
    return Judgement(
        verdict=Verdict.UNDECIDED,
        ratio=_ratio(signed_rank(logs, 1.0).estimate if found is None else found.estimate),
        interval=_as_ratio(interval),
        p_value=found.p_value if found else None,
        level=found.attained if found else 0.0,
        matched=sum(pair.placement != "" for pair in pairs),
        levelled=sum(pair.levelled for pair in pairs),
        by_class=_class_ratios(pairs),
        log_ratios=tuple(logs),
    )


def _decide(seen: Judgement, found: RankResult, rules: Rules) -> Judgement:
    """Decide as if nothing were limited and no class pointed the other way."""
    low, high = -log(1 + rules.margin), log(1 + rules.margin)
    if found.interval is not None and found.decided:
        within = low <= found.interval.low and found.interval.high <= high
        reason = f"certain, but within the margin of {rules.margin:.0%} that counts as the same" if within else ""
        verdict = Verdict.HIGHER if found.interval.low > 0 else Verdict.LOWER
        return seen.model_copy(update={"verdict": verdict, "reason": reason, "within_margin": within})
    same = seen.same_interval
    if same is not None and exp(low) <= same.low and same.high <= exp(high):
        inside = f"{same.low:.3f} to {same.high:.3f}"
        reason = f"the {SAME_LEVEL:.0%} interval {inside} lies within the margin of {rules.margin:.0%}"
        return seen.model_copy(update={"verdict": Verdict.SAME, "reason": reason})
    if seen.interval is None:
        return seen.model_copy(update={"reason": "too few pairs of rounds for a verdict"})
    reason = f"the interval {seen.interval.low:.3g} to {seen.interval.high:.3g} holds 1"
    return seen.model_copy(update={"reason": reason})


def _class_ratios(pairs: Sequence[Pair]) -> tuple[ClassRatio, ...]:
    """Return each matched class's own ratio; whether it opposes is known with the verdict."""
    by_class: dict[str, list[float]] = {}
    for pair in pairs:
        if pair.placement:
            by_class.setdefault(pair.placement, []).append(_finite(pair.log_ratio))
    over_all = signed_rank([_finite(pair.log_ratio) for pair in pairs], 1.0).estimate
    return tuple(
        ClassRatio(
            name=name,
            pairs=len(logs),
            ratio=exp(signed_rank(logs, 1.0).estimate),
            opposes=_opposes(logs, upward=over_all < 0),
        )
        for name, logs in by_class.items()
    )


def _opposes(logs: Sequence[float], *, upward: bool) -> bool:
    """Return whether a class's pairs surely point up (or down): few must all do, more by their own exact test."""
    side = [value if upward else -value for value in logs]
    if len(side) < TESTED_PAIRS:
        return len(side) >= OPPOSING_PAIRS and min(side) > 0
    interval = signed_rank(side, 0.05).interval
    return interval is not None and interval.low > 0


def _respect_classes(seen: Judgement) -> Judgement:
    """Withdraw a direction where a placement class points the other way."""
    opposing = [entry.name for entry in seen.by_class if entry.opposes]
    if seen.verdict not in (Verdict.HIGHER, Verdict.LOWER) or not opposing:
        return seen
    reason = f"{seen.verdict.value} over all pairs, the other way round in class {', '.join(opposing)}"
    return seen.model_copy(update={"verdict": Verdict.DEPENDS_ON_PLACEMENT, "reason": reason})


def _bound(bounds: Bounds) -> Bound:
    if bounds.candidate and bounds.baseline:
        return Bound.UNKNOWN
    if bounds.candidate:
        return Bound.AT_LEAST
    return Bound.AT_MOST if bounds.baseline else Bound.EXACT


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
    return seen.model_copy(update={"verdict": Verdict.UNDECIDED, "reason": reason, "within_margin": False})


def _log_rate(rate: float) -> float:
    return log(rate) if rate > 0 else -LARGEST_LOG


def _finite(value: float) -> float:
    return max(-LARGEST_LOG, min(LARGEST_LOG, value))


def _ratio(log_ratio: float) -> float | None:
    # Half of it: the average of an infinite ratio with an ordinary one is infinite as well.
    return exp(log_ratio) if isfinite(log_ratio) and abs(log_ratio) < LARGEST_LOG / 3 else None


def _range_of(logs: Sequence[float]) -> Interval | None:
    if len(logs) < 2:
        return None
    return Interval(low=min(logs), high=max(logs), level=0.0, is_range=True)


def _as_ratio(interval: Interval | None) -> Interval | None:
    """Return the interval of a ratio from that of its logarithm."""
    if interval is None:
        return None
    return interval.model_copy(update={"low": exp(interval.low), "high": exp(interval.high)})
