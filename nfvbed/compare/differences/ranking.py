"""The answer: which data plane forwards most at each traffic point, and whether that is certain.

Differences are judged against a baseline; with more than two variants the leader must also be ahead of every
other one, so here it is judged against each of them by the same rules. A survey has no verdicts: its answer is the
order, with those of which the ranges overlap the first's.

Whatever is said of an order comes from `order_of`, which has nothing but the rates, intervals and bounds that are shown
beside the rows: who is the baseline, and where a row stands in a table, has no part in it.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, Literal

from nfvbed.compare.differences.differences import Rigs, judge_rows
from nfvbed.compare.differences.limits import bounds_of
from nfvbed.compare.differences.scope import Scope, ScopeFinding, find_scope
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.verdict import Judgement, Rules, Verdict
from nfvbed.records import Record

FEWEST_ROUNDS: Final = 3
"""Rounds of each side that are needed for ranges to be taken for an order where they do not overlap."""


class Standing(StrEnum):
    """How a rate stands to the highest one of its traffic point."""

    FIRST = "first"
    """Its median is the highest."""
    OVERLAPS = "overlaps"
    """Both intervals, or ranges, have rates in common."""
    MAY_BE_HIGHER = "may-be-higher"
    """Its median lies below, and is a lower bound."""
    FEW_ROUNDS = "few-rounds"
    """One side has too few for a range to tell anything."""
    BELOW = "below"
    EMULATED = "emulated"
    """Its guests were emulated: the rate means nothing."""
    NOT_COMPARED = "not-compared"
    """Nothing can be claimed of both together."""


OPEN: Final = (Standing.OVERLAPS, Standing.MAY_BE_HIGHER, Standing.FEW_ROUNDS)
"""What a survey does not decide."""


class RankedRow(Record):
    """A measured row in the order of its traffic point."""

    run: str
    cell: str
    standing: Standing


class Leader(Record):
    """The highest rate at one traffic point."""

    topology: str
    vnf: str = ""
    frame_size: int | Literal["imix"]
    row: CellSummary
    runner_up: CellSummary | None
    """The next variant that it can be compared with; None when there is none."""
    judgement: Judgement | None
    scope: Scope | None
    differences: tuple[str, ...] = ()
    """What differs beside the variant, as the scope lists it."""
    alone: bool = False
    """Whether no other variant was meant to be measured there: there is nothing to be ahead of."""
    clear: bool
    """Whether it is judged higher than every other variant."""
    order: tuple[CellSummary, ...] = ()
    """All rows of the point that it can be compared with, the highest first, itself among them."""
    standings: tuple[Standing, ...] = ()
    """Standings of the rows in `order`."""
    surveyed: bool = False
    """Whether there are ranges and an order alone, and no verdicts."""
    verdicts: tuple[Judgement, ...] = ()
    """On the others, in their order; the first is `judgement`."""

    @property
    def close(self) -> tuple[CellSummary, ...]:
        """The others that a survey does not tell from it."""
        return self.standing(*OPEN)

    def standing(self, *wanted: Standing) -> tuple[CellSummary, ...]:
        """Return the rows of `order` that stand so."""
        return tuple(row for row, found in zip(self.order, self.standings, strict=True) if found in wanted)


def order_of(rows: Sequence[CellSummary], rigs: Rigs | None = None) -> tuple[RankedRow, ...]:
    """Return the measured rows by rank at each traffic point: the highest rate first, those that decide nothing last.

    Args:
        rows: those of any traffic points; points come in their order.
        rigs: rig descriptions by hash.
    """
    return tuple(
        RankedRow(run=row.run, cell=row.cell, standing=standing)
        for group in _by_point(rows).values()
        for row, standing in _in_order(group, rigs or {})
    )


def _by_point(rows: Iterable[CellSummary]) -> dict[tuple[object, ...], list[CellSummary]]:
    points: dict[tuple[object, ...], list[CellSummary]] = {}
    for row in rows:
        if row.mrr is not None:
            points.setdefault(row.point, []).append(row)
    return points


def _in_order(group: Iterable[CellSummary], rigs: Rigs) -> list[tuple[CellSummary, Standing]]:
    ordered = sorted(group, key=lambda row: (bool(row.unranked), -row.mrr.median_pps if row.mrr else 0.0))
    return [(row, _standing(row, ordered[0], rigs)) for row in ordered]


def _standing(row: CellSummary, first: CellSummary, rigs: Rigs) -> Standing:
    if row.emulated:
        return Standing.EMULATED
    if row.unranked:
        return Standing.NOT_COMPARED
    if row is first:
        return Standing.FIRST
    scope = find_scope(row, first, rigs)
    if scope.scope is Scope.NOT_COMPARABLE or row.mrr is None or first.mrr is None:
        return Standing.NOT_COMPARED
    own, highest = row.mrr.interval, first.mrr.interval
    if own is None or highest is None or min(row.mrr.rounds, first.mrr.rounds) < FEWEST_ROUNDS:
        return Standing.FEW_ROUNDS
    if own.low <= highest.high and highest.low <= own.high:
        return Standing.OVERLAPS
    return Standing.MAY_BE_HIGHER if bounds_of(row, first, scope.scope).candidate else Standing.BELOW


def leaders(
    rows: Sequence[CellSummary], rules: Rules, rigs: dict[str, dict[str, Any]] | None = None
) -> tuple[Leader, ...]:
    """Find the leader of each traffic point, in the order of the rows; a rate that decides nothing is none."""
    points = _by_point(row for row in rows if not row.unranked)
    found = (_leader(group, rules, rigs or {}) for group in points.values())
    return tuple(leader.model_copy(update={"alone": _is_alone(leader.row, rows)}) for leader in found)


def _is_alone(row: CellSummary, rows: Sequence[CellSummary]) -> bool:
    # A row that failed is a hole in the answer, not a variant that was never asked.
    return all(other.variant == row.variant for other in rows if other.point == row.point)


def _leader(group: Iterable[CellSummary], rules: Rules, rigs: Rigs) -> Leader:
    ordered = _in_order(group, rigs)
    best = ordered[0][0]
    others = [(row, standing) for row, standing in ordered if row.variant != best.variant]
    comparable = [(row, standing) for row, standing in others if standing is not Standing.NOT_COMPARED]
    rows = [row for row, _ in comparable]
    scopes: list[ScopeFinding] = [find_scope(best, row, rigs) for row in rows]
    judged = judge_rows([(best, row) for row in rows], scopes, rules)
    scope = scopes[0] if scopes else None
    return Leader(
        topology=best.topology,
        vnf=best.vnf,
        frame_size=best.frame_size,
        row=best,
        runner_up=rows[0] if rows else None,
        judgement=judged[0] if judged else None,
        scope=scope.scope if scope else None,
        differences=scope.differences if scope else (),
        clear=bool(judged) and len(rows) == len(others) and all(entry.verdict is Verdict.HIGHER for entry in judged),
        order=(best, *rows),
        standings=(Standing.FIRST, *(standing for _, standing in comparable)),
        surveyed=rules.purpose == "survey",
        verdicts=judged,
    )
