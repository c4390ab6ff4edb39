"""The page's table of ceilings: what the generator, the ports and the VNFs allow at most."""

from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.limits import WHY_EXCEEDED
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import CellRole
from nfvbed.report import wording
from nfvbed.report.page.values import Cell, Table

NAMES: Final = {
    CellRole.LOOPBACK: "generator looped back",
    CellRole.REFERENCE: "testpmd io in the switch's place",
    CellRole.VNF: "VNF looped back alone",
}
HEADINGS: Final = (
    Cell("Ports"),
    Cell("Ceiling"),
    Cell("Traffic"),
    Cell("Rate, Mpps", "n"),
    Cell("Trials", "n"),
    Cell("Use"),
)


def ceiling_table(comparison: Comparison) -> Table | None:
    """Return the ceilings, and by which rows they are exceeded; nothing where there are none."""
    if not comparison.ceilings:
        return None
    rows = tuple(
        (
            Cell(row.ports),
            Cell(NAMES.get(row.role, row.role.value)),
            Cell(wording.row_point(row), "whole"),
            Cell(wording.mpps(row.mrr.median_pps) if row.mrr else wording.NOTHING, "n"),
            Cell(str(row.mrr.trials) if row.mrr else "0", "n"),
            Cell(_effect(comparison, row)),
        )
        for row in comparison.ceilings
    )
    return Table("What the generator, the ports and the VNFs allow at most.", HEADINGS, rows, label="Ceilings")


def _effect(comparison: Comparison, ceiling: CellSummary) -> str:
    """Return what a ceiling is worth: rows at it, rows above it, or why it was not measured."""
    if ceiling.mrr is None:
        return wording.status(ceiling)
    above = [
        f"{row.variant}{' ' + wording.path(row.topology, row.vnf) if row.vnf else ''} ({entry.ratio:.0%})"
        for row in comparison.rows
        for entry in row.exceeded
        if (row.run, entry.cell) == (ceiling.run, ceiling.cell) and not entry.by
    ]
    if above:
        return f"{WHY_EXCEEDED[ceiling.role]}; by {', '.join(above)}"
    refuted = {(row.run, entry.cell): entry.by for row in comparison.rows for entry in row.exceeded}
    by = refuted.get((ceiling.run, ceiling.cell))
    return f"bounds nothing: {by} is above the like of it" if by else "holds"
