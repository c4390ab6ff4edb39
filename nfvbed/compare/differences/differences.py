"""Rows judged against a baseline: paired by round within a run, by a rank test on visits between runs."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal

from nfvbed.compare.differences.limits import bounds_of
from nfvbed.compare.differences.scope import Scope, ScopeFinding, find_scope
from nfvbed.compare.rows.summary import NOT_TESTED, CellSummary
from nfvbed.compare.rows.visits import pair
from nfvbed.compare.verdict import (
    MANY_COMPARISONS,
    Judgement,
    Pair,
    Rules,
    holm,
    judge,
    judge_unpaired,
    not_comparable,
)
from nfvbed.errors import UnknownNameError
from nfvbed.records import Record
from nfvbed.spec.experiment import BEST

Rigs = dict[str, dict[str, Any]]
"""Rig descriptions by hash."""


class Difference(Record):
    """One row against its baseline, in one metric."""

    metric: Literal["mrr"] = "mrr"
    run: str
    cell: str
    variant: str
    topology: str
    vnf: str = ""
    frame_size: int | Literal["imix"]
    baseline_run: str
    baseline_cell: str
    baseline_variant: str
    scope: ScopeFinding
    judgement: Judgement
    pairs: tuple[Pair, ...] = ()
    """All rounds that both sides have, in order; none between runs."""


def judge_rows(
    sides: Sequence[tuple[CellSummary, CellSummary]], scopes: Sequence[ScopeFinding], rules: Rules
) -> tuple[Judgement, ...]:
    """Return the judgements of one traffic point, corrected for being many.

    Args:
        sides: candidate and baseline of each comparison.
        scopes: one of each comparison.
    """
    number = sum(scope.scope is not Scope.NOT_COMPARABLE for scope in scopes)
    judged = [_judge(*side, scope, rules, number) for side, scope in zip(sides, scopes, strict=True)]
    return holm(judged, rules) if number > MANY_COMPARISONS else tuple(judged)


def pairs_of(row: CellSummary, other: CellSummary) -> tuple[Pair, ...]:
    """Return the rounds that two rows have in common; rows of different runs have none."""
    if row.mrr is None or other.mrr is None or row.run != other.run:
        return ()
    return pair(row.mrr.visits, other.mrr.visits)


def _judge(row: CellSummary, other: CellSummary, scope: ScopeFinding, rules: Rules, comparisons: int) -> Judgement:
    if scope.scope is Scope.NOT_COMPARABLE or row.mrr is None or other.mrr is None:
        return not_comparable(scope.reason)
    bounds = bounds_of(row, other, scope.scope)
    pairs = pairs_of(row, other)
    if pairs:
        return judge(pairs, rules, bounds, comparisons)
    return judge_unpaired(row.mrr.samples_pps, other.mrr.samples_pps, rules, bounds)


def choose_baseline(rows: Sequence[CellSummary], wanted: str | None) -> str:
    """Return the variant to judge against, or `best`; where none is wanted the first; empty: there are no rows.

    The first is one whose MRR was asked for, where there is any: nothing is judged against what VSPERF measured.

    Raises:
        UnknownNameError: the wanted one is in none of the runs.
    """
    variants = list(dict.fromkeys(row.variant for row in rows))
    if wanted == BEST:
        return BEST
    if wanted is not None and wanted not in variants:
        raise UnknownNameError(
            f"the baseline {wanted!r} is in none of these runs",
            observed=f"variants measured: {', '.join(variants) or 'none'}",
            fix="name one of them with --baseline",
        )
    asked = [row.variant for row in rows if row.reason != NOT_TESTED]
    return wanted or next(iter((*asked, *variants)), "")


def _baseline_row(row: CellSummary, rows: Sequence[CellSummary], baseline: str) -> CellSummary | None:
    """Find the row to judge against: of the same run where it has one, else of the first run that does.

    The baseline's own row in a later run is judged against its row in the first one (A/A, or a trend). With `best` it
    is the highest measured rate of the row's own run; one that decides nothing (an emulated guest's) is none.
    """
    if baseline == BEST:
        same = [other for other in rows if (other.run, other.point) == (row.run, row.point) and not other.unranked]
        best = max(same, key=lambda other: other.mrr.median_pps if other.mrr else 0.0, default=None)
        return None if best is None or best == row or best.mrr is None else best
    fitting = [other for other in rows if other.variant == baseline and other.point == row.point]
    if not fitting or row == fitting[0]:
        return None
    own = [other for other in fitting if other.run == row.run]
    return own[0] if own and own[0] != row else fitting[0]


def find_differences(rows: Sequence[CellSummary], baseline: str, rigs: Rigs, rules: Rules) -> tuple[Difference, ...]:
    """Return the difference of every row to its baseline, in order of rows; the baseline's own rows have none."""
    groups: dict[tuple[object, ...], list[tuple[int, CellSummary, CellSummary]]] = {}
    for place, row in enumerate(rows):
        other = _baseline_row(row, rows, baseline)
        if other is not None:
            groups.setdefault((row.run, row.point), []).append((place, row, other))
    found = {place: entry for group in groups.values() for place, entry in _of_point(group, rigs, rules)}
    return tuple(found[place] for place in sorted(found))


def find_successive(
    rows: Sequence[CellSummary], order: Sequence[str], rigs: Rigs, rules: Rules
) -> tuple[Difference, ...]:
    """Return of each run and traffic point the difference of each variant to the one before it.

    One that was not measured is passed over: the next is judged against the last that was.

    Args:
        order: variants, in the order in which they came.
    """
    places = {variant: place for place, variant in enumerate(order)}
    points: dict[tuple[object, ...], list[CellSummary]] = {}
    for row in rows:
        if row.variant in places and row.mrr is not None:
            points.setdefault((row.run, row.point), []).append(row)
    found: list[Difference] = []
    for measured in points.values():
        measured.sort(key=lambda row: places[row.variant])
        sides = [(place, new, old) for place, (old, new) in enumerate(pairwise(measured))]
        found += [entry for _, entry in _of_point(sides, rigs, rules)]
    return tuple(found)


def _of_point(
    group: Sequence[tuple[int, CellSummary, CellSummary]], rigs: Rigs, rules: Rules
) -> Iterable[tuple[int, Difference]]:
    sides = [(row, other) for _, row, other in group]
    scopes = [find_scope(row, other, rigs) for row, other in sides]
    judged = judge_rows(sides, scopes, rules)
    for (place, row, other), scope, judgement in zip(group, scopes, judged, strict=True):
        yield (
            place,
            Difference(
                run=row.run,
                cell=row.cell,
                variant=row.variant,
                topology=row.topology,
                vnf=row.vnf,
                frame_size=row.frame_size,
                baseline_run=other.run,
                baseline_cell=other.cell,
                baseline_variant=other.variant,
                scope=scope,
                judgement=judgement,
                pairs=pairs_of(row, other),
            ),
        )
