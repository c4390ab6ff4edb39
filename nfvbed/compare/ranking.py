"""The answer: which data plane forwards most at each traffic point, and whether that is certain.

Differences are judged against a baseline; with more than two variants the leader must also be ahead of every
other one, so here it is judged against each of them by the same rules. A survey has no verdicts: its answer is the
order, with those of which the ranges overlap the first's.
"""

from collections.abc import Sequence
from typing import Any, Literal

from nfvbed.compare.differences import judge_rows
from nfvbed.compare.scope import Scope, find_scope
from nfvbed.compare.statistics import Interval
from nfvbed.compare.summary import CellSummary
from nfvbed.compare.verdict import Judgement, Rules, Verdict
from nfvbed.records import Record


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
    close: tuple[CellSummary, ...] = ()
    """The others of them whose interval or range overlaps its own: what a survey leaves open."""
    surveyed: bool = False
    """Whether there are ranges and an order alone, and no verdicts."""
    verdicts: tuple[Judgement, ...] = ()
    """On the others, in their order; the first is `judgement`."""


def leaders(
    rows: Sequence[CellSummary], rules: Rules, rigs: dict[str, dict[str, Any]] | None = None
) -> tuple[Leader, ...]:
    """Find the leader of each traffic point, in the order of the rows; a rate that decides nothing is none."""
    points: dict[tuple[object, ...], list[CellSummary]] = {}
    for row in rows:
        if row.mrr is not None and not row.unranked:
            points.setdefault(row.point, []).append(row)
    found = (_leader(group, rules, rigs or {}) for group in points.values())
    return tuple(leader.model_copy(update={"alone": _is_alone(leader.row, rows)}) for leader in found)


def _is_alone(row: CellSummary, rows: Sequence[CellSummary]) -> bool:
    # A row that failed is a hole in the answer, not a variant that was never asked.
    return all(other.variant == row.variant for other in rows if other.point == row.point)


def _leader(group: list[CellSummary], rules: Rules, rigs: dict[str, dict[str, Any]]) -> Leader:
    ordered = sorted(group, key=lambda row: -row.mrr.median_pps if row.mrr else 0.0)
    best = ordered[0]
    others = [row for row in ordered[1:] if row.variant != best.variant]
    comparable = [row for row in others if find_scope(best, row, rigs).scope is not Scope.NOT_COMPARABLE]
    scopes = [find_scope(best, row, rigs) for row in comparable]
    judged = judge_rows([(best, row) for row in comparable], scopes, rules)
    scope = scopes[0] if scopes else None
    return Leader(
        topology=best.topology,
        vnf=best.vnf,
        frame_size=best.frame_size,
        row=best,
        runner_up=comparable[0] if comparable else None,
        judgement=judged[0] if judged else None,
        scope=scope.scope if scope else None,
        differences=scope.differences if scope else (),
        clear=bool(judged)
        and len(comparable) == len(others)
        and all(entry.verdict is Verdict.HIGHER for entry in judged),
        order=(best, *comparable),
        close=tuple(row for row in comparable if _overlap(best, row)),
        surveyed=rules.purpose == "survey",
        verdicts=judged,
    )


def _overlap(best: CellSummary, row: CellSummary) -> bool:
    """Whether the rates of two rows overlap; a rate without an interval may be anywhere."""
    sides: list[Interval | None] = [side.mrr.interval if side.mrr else None for side in (best, row)]
    high, low = sides
    if high is None or low is None:
        return True
    return low.high >= high.low or best.limited
