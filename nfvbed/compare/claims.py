"""Whether a published claim holds on own rounds: paired, exact, and undecided where the rounds have no power for it.

The sample is the round, as in all comparisons. A claim has one rule or several, all of which have to hold. It is judged
at one level: it holds where every rule's interval, at that level, says so (intersection and union, Berger, 1982), and
it does not where one rule's interval excludes it at its share of the level. Claims are not corrected for each other.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import exp, log
from typing import Final

from nfvbed.compare.samples.ranks import Interval, RankResult, rank_spread, signed_rank
from nfvbed.distributions import fisher_exact
from nfvbed.records import Record
from nfvbed.spec.published import ClaimRule

ALPHA: Final = 0.05
"""Two-sided level of each claim."""
FEWEST_ROUNDS: Final = 6
"""With fewer pairs no exact signed-rank test decides at the level: 2 / 2^6 = 0.031."""
Rounds = Mapping[int, float]
"""A positive figure for each round."""


class ClaimVerdict(StrEnum):
    """What own data say of a published claim."""

    HOLDS = "holds here"
    DOES_NOT = "does not hold here"
    UNDECIDED = "undecided"
    CANNOT = "cannot be said here"
    NOT_RUN = "not run"


class RuleJudgement(Record):
    """One rule on own rounds."""

    verdict: ClaimVerdict
    told: str
    """Figures and what they can show, in a sentence."""
    ratio: float | None = None
    interval: Interval | None = None
    """Interval of the ratio of figures, or of spreads."""
    p_value: float | None = None
    rounds: int = 0
    """Pairs that it rests on."""


def judge_rule(rule: ClaimRule, own: Rounds, other: Rounds, alpha: float = ALPHA, parts: int = 1) -> RuleJudgement:
    """Return what rounds say of a rule.

    Args:
        own: figures of `of`.
        other: figures of `against`; rounds that only one side has are left out of pairs.
        alpha: two-sided level of the claim.
        parts: number of rules of the claim, among which its level is shared.
    """
    if rule.rule == "fewer-bad-runs":
        return _bad_runs(rule, [*own.values()], [*other.values()], alpha)
    shared = sorted(own.keys() & other.keys())
    pairs = [(log(own[number]), log(other[number])) for number in shared if min(own[number], other[number]) > 0]
    if len(pairs) < FEWEST_ROUNDS:
        told = f"{len(pairs)} rounds have both; fewer than {FEWEST_ROUNDS} decide nothing at {100 * alpha:g} %"
        return RuleJudgement(verdict=ClaimVerdict.UNDECIDED, told=told, rounds=len(pairs))
    judge = _steadier if rule.rule == "steadier" else _ratio
    seen = judge(rule, pairs, alpha)
    if seen.verdict is ClaimVerdict.DOES_NOT and parts > 1:
        # One rule of several refutes the claim: each has its share of the level for that.
        strict = judge(rule, pairs, alpha / parts)
        if strict.verdict is not ClaimVerdict.DOES_NOT:
            return seen.model_copy(update={"verdict": ClaimVerdict.UNDECIDED})
    return seen


def together(judged: Sequence[RuleJudgement]) -> ClaimVerdict:
    """Return the verdict on a claim of all its rules; there is one at least."""
    found = {one.verdict for one in judged}
    order = (ClaimVerdict.DOES_NOT, ClaimVerdict.CANNOT, ClaimVerdict.NOT_RUN, ClaimVerdict.UNDECIDED)
    return next((one for one in order if one in found), ClaimVerdict.HOLDS)


def most_bad_runs(runs: int, alpha: float = ALPHA) -> float:
    """Return the largest share of bad runs that is not excluded where none of so many was bad (one-sided).

    Args:
        runs: one at least.
    """
    return float(1 - alpha ** (1 / runs))


def _ratio(rule: ClaimRule, pairs: Sequence[tuple[float, float]], alpha: float) -> RuleJudgement:
    found = signed_rank([own - other for own, other in pairs], alpha)
    interval = _as_ratio(found)
    seen = RuleJudgement(
        verdict=ClaimVerdict.UNDECIDED,
        told="",
        ratio=exp(found.estimate),
        interval=interval,
        p_value=found.p_value,
        rounds=len(pairs),
    )
    wanted = _wanted(rule)
    if interval is None:
        return seen.model_copy(update={"told": f"{exp(found.estimate):.3g} times; {wanted}: no interval at this level"})
    inside = (rule.low is None or interval.low >= rule.low) and (rule.high is None or interval.high <= rule.high)
    outside = (rule.low is not None and interval.high < rule.low) or (
        rule.high is not None and interval.low > rule.high
    )
    verdict = ClaimVerdict.HOLDS if inside else ClaimVerdict.DOES_NOT if outside else ClaimVerdict.UNDECIDED
    told = (
        f"{exp(found.estimate):.3g} times ({interval.low:.3g} to {interval.high:.3g}, {100 * interval.level:.3g} %, "
        f"{len(pairs)} rounds); claimed: {wanted}"
    )
    return seen.model_copy(update={"verdict": verdict, "told": told})


def _wanted(rule: ClaimRule) -> str:
    bounds = [f"at least {rule.low:g}"] if rule.low is not None else []
    bounds += [f"at most {rule.high:g}"] if rule.high is not None else []
    published = f", published {rule.published:g}" if rule.published is not None else ""
    return " and ".join(bounds) + published


def _steadier(rule: ClaimRule, pairs: Sequence[tuple[float, float]], alpha: float) -> RuleJudgement:
    found = rank_spread([own for own, _ in pairs], [other for _, other in pairs], alpha)
    interval = _as_ratio(found)
    verdict = ClaimVerdict.UNDECIDED
    if interval is not None and found.decided:
        verdict = ClaimVerdict.HOLDS if interval.high < 1 else ClaimVerdict.DOES_NOT
    told = f"spread of {rule.of.variant} against {rule.against.variant}: p {found.p_value:.2g} over {len(pairs)} rounds"
    if interval is not None:
        told += f", {interval.low:.3g} to {interval.high:.3g} times"
    return RuleJudgement(verdict=verdict, told=told, interval=interval, p_value=found.p_value, rounds=len(pairs))


def _bad_runs(rule: ClaimRule, own: Sequence[float], other: Sequence[float], alpha: float) -> RuleJudgement:
    if min(len(own), len(other)) == 0:
        return RuleJudgement(verdict=ClaimVerdict.UNDECIDED, told="one side has no runs")
    middle = sorted(own)[len(own) // 2]
    bad, worse = (sum(value < rule.bad * middle for value in side) for side in (own, other))
    p_value = fisher_exact((bad, len(own) - bad), (worse, len(other) - worse))
    fewer = bad * len(other) < worse * len(own)
    verdict = ClaimVerdict.UNDECIDED
    if p_value <= alpha:
        verdict = ClaimVerdict.HOLDS if fewer else ClaimVerdict.DOES_NOT
    told = f"bad runs {bad} of {len(own)} against {worse} of {len(other)} (Fisher's test, p {p_value:.2g})"
    if bad == 0:
        told += f"; none in {len(own)} means at most {100 * most_bad_runs(len(own), alpha):.0f} %"
    return RuleJudgement(verdict=verdict, told=told, p_value=p_value, rounds=min(len(own), len(other)))


def _as_ratio(found: RankResult) -> Interval | None:
    if found.interval is None:
        return None
    return found.interval.model_copy(update={"low": exp(found.interval.low), "high": exp(found.interval.high)})
