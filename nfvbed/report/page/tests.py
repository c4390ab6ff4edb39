"""The page's section of tests beside the MRR: throughput with bounds and goals, loads with loss and latency."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredLoad, MeasuredTest
from nfvbed.records import Status
from nfvbed.report import loadtables, throughput, wording
from nfvbed.report.directions import latency_lines
from nfvbed.report.irregular import ADVICE
from nfvbed.report.measured import MeasuredLine, MeasuredTable, measured_tables
from nfvbed.report.page.comparison import simulated_mark
from nfvbed.report.page.values import Cell, Notice, Table

THROUGHPUT_HEADINGS: Final = (
    "Variant", "Traffic", "Search", "Goal", "Class", "Throughput, Mpps", "Lower and upper bound, Mpps", "Regular",
    "Warnings",
)  # fmt: skip
LOAD_HEADINGS: Final = (
    "Variant", "Traffic", "Test", "Class", "Intended load, Mpps", "Of", "Forwarded, Mpps", "Missing frames",
    *wording.LATENCY_HEADINGS, "Warnings",
)  # fmt: skip
NAMING: Final = 4
"""Columns that say what was tested, before those of the numbers."""
FROM_HEADING: Final = "From, s"
"""When an interval of a soak began; the column is there where there is a soak."""
DIRECTION_HEADINGS: Final = (
    "Variant", "Traffic", "Test", "Load", "Direction", *wording.LATENCY_HEADINGS, "Warnings",
)  # fmt: skip

Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Searches:
    """Throughput searches, and why results are irregular."""

    sentence: str
    table: Table
    lines: tuple[str, ...]
    """What the goals ask, what each search does not count, and what it conforms to."""
    reasons: tuple[Notice, ...]


@dataclass(frozen=True)
class NotedTable:
    """A table with the sentences below it; None: these are all."""

    table: Table | None
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Tests:
    """The section."""

    searches: Searches | None
    tables: tuple[NotedTable, ...]
    advice: tuple[Notice, ...]
    """On warnings that no row of the comparison carries."""


def tests_section(comparison: Comparison) -> Tests | None:
    """Return the section; nothing where the MRR was the only test."""
    of_loads = [test for test in comparison.tests if test.result.kind.has_loads]
    at_loads = [test for test in of_loads if test.shown]
    apart = loadtables.apart_lines(of_loads)
    measured = (_measured(comparison, found) for found in measured_tables(comparison))
    tables = (*_at_loads(comparison, at_loads), *((NotedTable(None, apart),) if apart else ()), *measured)
    advice = tuple(
        Notice(kind.value, f"{advice.meaning} {advice.remedy}")
        for kind, advice in throughput.further_advice(comparison)
    )
    found = Tests(_searches(comparison), tables, advice)
    return found if found.searches or tables or advice else None


def _table(comparison: Comparison, caption: str, headings: Iterable[str], rows: Iterable[Row]) -> Table:
    return Table(caption, tuple(Cell(text) for text in headings), tuple(rows), mark=simulated_mark(comparison))


def _searches(comparison: Comparison) -> Searches | None:
    rows = throughput.throughput_rows(comparison)
    if not rows:
        return None
    title = "Throughput searches, both directions together"
    table = _table(comparison, title, THROUGHPUT_HEADINGS, (_search(row) for row in rows))
    lines = (*throughput.goal_lines(rows), *throughput.exclusions(rows), *throughput.conformity(rows))
    return Searches(throughput.SENTENCE, table, lines, tuple(_reasons(rows)))


def _search(row: throughput.ThroughputRow) -> Row:
    spread = f"{wording.mpps(row.spread_pps[0])} to {wording.mpps(row.spread_pps[1])}" if row.spread_pps else None
    return (
        Cell(row.variant),
        Cell(row.point),
        Cell(row.preset, "limits"),
        Cell(row.goal.name if row.goal else wording.NOTHING),
        Cell(row.placement_class),
        Cell(throughput.headline(row), "n", tone="" if row.throughput_pps is not None else "warning", below=spread),
        Cell(throughput.bounds(row), "n"),
        Cell(f"{row.regular} of {row.repetitions}", "n"),
        Cell(throughput.warnings_in_a_line(row.warnings), "limits"),
    )


def _reasons(rows: tuple[throughput.ThroughputRow, ...]) -> Iterable[Notice]:
    for reason in throughput.reasons(rows):
        texts = dict.fromkeys(
            f"{row.variant}, {row.point}, {row.goal.name if row.goal else ''}: {text}"
            for row in rows
            for found, text in row.irregular
            if found is reason
        )
        advice = ADVICE[reason]
        yield Notice(reason.value, "; ".join(texts), advice=f"{advice.meaning} {advice.remedy}")


def _at_loads(comparison: Comparison, tests: list[MeasuredTest]) -> Iterable[NotedTable]:
    """Yield the tests at given loads; and for tests of latency that of each direction, and what the last column is."""
    if not tests:
        return
    timed = any(load.from_s is not None for test in tests for load in test.loads)
    headings = (*LOAD_HEADINGS[:NAMING], *((FROM_HEADING,) if timed else ()), *LOAD_HEADINGS[NAMING:])
    rows = (row for test in tests for row in _rows(test, timed=timed))
    table = _table(comparison, "Tests at given loads, both directions together", headings, rows)
    said = (
        *loadtables.bound_lines(comparison, tests),
        *loadtables.due_lines(tests),
        *loadtables.reason_lines(tests),
    )
    yield NotedTable(table, said)
    if any(load.latency for test in tests for load in test.loads):
        tail = loadtables.tail_lines((test, test.loads) for test in tests)
        yield NotedTable(_by_direction(comparison, tests), (wording.LATENCY_SENTENCE, *tail))


def _rows(test: MeasuredTest, *, timed: bool) -> Iterable[Row]:
    names = (test.variant, wording.row_point(test), test.result.test, test.placement_class or wording.NOTHING)
    first = tuple(Cell(text, kind) for text, kind in zip(names, ("", "point", "", ""), strict=True))
    if test.result.status is not Status.OK:
        text = f"{test.result.status.value}: {test.result.reason}"
        yield (*first, Cell(text, tone="warning", span=len(LOAD_HEADINGS) - NAMING + timed))
        return
    for load in test.loads:
        yield (*first, *_load(test, load, timed=timed))


def _load(test: MeasuredTest, load: MeasuredLoad, *, timed: bool) -> Row:
    of = loadtables.part(test, load) or wording.NOTHING
    rates = (wording.mpps(load.point.intended_load_pps), of, wording.mpps(load.point.forwarded_rate_pps))
    shown = (*rates, wording.loss(load.missing_ratio, at_least=load.at_least))
    numbers = (*((loadtables.start(load),) if timed else ()), *shown, *wording.latency_columns(load.latency))
    return (
        *(Cell(text, "n") for text in numbers),
        Cell(throughput.warnings_in_a_line(test.warnings_at(load)), "limits"),
    )


def _by_direction(comparison: Comparison, tests: list[MeasuredTest]) -> Table | None:
    rows = [
        (
            Cell(line.variant),
            Cell(line.point, "point"),
            Cell(line.test),
            Cell(line.load, "n"),
            Cell(line.direction),
            *(Cell(text, "n") for text in line.columns),
            Cell(throughput.warnings_in_a_line(line.warnings), "limits"),
        )
        for line in latency_lines(tests)
    ]
    return _table(comparison, "Latency by direction", DIRECTION_HEADINGS, rows) if rows else None


def _measured(comparison: Comparison, found: MeasuredTable) -> NotedTable:
    headings = ("Variant", "Traffic", "Test", "Class", "Condition", *found.names, "n", "Warnings")
    rows = (_measured_row(found, line) for line in found.lines)
    return NotedTable(_table(comparison, f"Tests of kind {found.kind.value}", headings, rows), tuple(found.notes))


def _measured_row(found: MeasuredTable, line: MeasuredLine) -> Row:
    first = (Cell(line.variant), Cell(line.point, "point"), Cell(line.test), Cell(line.placement_class))
    if not line.label:
        return (*first, Cell(line.reason, tone="warning", span=len(found.names) + 3))
    return (
        *first,
        Cell(line.label, below=line.reason),
        *(_quantity(line.quantities.get(name, wording.NOTHING)) for name in found.names),
        Cell(str(line.repetitions), "n"),
        Cell(throughput.warnings_in_a_line(line.warnings), "limits"),
    )


def _quantity(text: str) -> Cell:
    """Return a figure, or several in lines of their own."""
    first, *more = text.split("\n")
    return Cell(first, "limits" if more else "n", more=tuple(more))
