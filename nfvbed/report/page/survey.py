"""Many variants on the page: what can be compared in one narrow table, and what is missing said once."""

from collections.abc import Iterable
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.report import wording
from nfvbed.report.captions import scope_of
from nfvbed.report.holes import counted, holes, open_verdicts
from nfvbed.report.labels import holds_up_to, judged_as
from nfvbed.report.pacedload import load_of
from nfvbed.report.page.comparison import ORDER, Grid, GridRow, Group, grid_caption, plain_marks, simulated_mark
from nfvbed.report.page.values import Cell, Table, plain_table

VERDICT: Final = "Verdict"
HEADINGS: Final = (
    Cell("Variant"),
    Cell("Rate, Mpps", "n"),
    Cell("Interval or range", "n"),
    Cell("Rounds", "n"),
    Cell("Of bare ports", "n"),
    Cell("Limited by"),
    Cell(VERDICT),
    Cell("Missing frames", "n"),
    Cell("Latency µs, P50, P99", "n"),
    Cell("Cycles/ packet", "n"),
    Cell("Limits and warnings"),
)
"""Bit rates and CPU times are in the CSV."""


def survey_grid(comparison: Comparison, tables: tuple[Table, ...]) -> Grid:
    """Return the measured rows by traffic point, the highest rate first; then chains, and what was not measured."""
    groups = []
    for point in dict.fromkeys(row.point for row in comparison.rows if row.mrr is not None):
        rows = comparison.ranked([row for row in comparison.rows if row.point == point and row.mrr is not None])
        shown = tuple(_row(comparison, row) for row in rows)
        groups.append(Group(wording.row_point(rows[0]), scope_of(comparison, rows), shown))
    return Grid(
        mark=simulated_mark(comparison),
        caption=grid_caption(comparison),
        survey=True,
        headings=tuple(_headings(comparison)),
        groups=tuple(groups),
        reasons=tuple(f"{reason}: {counted(variants)}" for reason, variants in open_verdicts(comparison).items()),
        tables=(*_chains(comparison), *_missing(comparison), *tables),
    )


def _headings(comparison: Comparison) -> Iterable[Cell]:
    return (Cell(ORDER) if cell.text == VERDICT and comparison.purpose == "survey" else cell for cell in HEADINGS)


def _row(comparison: Comparison, row: CellSummary) -> GridRow:
    assert row.mrr is not None  # others are in the table of what was not measured
    found = comparison.difference(row) if comparison.purpose != "survey" else None
    tone = found.judgement.verdict.value if found else ""
    given = row.given_load
    latency = given.latency if given else None
    bare = f"{wording.of_bare_ports(row)} ({wording.of_bare_ports_interval(row)})"
    percentiles = (latency.p50_ns, latency.p99_ns) if latency else ()
    cells = (
        Cell(wording.bound(row) + wording.mpps(row.mrr.median_pps), "n"),
        Cell(wording.mpps_interval(row.mrr.interval), "n"),
        Cell(str(row.mrr.rounds), "n"),
        Cell(bare if row.of_bare_ports else wording.NOTHING, "n"),
        Cell(wording.limited_by(row), "whole"),
        Cell(judged_as(comparison, row), "verdict", tone=tone),
        Cell(
            wording.loss(given.missing_ratio, at_least=bool(given.surplus)),
            "n",
            below=f"at {load_of(row)} Mpps",
            words=True,
        )
        if given
        else Cell(wording.NOTHING, "n"),
        Cell(", ".join(wording.microseconds(value) for value in percentiles) or wording.NOTHING, "n"),
        Cell(wording.cycles(row.cycles_per_packet), "n"),
    )
    own = wording.own_vnf(row)
    return GridRow(row.variant, (f"VNF {own}",) if own else (), cells, plain_marks(row))


def _chains(comparison: Comparison) -> tuple[Table, ...]:
    if not comparison.chains:
        return ()
    lengths = sorted({link.length for chain in comparison.chains for link in chain.links})
    rows = []
    for chain in comparison.chains:
        rates = {link.length: f"{'≥ ' if link.limited else ''}{wording.mpps(link.rate_pps)}" for link in chain.links}
        name = f"{chain.variant}, {chain.vnf}, {wording.frame_size(chain.frame_size)}"
        rows.append((name, *(rates.get(length, wording.NOTHING) for length in lengths), holds_up_to(chain)))
    held = wording.held(comparison.chains[0].hold)
    headings = ("Variant, VNF, size", *(f"{length}" for length in lengths), f"Longest that holds {held}")
    return (plain_table("Mpps by the number of VNFs behind each other.", headings, rows),)


def _missing(comparison: Comparison) -> tuple[Table, ...]:
    rows = [(hole.variant, hole.status.value, hole.where, hole.reason) for hole in holes(comparison.rows)]
    headings = ("Variant", "Status", "Where", "Why")
    return (plain_table("Not measured, and why.", headings, rows),) if rows else ()
