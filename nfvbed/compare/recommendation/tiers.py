"""Variants in order of one figure at one traffic point, as far as verdicts hold.

Two variants are in different places only where every one of the upper place is shown to be ahead of every one of the
lower. Who is undecided against one of a place shares it: an order among those would be the scatter's.
"""

from collections.abc import Mapping, Sequence

from nfvbed.compare.differences.differences import judge_rows
from nfvbed.compare.differences.limits import bounds_of
from nfvbed.compare.differences.ranking import FEWEST_ROUNDS
from nfvbed.compare.differences.scope import Scope, ScopeFinding, find_scope
from nfvbed.compare.recommendation.candidates import Candidate
from nfvbed.compare.recommendation.needs import Measure
from nfvbed.compare.rows.visits import log_ratio
from nfvbed.compare.verdict import (
    MANY_COMPARISONS,
    Judgement,
    Pair,
    Rules,
    Verdict,
    holm,
    judge,
    judge_unpaired,
    not_comparable,
)
from nfvbed.records import Record


class PairFinding(Record):
    """Two variants at one traffic point."""

    candidate: str
    baseline: str
    runs: tuple[str, ...]
    """The run that both are of; two where they have none in common."""
    judgement: Judgement
    scope: ScopeFinding
    ahead: str = ""
    """The variant that is shown to be better; empty: neither is."""
    by_ranges: bool = False
    """In a survey: by ranges that do not overlap, without a verdict."""


def judge_pairs(by_variant: Mapping[str, Sequence[Candidate]], measure: Measure) -> tuple[PairFinding, ...]:
    """Return the judgement of each variant against each other one.

    A pair is taken from the newest run that has both, whose rounds are paired; a run that compares comes before one
    that surveys. Without a common run the newest of each are judged as unpaired, where the figure is not bound to a
    common load.

    Args:
        by_variant: a variant's candidates at one traffic point, the newest first; at least one each.
    """
    names = list(by_variant)
    chosen = {
        (one, other): _sides(by_variant[one], by_variant[other])
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    }
    found: dict[tuple[str, str], PairFinding] = {}
    families: dict[str, list[tuple[str, str]]] = {}
    for key, (own, other) in chosen.items():
        families.setdefault(own.row.run if own.row.run == other.row.run else "", []).append(key)
    for run, keys in families.items():
        sides = [chosen[key] for key in keys]
        judged = _judge_family(sides, measure) if run else [_judge_apart(*pair, measure) for pair in sides]
        found |= {key: _finding(pair, entry, measure) for key, pair, entry in zip(keys, sides, judged, strict=True)}
    return tuple(found[key] for key in chosen)


def place(values: Mapping[str, float], pairs: Sequence[PairFinding], measure: Measure) -> tuple[tuple[str, ...], ...]:
    """Return the variants by place, the best first; those of one place are not distinguished."""
    ordered = sorted(values, key=lambda name: values[name] if measure.lower_is_better else -values[name])
    beaten = {(pair.ahead, pair.baseline if pair.ahead == pair.candidate else pair.candidate) for pair in pairs}
    places: list[tuple[str, ...]] = []
    begin = 0
    for end in range(1, len(ordered) + 1):
        if all((upper, lower) in beaten for upper in ordered[begin:end] for lower in ordered[end:]):
            places.append(tuple(ordered[begin:end]))
            begin = end
    return tuple(places)


def _sides(own: Sequence[Candidate], other: Sequence[Candidate]) -> tuple[Candidate, Candidate]:
    runs = {candidate.row.run: candidate for candidate in other}
    common = [(candidate, runs[candidate.row.run]) for candidate in own if candidate.row.run in runs]
    common.sort(key=lambda pair: pair[0].rules.purpose == "survey")
    return common[0] if common else (own[0], other[0])


def _scope(own: Candidate, other: Candidate) -> ScopeFinding:
    return find_scope(own.row, other.row, own.rigs | other.rigs)


def _judge_family(sides: Sequence[tuple[Candidate, Candidate]], measure: Measure) -> Sequence[Judgement]:
    """Return the judgements on all pairs of one run, made together: many are corrected for being many."""
    scopes = [_scope(*pair) for pair in sides]
    rules = sides[0][0].rules
    if not measure.at_common_load:
        return judge_rows([(own.row, other.row) for own, other in sides], scopes, rules)
    number = sum(scope.scope is not Scope.NOT_COMPARABLE for scope in scopes)
    judged = [_judge_figures(*pair, scope, rules, number) for pair, scope in zip(sides, scopes, strict=True)]
    return holm(judged, rules) if number > MANY_COMPARISONS else judged


def _judge_figures(own: Candidate, other: Candidate, scope: ScopeFinding, rules: Rules, number: int) -> Judgement:
    if scope.scope is Scope.NOT_COMPARABLE:
        return not_comparable(scope.reason)
    theirs = other.figures.by_round
    pairs = [
        Pair(round=number, log_ratio=log_ratio(value, theirs[number]))
        for number, value in own.figures.by_round.items()
        if number in theirs
    ]
    return judge(pairs, rules, comparisons=number)


def _judge_apart(own: Candidate, other: Candidate, measure: Measure) -> Judgement:
    scope = _scope(own, other)
    if scope.scope is Scope.NOT_COMPARABLE or own.row.mrr is None or other.row.mrr is None:
        return not_comparable(scope.reason)
    if measure.at_common_load:
        return not_comparable("they have no run, and so no load, in common")
    rules = own.rules.model_copy(update={"purpose": "compare"})
    bounds = bounds_of(own.row, other.row, scope.scope)
    return judge_unpaired(own.row.mrr.samples_pps, other.row.mrr.samples_pps, rules, bounds)


def _finding(sides: tuple[Candidate, Candidate], judged: Judgement, measure: Measure) -> PairFinding:
    own, other = sides
    ahead, by_ranges = "", False
    if judged.verdict in (Verdict.HIGHER, Verdict.LOWER) and not judged.within_margin:
        better = (judged.verdict is Verdict.LOWER) == measure.lower_is_better
        ahead = own.row.variant if better else other.row.variant
    elif judged.verdict is Verdict.UNDECIDED and own.rules.purpose == "survey" and own.row.run == other.row.run:
        ahead = _ahead_by_range(own, other, measure)
        by_ranges = bool(ahead)
    return PairFinding(
        candidate=own.row.variant,
        baseline=other.row.variant,
        runs=tuple(dict.fromkeys((own.row.run, other.row.run))),
        judgement=judged,
        scope=_scope(own, other),
        ahead=ahead,
        by_ranges=by_ranges,
    )


def _ahead_by_range(own: Candidate, other: Candidate, measure: Measure) -> str:
    """Return which of two of a survey lies above the other with its whole range; a limited rate may be higher."""
    bounds = bounds_of(own.row, other.row, _scope(own, other).scope)
    limited = {own.row.variant: bounds.candidate, other.row.variant: bounds.baseline}
    for upper, lower in ((own, other), (other, own)):
        high, low = upper.interval, lower.interval
        if high is None or low is None or min(upper.rounds, lower.rounds) < FEWEST_ROUNDS:
            return ""
        if high.low > low.high:
            better = lower if measure.lower_is_better else upper
            return "" if limited[lower.row.variant] and not measure.at_common_load else better.row.variant
    return ""
