"""The comparison as a table for the terminal."""

from collections.abc import Callable
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.report import wording
from nfvbed.report.answer import answer
from nfvbed.report.captions import method_line, placement_lines
from nfvbed.report.labels import judged_against, judged_as
from nfvbed.report.pacedload import load_of
from nfvbed.report.terminal.survey import survey, survey_remarks
from nfvbed.report.terminal.tests import parts_of_tests
from nfvbed.report.terminal.verdict_colors import COLORS
from nfvbed.report.terminal.whole_words import with_whole_words

WIDE: Final = 110
"""From here on loss, cycles and warnings fit; below it the warnings are under the table."""

FULL: Final = 130
"""From here on all columns fit, bit rates and CPU too, beside warnings that are wide enough to be read."""
WARNINGS_WIDTH: Final = 18
"""The longest kind of warning in one piece."""

TRAFFIC: Final = "traffic"
VERDICT: Final = "verdict\nscope"
ORDER: Final = "order\nscope"
"""In its place in a survey, which judges nothing."""
WARNINGS: Final = "limits and warnings"
LEFT: Final = ("variant", "run", TRAFFIC, VERDICT, ORDER, WARNINGS)

Column = tuple[str, int, Callable[[Comparison, CellSummary], Text]]
"""Heading, the width of the terminal from which on it is shown, and its cell.

Cells are Text: no markup from outside is read.
"""


def render(comparison: Comparison, width: int) -> RenderableType:
    """Lay the comparison out for a terminal of this width."""
    parts: list[RenderableType] = []
    if comparison.simulated:
        parts.append(Text(f" {wording.SIMULATED_MARK} ", style="bold white on red"))
    said = answer(comparison)
    parts.append(Text(said.headline, style="bold"))
    parts += survey(comparison, width) if comparison.many else [_table(comparison, width)]
    parts += [Text(line, style="dim") for line in (*placement_lines(comparison), method_line(comparison))]
    if comparison.many:
        parts.append(Text(wording.BARE_PORTS, style="dim"))
    elif width >= WIDE:
        cpu = f" CPU: cores kept busy at maximum load. {wording.BARE_PORTS}" if width >= FULL else ""
        parts.append(Text(f"n/s: cannot be separated.{cpu}", style="dim"))
    parts += parts_of_tests(comparison)
    parts += [] if comparison.many else [Text(wording.chain(chain)) for chain in comparison.chains]
    parts += [Text(f"Note: {note}.", style="dim") for note in comparison.notes]
    if comparison.many:
        return Group(*with_whole_words([*parts, *survey_remarks(comparison)], width))
    if width < WIDE:
        limited = ((row, wording.limits(row)) for row in comparison.rows)
        parts += [Text(f"{row.cell}: {text}", style="yellow") for row, text in limited if text]
    parts += _remarks(comparison)
    return Group(*with_whole_words(parts, width))


