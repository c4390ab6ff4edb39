"""What was not measured or not decided, reported once for all cells of a variant with the same reason."""

from collections.abc import Sequence

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import Record, Status
from nfvbed.report import wording


class MissingCells(Record):
    """Cells of one variant without a number, for one reason."""

    variant: str
    status: Status
    reason: str
    points: tuple[str, ...]
    """Their traffic points; empty: all that the variant has."""

    @property
    def where(self) -> str:
        """Return the names of the traffic points."""
        return "; ".join(self.points) or "everywhere"


def holes(rows: Sequence[CellSummary]) -> tuple[MissingCells, ...]:
    """Group the rows that have no number, in the order of the rows."""
    groups: dict[tuple[str, Status, str], list[CellSummary]] = {}
    for row in rows:
        if row.mrr is None:
            groups.setdefault((row.variant, row.status, row.reason), []).append(row)
    return tuple(
        MissingCells(
            variant=variant,
            status=status,
            reason=reason,
            points=_points(found, sum(row.variant == variant for row in rows)),
        )
        for (variant, status, reason), found in groups.items()
    )


def _points(rows: Sequence[CellSummary], of_variant: int) -> tuple[str, ...]:
    return () if len(rows) == of_variant else tuple(wording.row_point(row) for row in rows)


def counted(variants: Sequence[str]) -> str:
    """Return how often each name occurs: `one (3), another`."""
    names = dict.fromkeys(variants)
    return ", ".join(f"{name} ({count})" if (count := variants.count(name)) > 1 else name for name in names)


def open_verdicts(comparison: Comparison) -> dict[str, list[str]]:
    """Return the reasons of verdicts that have one, measured rows only, each with its variants; a survey has none."""
    if comparison.purpose == "survey":
        return {}
    measured = {(row.run, row.cell) for row in comparison.rows if row.mrr is not None and not row.unranked}
    found: dict[str, list[str]] = {}
    for entry in comparison.differences:
        judged = entry.judgement
        if judged.reason and (entry.run, entry.cell) in measured:
            # The bound that a test could have seen differs from row to row, and says little here.
            reason = judged.reason.partition(";")[0]
            found.setdefault(f"{judged.verdict.value.replace('-', ' ')}: {reason}", []).append(entry.variant)
    return found
