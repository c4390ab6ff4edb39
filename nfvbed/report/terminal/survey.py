"""Many variants in a terminal: one line each in order of their rates, at each path and size; then what is missing."""

from collections.abc import Iterable
from typing import Final

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nfvbed.compare.chains import Chain
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.report import wording
from nfvbed.report.holes import counted, holes, open_verdicts
from nfvbed.report.labels import holds_up_to, judged_as
from nfvbed.report.pacedload import load_of

WIDE: Final = 110
"""From here on latency fits, with its load."""
FULL: Final = 150
"""From here on all columns fit."""


def survey(comparison: Comparison, width: int) -> list[RenderableType]:
    """Lay out a table for each traffic point, one for chains, and one of what was not measured."""
    points = dict.fromkeys(row.point for row in comparison.rows if row.mrr is not None)
    parts: list[RenderableType] = [
        _ranking(comparison, [row for row in comparison.rows if row.point == point], width) for point in points
    ]
    if comparison.chains:
        parts.append(_chains(comparison.chains))
    if any(row.mrr is None for row in comparison.rows):
        parts.append(_missing(comparison))
    return parts


def survey_remarks(comparison: Comparison) -> list[RenderableType]:
    """Return each kind of warning once with the variants that carry it, and why verdicts are open."""
    lines: list[RenderableType] = [
        Text(f"{reason}: {counted(variants)}") for reason, variants in open_verdicts(comparison).items()
    ]
    for kind in wording.warnings(comparison.rows):
        advice = comparison.advice_on(kind)
        carrying = [row.variant for row in comparison.rows if kind in wording.warnings([row])]
        lines.append(
            Text.assemble((kind.value, "bold yellow"), f" ({counted(carrying)}): ", f"{advice.meaning} {advice.remedy}")
        )
    return lines


def _ranking(comparison: Comparison, rows: list[CellSummary], width: int) -> Table:
    mark = f"{wording.SIMULATED_MARK}: " if comparison.simulated else ""
    table = Table(
        title=f"{mark}{wording.row_point(rows[0])}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    wide = width >= WIDE
    table.add_column("variant", overflow="fold")
    headings = ["Mpps", "95 % or range", "rounds", "of bare ports", "limited by"]
    headings += ["µs P50, P99", "at Mpps"] if wide else []
    headings += ["cycles"] if width >= FULL else []
    judged = "against the best" if comparison.baseline == "best" else "verdict"
    for heading in (*headings, "order" if comparison.purpose == "survey" else judged):
        table.add_column(heading, justify="right" if heading in ("Mpps", "rounds", "cycles") else "left", no_wrap=True)
    for row in comparison.ranked(rows):
        if row.mrr is not None:
            table.add_row(*_cells(comparison, row, wide=wide, full=width >= FULL))
    return table


def _cells(comparison: Comparison, row: CellSummary, *, wide: bool, full: bool) -> Iterable[Text]:
    if row.mrr is None:
        return
    yield Text(row.variant, style="bold")
    yield Text(wording.bound(row) + wording.mpps(row.mrr.median_pps), style="" if row.unranked else "bold")
    yield Text(wording.mpps_interval(row.mrr.interval), style="dim")
    yield Text(str(row.mrr.rounds))
    interval = wording.of_bare_ports_interval(row)
    yield Text.assemble(wording.of_bare_ports(row), (f" {interval}" if row.of_bare_ports else "", "dim"))
    yield Text(wording.limited_by(row))
    if wide:
        found = row.given_load.latency if row.given_load else None
        yield Text(f"{wording.microseconds(found.p50_ns)}, {wording.microseconds(found.p99_ns)}" if found else "-")
        yield Text(load_of(row))
    if full:
        yield Text(wording.cycles(row.cycles_per_packet))
    yield Text(judged_as(comparison, row))


def _chains(chains: Iterable[Chain]) -> Table:
    found = list(chains)
    lengths = sorted({link.length for chain in found for link in chain.links})
    table = Table(title="Mpps by number of VNFs", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant, VNF, size", overflow="fold")
    for length in lengths:
        table.add_column(str(length), justify="right")
    table.add_column(f"holds {wording.held(found[0].hold)} up to", justify="right")
    for chain in found:
        rates = {link.length: f"{'≥ ' if link.limited else ''}{wording.mpps(link.rate_pps)}" for link in chain.links}
        name = f"{chain.variant}, {chain.vnf}, {wording.frame_size(chain.frame_size)}"
        table.add_row(name, *(rates.get(length, "-") for length in lengths), holds_up_to(chain))
    return table


def _missing(comparison: Comparison) -> Table:
    table = Table(title="Not measured", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("variant", "status", "where", "why"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "status")
    for hole in holes(comparison.rows):
        table.add_row(hole.variant, Text(hole.status.value, style="magenta"), hole.where, Text(hole.reason))
    return table