def _table(comparison: Comparison, width: int) -> Table:
    title = f"{wording.SIMULATED_MARK}: " if comparison.simulated else ""
    table = Table(
        title=f"{title}maximum receive rate, {judged_against(comparison)}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    columns = [column for column in _columns(comparison) if width >= column[1]]
    for heading, _, _ in columns:
        left = heading in LEFT
        fold = heading in (WARNINGS, "variant")
        table.add_column(
            heading,
            justify="left" if left else "right",
            overflow="fold",
            no_wrap=width >= WIDE and not fold,
            min_width=WARNINGS_WIDTH if heading == WARNINGS else None,
        )
    previous: object = None
    for row in sorted(comparison.rows, key=_order(comparison)):
        point = row.point
        if previous is not None and point != previous:
            table.add_section()
        previous = point
        table.add_row(*(cell(comparison, row) for _, _, cell in columns))
    return table


def _order(comparison: Comparison) -> Callable[[CellSummary], tuple[int, ...]]:
    """Sort by traffic point, and within as the comparison ranks them."""
    points = list(dict.fromkeys(row.point for row in comparison.rows))
    ranked = comparison.ranked(comparison.rows)
    places = {(row.run, row.cell): place for place, row in enumerate(ranked)}

    def key(row: CellSummary) -> tuple[int, ...]:
        return points.index(row.point), places[row.run, row.cell]

    return key


def _columns(comparison: Comparison) -> list[Column]:
    run: list[Column] = [("run", 0, lambda _, row: Text(wording.short_run(row.run)))]
    warnings: list[Column] = [(WARNINGS, WIDE, lambda _, row: Text(wording.limits(row), style="yellow"))]
    return [
        ("variant", 0, _variant),
        *(run if len(comparison.runs) > 1 else []),
        (TRAFFIC, 0, _traffic),
        ("MRR Mpps\ninterval", 0, _rate),
        ("rounds", 0, lambda _, row: Text(str(row.mrr.rounds) if row.mrr else "0")),
        ("of bare\nports", FULL, _bare),
        ("Mbit/s\nL1, L2", FULL, _bits),
        (
            "missing\nframes",
            WIDE,
            lambda _, row: _missing(row),
        ),
        ("µs P50\nP99\nat Mpps", 0, _latency),
        ("CPU cores\nsw vnf gen", FULL, _cpu),
        ("cycles/\npacket", WIDE, lambda _, row: Text(wording.cycles(row.cycles_per_packet))),
        (ORDER if comparison.purpose == "survey" else VERDICT, 0, _verdict),
        *(warnings if any(wording.limits(row) for row in comparison.rows) else []),
    ]


def _variant(_: Comparison, row: CellSummary) -> Text:
    own = wording.own_vnf(row)
    return Text.assemble((row.variant, "bold"), (f"\n{own}" if own else "", "dim"))


def _traffic(_: Comparison, row: CellSummary) -> Text:
    return Text("\n".join(part for part in (row.topology, row.vnf, wording.frame_size(row.frame_size)) if part))


def _rate(_: Comparison, row: CellSummary) -> Text:
    if row.mrr is None:
        return Text(row.status.value, style="magenta")
    rate = wording.bound(row) + wording.mpps(row.mrr.median_pps)
    return Text.assemble((rate, "bold"), "\n", (wording.mpps_interval(row.mrr.interval), "dim"))


def _bare(_: Comparison, row: CellSummary) -> Text:
    return Text.assemble(wording.of_bare_ports(row), "\n", (wording.limited_by(row), "dim"))


def _bits(_: Comparison, row: CellSummary) -> Text:
    if row.mrr is None:
        return Text("-")
    return Text(f"{wording.bit_rate(row.mrr.layer1_bits_per_s)}\n{wording.bit_rate(row.mrr.layer2_bits_per_s)}")


def _missing(row: CellSummary) -> Text:
    given = row.given_load
    return Text(wording.loss(given.missing_ratio, at_least=given.surplus > 0) if given else wording.NOTHING)


def _latency(_: Comparison, row: CellSummary) -> Text:
    found = row.given_load.latency if row.given_load else None
    if found is None:
        # Missing frames beside it are of that load all the same.
        return Text("-" if row.given_load is None else f"-\n-\n{load_of(row)}")
    ends = f"{wording.microseconds(found.p50_ns)}\n{wording.microseconds(found.p99_ns)}\n"
    return Text.assemble(ends, (load_of(row), "dim"))


def _cpu(_: Comparison, row: CellSummary) -> Text:
    return Text(" ".join(wording.share(value) for value in (row.cpu.switch, row.cpu.vnf, row.cpu.generator)))


def _verdict(comparison: Comparison, row: CellSummary) -> Text:
    found = comparison.difference(row)
    style = COLORS[found.judgement.verdict] if found and comparison.purpose != "survey" else "dim"
    return Text.assemble((judged_as(comparison, row), style), "\n", (wording.scope(found), "dim"))


def _remarks(comparison: Comparison) -> list[RenderableType]:
    """Return the reasons of holes and verdicts, and each kind of warning once, with its advice."""
    lines: list[RenderableType] = [
        Text(f"{row.cell}: {wording.status(row)}", style="magenta") for row in comparison.rows if row.mrr is None
    ]
    lines += [Text(f"{row.cell}: {note}", style="yellow") for row in comparison.rows for note in row.notes]
    lines += [
        Text(f"{entry.cell} against {entry.baseline_cell}: {entry.judgement.verdict.value}: {entry.judgement.reason}")
        for entry in comparison.differences
        if entry.judgement.reason
    ]
    for kind in wording.warnings(comparison.rows):
        advice = comparison.advice_on(kind)
        lines.append(Text.assemble((kind.value, "bold yellow"), f": {advice.meaning} {advice.remedy}"))
    return lines
