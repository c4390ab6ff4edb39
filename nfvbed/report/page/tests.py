"""The page's section of tests beside the MRR: throughput with bounds and goals, loads with loss and latency."""

from collections.abc import Iterable

from markupsafe import Markup

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.testresults import MeasuredLoad, MeasuredTest
from nfvbed.records import Status
from nfvbed.report import loadtables, throughput, wording
from nfvbed.report.directions import latency_lines
from nfvbed.report.irregular import ADVICE
from nfvbed.report.measured import MeasuredLine, MeasuredTable, measured_tables
from nfvbed.report.page.table import joined, scrolling

THROUGHPUT_HEADINGS = (
    "Variant", "Traffic", "Search", "Goal", "Class", "Throughput, Mpps", "Lower and upper bound, Mpps", "Regular",
    "Doubts", "Goal attributes",
)  # fmt: skip
LOAD_HEADINGS = (
    "Variant", "Traffic", "Test", "Class", "Intended load, Mpps", "Of", "Missing frames", *wording.LATENCY_HEADINGS,
    "Doubts",
)  # fmt: skip
NAMING = 4
"""Columns that say what was tested, before those of the numbers."""
FROM_HEADING = "From, s"
"""When an interval of a soak began; the column is there where there is a soak."""
DIRECTION_HEADINGS = ("Variant", "Traffic", "Test", "Load", "Direction", *wording.LATENCY_HEADINGS)


def tests_section(comparison: Comparison) -> Markup:
    """Write the section; nothing where the MRR was the only test."""
    rows = throughput.throughput_rows(comparison)
    at_loads = [test for test in comparison.tests if test.result.kind.has_loads and test.shown]
    parts = []
    if rows:
        parts += [Markup("<p>{}</p>").format(throughput.SENTENCE), _throughput(comparison, rows), _reasons(rows)]
    if at_loads:
        parts += [_loads(comparison, at_loads), *_by_direction(comparison, at_loads)]
    parts += [_measured(comparison, table) for table in measured_tables(comparison)]
    parts += [
        Markup('<div class="notice"><p><strong>{}</strong>: {} {}</p></div>').format(
            kind.value, advice.meaning, advice.remedy
        )
        for kind, advice in throughput.further_advice(comparison)
    ]
    return joined(parts)


def _table(comparison: Comparison, caption: str, headings: tuple[str, ...], body: Markup) -> Markup:
    mark = Markup("<strong>{}.</strong> ").format(wording.SIMULATED_MARK) if comparison.simulated else Markup("")
    head = joined(Markup('<th scope="col">{}</th>').format(heading) for heading in headings)
    table = Markup("<table><caption>{}{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>")
    return scrolling(table.format(mark, caption, head, body), caption)


def _notes(lines: Iterable[str]) -> list[Markup]:
    """Write what stands below a table."""
    return [Markup("<p><small>{}</small></p>").format(line) for line in lines]


def _throughput(comparison: Comparison, rows: tuple[throughput.ThroughputRow, ...]) -> Markup:
    body = joined(
        Markup(
            '<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class="n">{}{}</td>'
            '<td class="n">{}</td><td class="n">{} of {}</td><td class="limits">{}</td><td><small>{}</small></td></tr>'
        ).format(
            row.variant,
            row.point,
            row.preset,
            row.goal.name if row.goal else wording.NOTHING,
            row.placement_class,
            _headline(row),
            _spread(row),
            throughput.bounds(row),
            row.regular,
            row.repetitions,
            throughput.doubts(row.doubts),
            throughput.attributes(row.goal) if row.goal else wording.NOTHING,
        )
        for row in rows
    )
    return _table(comparison, "Throughput searches, both directions together", THROUGHPUT_HEADINGS, body)


def _headline(row: throughput.ThroughputRow) -> Markup:
    style = "" if row.throughput_pps is not None else "doubt"
    return Markup('<span class="{}">{}</span>').format(style, throughput.headline(row))


def _spread(row: throughput.ThroughputRow) -> Markup:
    if row.spread_pps is None:
        return Markup("")
    low, high = row.spread_pps
    return Markup("<small>{} to {}</small>").format(wording.mpps(low), wording.mpps(high))


