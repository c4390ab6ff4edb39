"""Tests that measure quantities under several conditions: lines of a table for each kind, the same everywhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import QualityWarning, Status
from nfvbed.records.headlines import HEADLINES
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind
from nfvbed.report import throughput, wording
from nfvbed.report.labels import labels_of
from nfvbed.report.loadtables import bound_lines_of_tables
from nfvbed.report.publishedlines import published_lines

MANY = 6
"""With more quantities than that, those beside the headline share one column, one below the other: a table has a width.
"""
TOGETHER = "measured"


@dataclass(frozen=True)
class MeasuredLine:
    """One condition of one test of one cell, over its repetitions in the class that is shown."""

    variant: str
    point: str
    test: str
    placement_class: str
    label: str
    """The condition; empty where the test has no result at all."""
    quantities: dict[str, str]
    """By name, written: the median, and least and greatest where there are several. The headline's come first."""
    repetitions: int
    warnings: tuple[QualityWarning, ...]
    reason: str = ""
    """Why a figure, or the whole result, is missing."""
    key: tuple[str, ...] = ()
    """What it is known by: run, cell, test, condition."""


@dataclass(frozen=True)
class MeasuredTable:
    """All lines of one kind of test."""

    kind: ResultKind
    headline: tuple[str, ...]
    """The quantities that are read first, as far as any line has them."""
    names: tuple[str, ...]
    """Names of the quantities, in order."""
    lines: tuple[MeasuredLine, ...]
    notes: tuple[str, ...]


def measured_tables(comparison: Comparison) -> tuple[MeasuredTable, ...]:
    """Return a table for each kind of test, in the order in which kinds were first measured."""
    by_kind: dict[ResultKind, list[MeasuredTest]] = {}
    for test in comparison.tests:
        if test.result.kind.is_table:
            by_kind.setdefault(test.result.kind, []).append(test)
    return tuple(_table(comparison, kind, tests) for kind, tests in by_kind.items())


def _table(comparison: Comparison, kind: ResultKind, tests: list[MeasuredTest]) -> MeasuredTable:
    several = len(comparison.runs) > 1
    shown = [test for test in tests if test.shown]
    groups: dict[tuple[str, str, str], list[MeasuredTest]] = {}
    for test in tests:
        groups.setdefault((test.run, test.cell, test.result.test), []).append(test)
    rows = [row for test in tests if test.shown and test.table for row in test.table.rows]
    known = tuple(dict.fromkeys(quantity.name for row in rows for quantity in row.quantities))
    headline = tuple(name for name in HEADLINES[kind] if name in known)
    names = _headline_first(known, kind)
    notes = tuple(dict.fromkeys(note for test in tests if test.shown and test.table for note in test.table.notes))
    lines = tuple(line for group in groups.values() for line in _lines(group, several))
    if len(names) > MANY:
        names, lines = (*headline, TOGETHER), tuple(_together(line, headline) for line in lines)
    published = published_lines(comparison.experiments, kind)
    return MeasuredTable(kind, headline, names, lines, (*notes, *bound_lines_of_tables(comparison, shown), *published))


def _headline_first(names: Iterable[str], kind: ResultKind) -> tuple[str, ...]:
    """Return the names of quantities in order: those of the kind's headline as that has them, then the others."""
    known = tuple(dict.fromkeys(names))
    headline = tuple(name for name in HEADLINES[kind] if name in known)
    return (*headline, *(name for name in known if name not in headline))


def _together(line: MeasuredLine, headline: Sequence[str]) -> MeasuredLine:
    """Return a line with all quantities beside the headline's written into one."""
    kept = {name: value for name, value in line.quantities.items() if name in headline}
    text = ";\n".join(f"{name} {value}" for name, value in line.quantities.items() if name not in headline)
    return replace(line, quantities=kept | ({TOGETHER: text} if text else {}))


def _lines(tests: Sequence[MeasuredTest], several: bool) -> Iterable[MeasuredLine]:
    """Yield the lines of one test of one cell; of one that is in other placement classes alone the one that says so."""
    apart = sorted({test.placement_class for test in tests if not test.shown})
    tests = [test for test in tests if test.shown] or tests[:1]
    if not tests[0].shown:
        yield _line(tests[0], several, f"placement: results in class {', '.join(apart)} only")
        return
    without = [test for test in tests if test.result.status is not Status.OK or test.table is None]
    for test in without:
        yield _line(test, several, f"{test.result.status.value}: {test.result.reason}")
    found = [test for test in tests if test not in without]
    rows = [(test, row) for test in found for row in (test.table.rows if test.table else ())]
    for label in dict.fromkeys(row.label for _, row in rows):
        same = [row for _, row in rows if row.label == label]
        reasons = dict.fromkeys(_reason(row) for row in same)
        yield MeasuredLine(
            **_named(found[0], several),
            key=(found[0].run, found[0].cell, found[0].result.test, label),
            label=label,
            quantities={
                name: _written(_of(same, name)) for name in _headline_first(_names(same), found[0].result.kind)
            },
            repetitions=len(same),
            warnings=throughput.warnings_of(test for test, row in rows if row.label == label),
            reason="; ".join(reason for reason in reasons if reason),
        )


def _line(test: MeasuredTest, several: bool, reason: str) -> MeasuredLine:
    return MeasuredLine(**_named(test, several), label="", quantities={}, repetitions=0, warnings=(), reason=reason)


def _named(test: MeasuredTest, several: bool) -> dict[str, Any]:
    return labels_of(test, several=several) | {"placement_class": test.placement_class or wording.NOTHING}


def _reason(row: MeasuredRow) -> str:
    if row.status is Status.OK:
        return row.reason
    return f"{row.status.value}: {row.reason}" if row.reason else row.status.value


def _names(rows: Iterable[MeasuredRow]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(quantity.name for row in rows for quantity in row.quantities))


def _of(rows: Iterable[MeasuredRow], name: str) -> list[Quantity]:
    return [quantity for row in rows for quantity in row.quantities if quantity.name == name]


def _written(found: Sequence[Quantity]) -> str:
    """Return the median over repetitions, with the least and the greatest of all that is known of it."""
    known = [quantity for quantity in found if quantity.value is not None]
    if not known:
        bounds = [quantity.high for quantity in found if quantity.high is not None]
        return f"at most {wording.quantity(max(bounds), found[0].unit)}" if bounds else wording.NOTHING
    values = [quantity.value for quantity in known if quantity.value is not None]
    unit = known[0].unit
    ends = [*values, *(end for q in known for end in (q.low, q.high) if end is not None)]
    middle = wording.quantity(median(values), unit)
    if len(ends) == 1 or min(ends) == max(ends):
        return middle
    return f"{middle} ({wording.span(min(ends), max(ends), unit)})"
