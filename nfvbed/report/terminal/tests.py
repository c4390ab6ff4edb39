"""The results of tests beside the MRR as tables for the terminal."""

from collections.abc import Iterable
from typing import Final

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import Status
from nfvbed.report import loadtables, throughput, wording
from nfvbed.report.directions import latency_lines
from nfvbed.report.hiddenlines import hidden_lines
from nfvbed.report.irregular import ADVICE
from nfvbed.report.measured import MeasuredTable, measured_tables

HEADINGS_BY_WAY: Final = ("variant", "traffic", "test", "load", "way", *wording.LATENCY_HEADINGS, "warnings")


def parts_of_tests(comparison: Comparison) -> list[RenderableType]:
    """Return the tables and what they need to be read; nothing where the MRR was the only test."""
    if not comparison.tests:
        return []
    rows = throughput.throughput_rows(comparison)
    loads = [test for test in comparison.tests if test.result.kind.has_loads and test.shown]
    advice = [
        Text.assemble((kind.value, "bold yellow"), f": {advice.meaning} {advice.remedy}")
        for kind, advice in throughput.further_advice(comparison)
    ]
    measured = [part for table in measured_tables(comparison) for part in _measured(table)]
    said = _notes(
        (
            *loadtables.bound_lines(comparison, loads),
            *loadtables.due_lines(loads),
            *loadtables.soak_lines(loads),
            *loadtables.reason_lines(loads),
            *loadtables.apart_lines(test for test in comparison.tests if test.result.kind.has_loads),
        )
    )
    hidden = _notes(hidden_lines(comparison))
    at_loads = [*([_loads(loads)] if loads else []), *said, *_by_direction(loads)]
    return [*(_throughput(rows) if rows else []), *at_loads, *measured, *hidden, *advice]


def _table(title: str, headings: tuple[str, ...], left: int) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < left else "right", overflow="fold")
    return table


def _notes(lines: Iterable[str]) -> list[RenderableType]:
    """Return what is below a table."""
    return [Text(line, style="dim") for line in lines]


def _throughput(rows: tuple[throughput.ThroughputRow, ...]) -> list[RenderableType]:
    headings = (
        "variant",
        "traffic",
        "search",
        "goal",
        "class",
        "throughput\nMpps",
        "bounds\nMpps",
        "regular",
        "warnings",
    )
    table = _table("throughput searches", headings, 5)
    for row in rows:
        style = "bold" if row.throughput_pps is not None else "yellow"
        table.add_row(
            Text(row.variant, style="bold"),
            Text(row.point),
            Text(row.preset),
            Text(row.goal.name if row.goal else wording.NOTHING),
            Text(row.placement_class),
            Text(throughput.headline(row), style=style),
            Text(throughput.bounds(row)),
            Text(f"{row.regular} of {row.repetitions}"),
            Text(throughput.warnings_in_a_line(row.warnings), style="yellow" if row.warnings else ""),
        )
    parts: list[RenderableType] = [
        table,
        *_notes(
            (
                throughput.SENTENCE,
                *throughput.goal_lines(rows),
                *throughput.exclusions(rows),
                *throughput.conformity(rows),
            )
        ),
    ]
    for row in rows:
        name = row.goal.name if row.goal else ""
        parts += [
            Text(f"{row.variant}, {row.point}, {name} irregular: {reason.value}: {text}", style="yellow")
            for reason, text in dict.fromkeys(row.irregular)
        ]
    for reason in throughput.reasons(rows):
        advice = ADVICE[reason]
        parts.append(Text.assemble((reason.value, "bold yellow"), f": {advice.meaning} {advice.remedy}"))
    return parts


def _loads(tests: list[MeasuredTest]) -> Table:
    headings = (
        "variant",
        "traffic",
        "test",
        "class",
        "load\nMpps",
        "forwarded\nMpps",
        "missing",
        *wording.LATENCY_HEADINGS,
        "warnings",
    )
    table = _table("tests at given loads", headings, 4)
    for test in tests:
        point = wording.row_point(test)
        named = [Text(test.variant, style="bold"), Text(point), Text(test.result.test), Text(test.placement_class)]
        if test.result.status is not Status.OK:
            table.add_row(*named, Text(f"{test.result.status.value}: {test.result.reason}", style="magenta"))
            continue
        for load in loadtables.listed(test):
            of = loadtables.part(test, load)
            asked = wording.mpps(load.point.intended_load_pps) + (f"\n({of})" if of else "")
            rates = (asked, wording.mpps(load.point.forwarded_rate_pps))
            shown = (*rates, wording.loss(load.missing_ratio, at_least=load.at_least))
            warnings = test.warnings_at(load)
            said = Text(throughput.warnings_in_a_line(warnings), style="yellow" if warnings else "")
            table.add_row(*named, *(Text(text) for text in (*shown, *wording.latency_columns(load.latency))), said)
    return table


def _by_direction(tests: list[MeasuredTest]) -> list[RenderableType]:
    """Return the latency of each direction, for tests of latency; and what the last column is."""
    if not any(load.latency for test in tests for load in test.loads):
        return []
    tail = loadtables.tail_lines((test, loadtables.listed(test)) for test in tests)
    sentences = _notes((wording.LATENCY_SENTENCE, *tail))
    lines = latency_lines(tests)
    if not lines:
        return sentences
    table = _table("latency by direction", HEADINGS_BY_WAY, 5)
    for line in lines:
        named = (Text(line.variant, style="bold"), Text(line.point), Text(line.test), Text(line.load))
        said = Text(throughput.warnings_in_a_line(line.warnings), style="yellow" if line.warnings else "")
        table.add_row(*named, Text(line.direction), *(Text(text) for text in line.columns), said)
    return [table, *sentences]


def _measured(found: MeasuredTable) -> list[RenderableType]:
    headings = ("variant", "traffic", "test", "class", "", *found.names, "n", "warnings")
    table = _table(found.kind.value, headings, 5)
    for line in found.lines:
        named = (Text(line.variant, style="bold"), Text(line.point), Text(line.test), Text(line.placement_class))
        if not line.label:
            table.add_row(*named, Text(line.reason, style="magenta"))
            continue
        shown = [Text(line.quantities.get(name, wording.NOTHING)) for name in found.names]
        said = Text(throughput.warnings_in_a_line(line.warnings), style="yellow" if line.warnings else "")
        label = Text(f"{line.label}: {line.reason}" if line.reason else line.label)
        table.add_row(*named, label, *shown, Text(str(line.repetitions)), said)
    return [table, *_notes(found.notes)]
