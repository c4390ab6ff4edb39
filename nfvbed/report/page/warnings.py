"""What bounds the numbers and what calls them into question, each kind once, and the ceilings."""

from collections.abc import Iterable
from dataclasses import dataclass

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import QualityWarning
from nfvbed.report import wording
from nfvbed.report.holes import counted
from nfvbed.report.page.ceilings import ceiling_table
from nfvbed.report.page.values import Notice, Table


@dataclass(frozen=True)
class Warnings:
    """The section."""

    notices: tuple[Notice, ...]
    none_raised: bool
    notes: tuple[Notice, ...]
    """On single rows."""
    folded: tuple[str, ...]
    """Such notes where there are many variants."""
    ceilings: Table | None


def warnings_section(comparison: Comparison) -> Warnings:
    """Return every kind of warning with its rows, its meaning and its remedy."""
    if comparison.many:
        found = tuple(_kinds_of_many(comparison))
        return Warnings(found, False, (), tuple(_notes_of_many(comparison)), ceiling_table(comparison))
    found = (*_kinds(comparison), *(Notice(row.cell, wording.status(row)) for row in comparison.rows if not row.mrr))
    notes = tuple(Notice(row.cell, note) for row in comparison.rows for note in row.notes)
    none = not found and not any(test.warnings for test in comparison.tests)
    return Warnings(found, none, notes, (), ceiling_table(comparison))


def _kinds(comparison: Comparison) -> Iterable[Notice]:
    for kind in wording.warnings(comparison.rows):
        rows = [text for row in comparison.rows if (text := _carried(row, kind))]
        advice = comparison.advice_on(kind)
        yield Notice(kind.value, "; ".join(rows), advice=f"{advice.meaning} {advice.remedy}")


def _carried(row: CellSummary, kind: QualityWarning) -> str:
    """Return the name of the row and how it carries a warning; nothing where it does not."""
    bounding = next((limit.detail for limit in row.limits if limit.kind is kind), None)
    counts = bounding if bounding is not None else wording.row_warnings(row).get(kind)
    return f"{row.cell} ({counts})" if counts else ""


def _kinds_of_many(comparison: Comparison) -> Iterable[Notice]:
    """Yield every kind of warning once, with the variants that carry it and how many of their rows."""
    for kind in wording.warnings(comparison.rows):
        carrying = [row.variant for row in comparison.rows if kind in wording.warnings([row])]
        advice = comparison.advice_on(kind)
        yield Notice(
            kind.value,
            counted(carrying),
            count=f"{len(carrying)} of {len(comparison.rows)} rows",
            advice=f"{advice.meaning} {advice.remedy}",
        )


def _notes_of_many(comparison: Comparison) -> Iterable[str]:
    notes: dict[str, list[str]] = {}
    for row in comparison.rows:
        for note in row.notes:
            notes.setdefault(note, []).append(f"{row.variant} {wording.row_point(row)}")
    return (f"{note}: {'; '.join(names)}" for note, names in notes.items())
