"""The comparison as a table for the terminal."""

from collections.abc import Callable
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nfvbed.compare.advice import advice_for
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.summary import CellSummary
from nfvbed.compare.verdict import Verdict
from nfvbed.report import wording
from nfvbed.report.answer import answer
from nfvbed.report.captions import method_line, placement_lines

WIDE: Final = 118
"""From here on all columns fit."""

COLORS: Final = {
    Verdict.HIGHER: "green",
    Verdict.LOWER: "red",
    Verdict.SAME: "",
    Verdict.UNDECIDED: "yellow",
    Verdict.NOT_COMPARABLE: "magenta",
}

Column = tuple[str, bool, Callable[[Comparison, CellSummary], Text]]
"""Heading, whether it is shown on a narrow terminal, and its cell. Cells are Text: no markup from outside is read."""


def render(comparison: Comparison, width: int) -> RenderableType:
    """Lay the comparison out for a terminal of this width."""
    parts: list[RenderableType] = []
    if comparison.simulated:
        parts.append(Text(f" {wording.SIMULATED_MARK} ", style="bold white on red"))
    said = answer(comparison)
    parts.append(Text(said.headline, style="bold"))
    parts.append(_table(comparison, wide=width >= WIDE))
    parts += [Text(line, style="dim") for line in (*placement_lines(comparison), method_line(comparison))]
    if width >= WIDE:
        parts.append(Text("n/s: cannot be separated. CPU: cores kept busy at maximum load.", style="dim"))
    parts += [Text(f"Note: {note}.", style="dim") for note in comparison.notes]
    parts += _warnings(comparison)
    return Group(*parts)


def _table(comparison: Comparison, *, wide: bool) -> Table:
    title = f"{wording.SIMULATED_MARK}: " if comparison.simulated else ""
    table = Table(title=f"{title}against {comparison.baseline}", title_justify="left", pad_edge=False)
    columns = [column for column in _columns(comparison) if wide or column[1]]
    for heading, _, _ in columns:
        left = heading in ("variant", "run", "size", "verdict", "scope", "limits and doubts")
        table.add_column(heading, justify="left" if left else "right", overflow="fold")
    previous: object = None
    for row in sorted(comparison.rows, key=_order(comparison)):
        point = row.topology, row.frame_size
        if previous is not None and point != previous:
            table.add_section()
        previous = point
        table.add_row(*(cell(comparison, row) for _, _, cell in columns))
    return table


def _order(comparison: Comparison) -> Callable[[CellSummary], tuple[int, ...]]:
    """Sort by traffic point, the baseline first, else as measured."""
    points = list(dict.fromkeys((row.topology, row.frame_size) for row in comparison.rows))
    places = {(row.run, row.cell): place for place, row in enumerate(comparison.rows)}

    def key(row: CellSummary) -> tuple[int, ...]:
        baseline = int(row.variant != comparison.baseline)
        return points.index((row.topology, row.frame_size)), baseline, places[row.run, row.cell]

    return key


def _columns(comparison: Comparison) -> list[Column]:
    run: list[Column] = [("run", True, lambda _, row: Text(wording.short_run(row.run)))]
    return [
        ("variant", True, lambda _, row: Text(row.variant, style="bold")),
        *(run if len(comparison.runs) > 1 else []),
        ("size", True, lambda _, row: Text(f"{row.topology} {wording.frame_size(row.frame_size)}")),
        ("MRR Mpps", True, _rate),
        ("95 %", False, lambda _, row: Text(wording.mpps_interval(row.mrr.interval) if row.mrr else "")),
        ("n", False, lambda _, row: Text(str(row.mrr.trials) if row.mrr else "0")),
        ("Mbit/s\nL1 / L2", False, _bits),
        ("loss\npaced", False, lambda _, row: Text(wording.loss(row.paced.loss_ratio) if row.paced else "-")),
        ("µs P50\n/ P99", True, _latency),
        ("CPU sw\nvnf gen", False, _cpu),
        ("cyc/\npkt", False, lambda _, row: Text(wording.cycles(row.cycles_per_packet))),
        ("verdict", True, _verdict),
        ("scope", False, lambda found, row: Text(wording.scope(found.difference(row)))),
        ("limits and doubts", True, lambda _, row: Text(wording.limits(row), style="yellow")),
    ]


def _rate(_: Comparison, row: CellSummary) -> Text:
    if row.mrr is None:
        return Text(row.status.value, style="magenta")
    return Text(("≥ " if row.limited else "") + wording.mpps(row.mrr.median_pps))


def _bits(_: Comparison, row: CellSummary) -> Text:
    if row.mrr is None:
        return Text("-")
    return Text(f"{wording.bit_rate(row.mrr.layer1_bits_per_s)}\n{wording.bit_rate(row.mrr.layer2_bits_per_s)}")


def _latency(_: Comparison, row: CellSummary) -> Text:
    if row.paced is None or row.paced.latency is None:
        return Text("-")
    found = row.paced.latency
    return Text(f"{wording.microseconds(found.p50_ns)} / {wording.microseconds(found.p99_ns)}")


def _cpu(_: Comparison, row: CellSummary) -> Text:
    return Text(" ".join(wording.share(value) for value in (row.cpu.switch, row.cpu.vnf, row.cpu.generator)))


def _verdict(comparison: Comparison, row: CellSummary) -> Text:
    found = comparison.difference(row)
    style = COLORS[found.judgement.verdict] if found else "dim"
    return Text(wording.verdict(found), style=style)


def _warnings(comparison: Comparison) -> list[RenderableType]:
    """Give each kind of doubt once, with its advice, and the reasons of the rows without numbers."""
    lines: list[RenderableType] = [
        Text(f"{row.cell}: {wording.status(row)}", style="magenta") for row in comparison.rows if row.mrr is None
    ]
    lines += [Text(f"{row.cell}: {note}", style="yellow") for row in comparison.rows for note in row.notes]
    kinds = {entry.kind for row in comparison.rows for entry in (*row.limits, *row.warnings)}
    for kind in sorted(kinds):
        advice = advice_for(kind)
        lines.append(Text.assemble((kind.value, "bold yellow"), f": {advice.meaning} {advice.remedy}"))
    return lines