def _reasons(rows: tuple[throughput.ThroughputRow, ...]) -> Markup:
    return joined(
        Markup('<div class="notice"><p><strong>{}</strong>: {}</p><p>{} {}</p></div>').format(
            reason.value,
            "; ".join(
                dict.fromkeys(
                    f"{row.variant}, {row.point}, {row.goal.name if row.goal else ''}: {text}"
                    for row in rows
                    for found, text in row.irregular
                    if found is reason
                )
            ),
            ADVICE[reason].meaning,
            ADVICE[reason].remedy,
        )
        for reason in throughput.reasons(rows)
    )


def _loads(comparison: Comparison, tests: list[MeasuredTest]) -> Markup:
    timed = any(load.from_s is not None for test in tests for load in test.loads)
    headings = (*LOAD_HEADINGS[:NAMING], *((FROM_HEADING,) if timed else ()), *LOAD_HEADINGS[NAMING:])
    body = joined(row for test in tests for row in _rows(test, timed=timed))
    table = _table(comparison, "Tests at given loads, both directions together", headings, body)
    return table + joined(_notes(loadtables.bound_lines(comparison, tests)))


def _by_direction(comparison: Comparison, tests: list[MeasuredTest]) -> list[Markup]:
    """Write the latency of each direction, for tests of latency; and what the last column is."""
    if not any(load.latency for test in tests for load in test.loads):
        return []
    tail = loadtables.tail_lines((test, test.loads) for test in tests)
    sentences = _notes((wording.LATENCY_SENTENCE, *tail))
    lines = latency_lines(tests)
    if not lines:
        return sentences
    first = Markup('<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td class="n">{}</td><td>{}</td>{}</tr>')
    body = joined(
        first.format(
            line.variant,
            line.point,
            line.test,
            line.load,
            line.direction,
            joined(Markup('<td class="n">{}</td>').format(text) for text in line.columns),
        )
        for line in lines
    )
    return [_table(comparison, "Latency by direction", DIRECTION_HEADINGS, body), *sentences]


def _measured(comparison: Comparison, found: MeasuredTable) -> Markup:
    headings = ("Variant", "Traffic", "Test", "Class", "Condition", *found.names, "n", "Doubts")
    body = joined(_measured_line(found, line) for line in found.lines)
    return _table(comparison, f"Tests of kind {found.kind.value}", headings, body) + joined(_notes(found.notes))


def _measured_line(found: MeasuredTable, line: MeasuredLine) -> Markup:
    first = Markup('<th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td>').format(
        line.variant, line.point, line.test, line.placement_class
    )
    if not line.label:
        span = len(found.names) + 3
        rest = Markup('<td colspan="{}"><span class="doubt">{}</span></td>').format(span, line.reason)
        return Markup("<tr>{}{}</tr>").format(first, rest)
    label = Markup("<td>{}<small>{}</small></td>").format(line.label, line.reason)
    numbers = joined(_quantity(line.quantities.get(name, wording.NOTHING)) for name in found.names)
    last = Markup('<td class="n">{}</td><td class="limits">{}</td>').format(
        line.repetitions, throughput.doubts(line.doubts)
    )
    return Markup("<tr>{}{}{}{}</tr>").format(first, label, numbers, last)


def _quantity(text: str) -> Markup:
    """Write a figure, or several in lines of their own."""
    lines = Markup("<br>").join(text.split("\n"))
    return Markup('<td class="{}">{}</td>').format("limits" if "\n" in text else "n", lines)


def _rows(test: MeasuredTest, *, timed: bool) -> list[Markup]:
    point = wording.row_point(test)
    first = Markup('<th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td>').format(
        test.variant, point, test.result.test, test.placement_class or wording.NOTHING
    )
    if test.result.status is not Status.OK:
        text = f"{test.result.status.value}: {test.result.reason}"
        rest = Markup('<td colspan="{}"><span class="doubt">{}</span></td>').format(
            len(LOAD_HEADINGS) - NAMING + timed, text
        )
        return [Markup("<tr>{}{}</tr>").format(first, rest)]
    return [Markup("<tr>{}{}</tr>").format(first, _load(test, load, timed=timed)) for load in test.loads]


def _load(test: MeasuredTest, load: MeasuredLoad, *, timed: bool) -> Markup:
    of = loadtables.part(test, load) or wording.NOTHING
    shown = (wording.mpps(load.point.intended_load_pps), of, wording.loss(load.missing_ratio))
    said = Markup('<td class="limits">{}</td>').format(throughput.doubts(test.doubts_at(load)))
    numbers = (*((loadtables.start(load),) if timed else ()), *shown, *wording.latency_columns(load.latency))
    return joined((*(Markup('<td class="n">{}</td>').format(text) for text in numbers), said))
