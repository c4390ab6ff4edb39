"""The rows of the screen: one line for each variant at each traffic point, below a line that names the point."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import NOT_TESTED, CellSummary
from nfvbed.compare.verdict import Verdict
from nfvbed.report import wording
from nfvbed.report.marks import Marks, key_of
from nfvbed.report.pacedload import common_load, load_of
from nfvbed.report.terminal import screen_model as model
from nfvbed.report.terminal.columns import Banner, Cell, Column, Line, Row
from nfvbed.report.terminal.verdict_colors import COLORS

TRAFFIC: Final = Column("traffic")
VARIANT: Final = Column("variant")
RUN: Final = Column("run")
RATE: Final = Column("Mpps", right=True)
RATIO: Final = Column("ratio", right=True, dropped=6)
LOAD: Final = Column("at Mpps", right=True, dropped=4)
"""The load of latency and missing frames, where it is not common; it goes when the last of them does."""
P50: Final = Column("P50 µs", right=True, dropped=1)
P99: Final = Column("P99 µs", right=True, dropped=3)
MISSING: Final = Column("missing", right=True, dropped=4)
SEE: Final = Column("see")


@dataclass(frozen=True)
class Group:
    """A traffic point: its name, and its rows in order."""

    name: str
    about: str
    """What holds for all its rows; shown in a line of its own where the name has one."""
    rows: tuple[Row | Banner, ...]

    def lines(self, most: int) -> list[Line]:
        """Return the point's line and at most so many rows; what is not shown is counted in the point's line."""
        left = len(self.rows) - most
        about = "; ".join(part for part in (self.about, f"{left} more: --details" if left > 0 else "") if part)
        return [Banner(f"{self.name} ({about})" if about else self.name, "bold"), *self.rows[:most]]

    def lines_with_name(self, most: int) -> list[Line]:
        """Return at most so many rows, the first with the point's name before it, the second with what is not shown."""
        left = len(self.rows) - most
        names = [self.name, f"  {left} more" if left > 0 else ""]
        return [
            Row((Cell(name, "dim" if place else "bold"), *row.cells)) if isinstance(row, Row) else row
            for place, (row, name) in enumerate(zip(self.rows[:most], [*names, *[""] * most], strict=False))
        ]


def columns(comparison: Comparison) -> tuple[Column, ...]:
    """Return the columns, the widest table first; what does not fit is dropped when it is laid out."""
    run = (RUN,) if len(comparison.runs) > 1 else ()
    if model.in_order(comparison):
        return (TRAFFIC, *_columns(comparison, run))
    return _columns(comparison, run)


def _columns(comparison: Comparison, run: tuple[Column, ...]) -> tuple[Column, ...]:
    interval = Column(model.interval_name(comparison), right=True, dropped=5)
    given = (*((LOAD,) if model.has_loads(comparison) else ()), P50, P99, MISSING)
    if model.is_survey(comparison):
        return (VARIANT, *run, RATE, interval, Column("order"), *given, SEE)
    of_ratio = Column(model.ratio_interval_name(comparison), right=True, dropped=2)
    return (VARIANT, *run, RATE, interval, RATIO, of_ratio, Column("verdict"), *given, SEE)


def groups(comparison: Comparison, marks: Marks) -> list[Group]:
    """Return the traffic points that have rows to show, in the order in which they were declared."""
    found = []
    for point in dict.fromkeys(row.point for row in comparison.rows):
        rows = comparison.ranked([row for row in comparison.rows if row.point == point])
        measured = model.in_order(comparison)
        shown = [row for row in rows if row.mrr is not None or not (measured or row.reason == NOT_TESTED)]
        if shown:
            lines = tuple(_line(comparison, row, marks) for row in shown)
            found.append(Group(wording.row_point(rows[0]), _about(comparison, shown), lines))
    return found


def _about(comparison: Comparison, rows: Sequence[CellSummary]) -> str:
    """Return what the differences of a point's rows allow to claim, and the load that they have in common."""
    scopes = dict.fromkeys(wording.scope(comparison.difference(row)) for row in rows)
    parts = [] if model.is_survey(comparison) else [", ".join(scope for scope in scopes if scope)]
    if not model.has_loads(comparison) and (load := common_load(rows)):
        parts.append(f"latency and missing frames at {load} Mpps")
    return "; ".join(part for part in parts if part)


def _line(comparison: Comparison, row: CellSummary, marks: Marks) -> Row | Banner:
    if row.mrr is None:
        return Banner(f"{row.variant}  {wording.status(row)}", "magenta", indent=2)
    run = (Cell(wording.short_run(row.run), "dim"),) if len(comparison.runs) > 1 else ()
    order = (Cell(wording.standing(comparison.standing(row))),)
    judged = order if model.is_survey(comparison) else _judged(comparison, row)
    latency = model.latency(row)
    return Row(
        (
            Cell(row.variant, "bold"),
            *run,
            Cell(wording.bound(row) + wording.mpps(row.mrr.median_pps), "" if row.unranked else "bold"),
            Cell(model.rate_interval(comparison, row), "dim"),
            *judged,
            *((Cell(load_of(row), "dim"),) if model.has_loads(comparison) else ()),
            Cell(wording.microseconds(latency.p50_ns) if latency else wording.NOTHING),
            Cell(wording.microseconds(latency.p99_ns) if latency else wording.NOTHING),
            Cell(wording.loss(model.missing(row), at_least=model.is_at_least(row))),
            Cell(marks.of(key_of(row)), "yellow"),
        )
    )


def _judged(comparison: Comparison, row: CellSummary) -> tuple[Cell, Cell, Cell]:
    found = comparison.difference(row)
    if found is None:
        return Cell(""), Cell(""), Cell(wording.own_verdict(comparison.baseline, row), "dim")
    judged = found.judgement
    known = judged.verdict is not Verdict.NOT_COMPARABLE
    return (
        Cell(wording.times(judged) if known else wording.NOTHING, "bold"),
        Cell(model.ratio_interval(comparison, judged) if known else wording.NOTHING, "dim"),
        Cell(wording.short_verdict(judged), COLORS[judged.verdict]),
    )
