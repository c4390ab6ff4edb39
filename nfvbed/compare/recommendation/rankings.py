"""The order of variants at one traffic point, with what each place rests on."""

from collections.abc import Iterable, Mapping
from typing import Final

from nfvbed.compare.differences.dispersion import SpreadJudgement, judge_spread
from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.recommendation.candidates import Candidate, Point
from nfvbed.compare.recommendation.costs import HostCost
from nfvbed.compare.recommendation.needs import Measure
from nfvbed.compare.recommendation.tiers import PairFinding, judge_pairs, place
from nfvbed.compare.samples.statistics import Interval
from nfvbed.compare.verdict import Bound, Rules, Verdict
from nfvbed.records import QualityWarning, Record
from nfvbed.units import FrameSize

LAST_LOOK: Final = Rules().looks[-1]
"""A verdict of so many rounds that is undecided stays so with a few more."""


class RankedVariant(Record):
    """A variant with its place, its figure, and what bounds that."""

    place: int
    """From 1; those of one place are not distinguished."""
    variant: str
    value: float
    """In the measure's unit: the median over the rounds."""
    interval: Interval | None
    rounds: int
    at_least: bool
    """Whether it is a rate that something else bounded: a lower bound."""
    load_pps: float | None
    """At which a measure of a given load was taken."""
    run: str
    cell: str
    started_at: str
    cost: HostCost
    limits: tuple[QualityWarning, ...] = ()
    """What bounded the rate."""
    warnings: tuple[QualityWarning, ...] = ()


class ExcludedVariant(Record):
    """A variant that has no place."""

    variant: str
    reason: str


class PairSpread(Record):
    """Whether one variant of two is steadier, of a run that compared them."""

    candidate: str
    baseline: str
    judgement: SpreadJudgement


class Ranking(Record):
    """The ranking of the variants at one traffic point."""

    topology: str
    vnf: str
    frame_size: FrameSize
    flows: int
    bidirectional: bool
    ranked: tuple[RankedVariant, ...]
    """By place, then by value."""
    pairs: tuple[PairFinding, ...]
    left_out: tuple[ExcludedVariant, ...] = ()
    spreads: tuple[PairSpread, ...] = ()
    """Spreads of each pair of one run, where rates are what is ranked."""

    @property
    def first(self) -> tuple[str, ...]:
        """The variants of the first place."""
        return tuple(entry.variant for entry in self.ranked if entry.place == 1)

    @property
    def is_clear(self) -> bool:
        """Whether one variant is shown to be ahead of all others."""
        return len(self.first) == 1 < len(self.ranked)

    @property
    def is_shared_by_equals(self) -> bool:
        """Whether those of the first place are shown to be the same, or to differ by less than the margin."""
        among = self._among_the_first()
        alike = (pair.judgement.verdict is Verdict.SAME or pair.judgement.within_margin for pair in among)
        return bool(among) and all(alike)

    @property
    def lacks_rounds(self) -> bool:
        """Whether the first place is shared for want of rounds: not by equals, and not by what limits bound."""
        return any(
            not pair.ahead
            and (pair.judgement.unpaired or pair.judgement.look < LAST_LOOK)
            and pair.judgement.verdict is Verdict.UNDECIDED
            and pair.judgement.bound is Bound.EXACT
            for pair in self._among_the_first()
        )

    def _among_the_first(self) -> tuple[PairFinding, ...]:
        first = self.first
        return tuple(pair for pair in self.pairs if pair.candidate in first and pair.baseline in first)

    def pair(self, one: str, other: str) -> PairFinding | None:
        """Find what is known of two variants."""
        return next((pair for pair in self.pairs if {pair.candidate, pair.baseline} == {one, other}), None)


def rank(point: Point, measure: Measure) -> Ranking:
    """Return the ranking of a traffic point; variants that cannot be compared with most of the others have no place."""
    topology, vnf, frame_size, flows, bidirectional = point.traffic
    pairs = judge_pairs(point.by_variant, measure)
    apart = _apart(point.by_variant, pairs)
    kept = {name: found for name, found in point.by_variant.items() if name not in apart}
    # Without the strangers their comparisons are no part of the family that is corrected.
    pairs = judge_pairs(kept, measure) if apart else pairs
    places = place({name: found[0].value for name, found in kept.items()}, pairs, measure)
    ranked = [_ranked(number, kept[name][0]) for number, names in enumerate(places, start=1) for name in names]
    left_out = point.left_out | apart
    return Ranking(
        topology=topology,
        vnf=vnf,
        frame_size=frame_size,
        flows=flows,
        bidirectional=bidirectional,
        ranked=tuple(ranked),
        pairs=pairs,
        left_out=tuple(ExcludedVariant(variant=name, reason=reason) for name, reason in left_out.items()),
        spreads=() if measure.at_common_load else tuple(_spreads(kept, pairs)),
    )


def _apart(by_variant: Mapping[str, object], pairs: Iterable[PairFinding]) -> dict[str, str]:
    """Return the variants to leave out until all others can be compared, each with the reason."""
    strange = [pair for pair in pairs if pair.scope.scope is Scope.NOT_COMPARABLE or _has_no_common_load(pair)]
    found: dict[str, str] = {}
    order = list(by_variant)
    while strange:
        names = [name for pair in strange for name in (pair.candidate, pair.baseline)]
        # Of two that are as strange the later one goes: it is not in the newest run, or later in it.
        worst = max(dict.fromkeys(names), key=lambda name: (names.count(name), order.index(name)))
        reason = next(pair.judgement.reason for pair in strange if worst in (pair.candidate, pair.baseline))
        found[worst] = f"not comparable with the others: {reason}"
        strange = [pair for pair in strange if worst not in (pair.candidate, pair.baseline)]
    return found


def _has_no_common_load(pair: PairFinding) -> bool:
    return len(pair.runs) > 1 and pair.judgement.verdict is Verdict.NOT_COMPARABLE


def _ranked(number: int, candidate: Candidate) -> RankedVariant:
    row = candidate.row
    return RankedVariant(
        place=number,
        variant=row.variant,
        value=candidate.value,
        interval=candidate.interval,
        rounds=candidate.rounds,
        at_least=row.limited and not candidate.figures.by_round,
        load_pps=candidate.figures.load_pps,
        run=row.run,
        cell=row.cell,
        started_at=candidate.started_at,
        cost=candidate.cost,
        limits=tuple(entry.kind for entry in row.limits),
        warnings=tuple(dict.fromkeys(entry.kind for entry in row.warnings)),
    )


def _spreads(kept: Mapping[str, list[Candidate]], pairs: tuple[PairFinding, ...]) -> Iterable[PairSpread]:
    for pair in pairs:
        sides = [next(c for c in kept[name] if c.row.run in pair.runs) for name in (pair.candidate, pair.baseline)]
        own, other = sides
        if len(pair.runs) == 1 and own.row.mrr and other.row.mrr:
            found = judge_spread(own.row.mrr.visits, other.row.mrr.visits, own.rules, len(pairs))
            yield PairSpread(candidate=pair.candidate, baseline=pair.baseline, judgement=found)
