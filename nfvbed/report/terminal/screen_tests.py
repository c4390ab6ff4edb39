"""Results of tests beside the MRR on the screen: a line for each goal, load or condition, with its headline."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.text import Text

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredLoad, MeasuredTest
from nfvbed.records import Status, headlines
from nfvbed.report import loadtables, throughput, wording
from nfvbed.report.marks import Marks, key_of_load, key_of_search
from nfvbed.report.measured import MeasuredLine, MeasuredTable, measured_tables
from nfvbed.report.terminal.columns import ALWAYS, Banner, Cell, Column, Line, Row, lay_out, paragraph

NAMED: Final = (Column("variant"), Column("traffic"), Column("test", dropped=2))
SEE: Final = Column("see")
LOAD_COLUMNS: Final = {
    headlines.FORWARDED: "forwarded",
    headlines.MISSING: "missing",
    headlines.P50: "P50 µs",
    headlines.P99: "P99 µs",
}
"""What is shown of a load, by the names that headlines have for it."""


Section = Sequence[Text]
"""A title, a heading, and a line for each result."""
LEAST: Final = 4
"""Lines of a section that is shown at all: its title, its heading, a result, and how many more there are."""


def sections_of_tests(comparison: Comparison, marks: Marks, width: int) -> list[Section]:
    """Lay out what the tests found, a section for searches, loads and each kind of table; none of the MRR alone."""
    loads = [test for test in comparison.tests if test.result.kind.has_loads]
    measured = (_measured(table, marks, width) for table in measured_tables(comparison))
    found = (_searches(comparison, marks, width), _loads(loads, marks, width), *measured)
    return [section for section in found if section]


def fitted(sections: Sequence[Section], room: int) -> list[Text]:
    """Return as many lines of each section as there is room for, the same number of all; what is left is counted."""
    if sum(map(len, sections)) <= room:
        return [line for section in sections for line in section]
    shown = list(sections[: max(room - 1, 0) // LEAST])
    left = [Text(f"{len(sections) - len(shown)} more kinds of tests: nfvbed compare --details", "dim")]
    left = left if len(shown) < len(sections) and room > 0 else []
    longest = max(map(len, shown), default=0)
    fits = (n for n in range(longest, LEAST - 1, -1) if sum(min(n, len(s)) for s in shown) + len(left) <= room)
    most = next(fits, LEAST)
    return [line for section in shown for line in _cut(section, most)] + left


def _cut(section: Section, most: int) -> Section:
    if len(section) <= most:
        return section
    more = len(section) - most + 1
    return [*section[: most - 1], Text(f"  {more} more lines: nfvbed compare --details", "dim")]


def _searches(comparison: Comparison, marks: Marks, width: int) -> list[Text]:
    rows = throughput.throughput_rows(comparison)
    columns = (*NAMED, Column("goal"), Column("throughput Mpps"), Column("bounds"), SEE)
    lines = [
        Row(
            (
                Cell(row.variant, "bold"),
                Cell(row.point),
                Cell(row.preset),
                Cell(row.goal.name if row.goal else wording.NOTHING),
                Cell(throughput.headline(row), "bold" if row.throughput_pps is not None else "yellow"),
                Cell(throughput.bounds(row)),
                Cell(marks.of(key_of_search(row)), "yellow"),
            )
        )
        for row in rows
    ]
    # The last lines are those that a full screen leaves out.
    said = (*throughput.conformity(rows, reasons=False), *throughput.exclusions(rows))
    below = [Text(line, "dim") for text in said for line in paragraph(f"  {text}", width, "    ")]
    return [*_titled("Throughput searches", columns, lines, width), *below]


def _loads(tests: Sequence[MeasuredTest], marks: Marks, width: int) -> list[Text]:
    points = {wording.row_point(test) for test in tests}
    title = ", ".join(("Tests at given loads", *(points if len(points) == 1 else ())))
    wanted = {name for test in tests for name in test.headline}
    # What some test is read by is never left out; the rest goes where the terminal is narrow.
    shown = (
        Column(heading, right=True, dropped=ALWAYS if name in wanted else 1) for name, heading in LOAD_COLUMNS.items()
    )
    traffic = (Column("traffic"),) if len(points) > 1 else ()
    named = (Column("variant"), *traffic, Column("test"))
    columns = (*named, Column("load Mpps", right=True), Column("of", dropped=2), *shown, SEE)
    lines: list[Line] = []
    for test in tests:
        point = wording.row_point(test)
        if not test.shown:
            continue
        if test.result.status is not Status.OK:
            said = f"{test.variant}  {point}  {test.result.test}: {test.result.status.value}: {test.result.reason}"
            lines.append(Banner(said, "magenta", indent=2))
            continue
        listed = loadtables.listed(test)
        for place, load in enumerate(test.loads):
            if any(load is one for one in listed):
                names = (Cell(test.variant, "bold"), *((Cell(point),) if traffic else ()), Cell(test.result.test))
                numbers = (wording.mpps(load.point.intended_load_pps), loadtables.part(test, load))
                found = _of_load(load)
                cells = (*numbers, *(found[name] for name in LOAD_COLUMNS))
                mark = Cell(marks.of(key_of_load(test, place)), "yellow")
                lines.append(Row((*names, *(Cell(text) for text in cells), mark)))
    apart = [Banner(text, "magenta", indent=2) for text in loadtables.apart_lines(tests)]
    return _titled(title, columns, [*lines, *apart], width)


def _of_load(load: MeasuredLoad) -> dict[str, str]:
    """Return what is shown of a load, by the names that headlines have for it."""
    found = load.latency
    ends = (found.p50_ns, found.p99_ns) if found else (None, None)
    written = (wording.NOTHING if value is None else wording.microseconds(value) for value in ends)
    return {
        headlines.FORWARDED: wording.mpps(load.point.forwarded_rate_pps),
        headlines.MISSING: wording.loss(load.missing_ratio, at_least=load.at_least),
        **dict(zip((headlines.P50, headlines.P99), written, strict=True)),
    }


@dataclass(frozen=True)
class _TableLine:
    """A line of a table of tests."""

    names: dict[str, str]
    """By heading, without those that all lines share."""
    values: tuple[str, ...]
    """Values of the headline; a dash for one that the line lacks."""
    has: tuple[str, ...]
    """The quantities that it has, also those that are not available."""
    marks: str


def _measured(table: MeasuredTable, marks: Marks, width: int) -> list[Text]:
    """Lay out the headline of a kind of test; what has none of it is counted, and all else is with the details."""
    failed = [line for line in table.lines if not line.label or not line.quantities]
    rest = [line for line in table.lines if line not in failed]
    headed = [line for line in rest if any(name in line.quantities for name in table.headline)]
    shared, shown = _apart(headed, table, marks)
    further = len(rest) - len(headed)
    left = [f"{further} more line{'s' if further > 1 else ''}"] if further else []
    left += ["other quantities"] if len(table.names) > len(table.headline) else []
    more = f" ({' and '.join(left)}: --details)" if left else ""
    title = f"{', '.join((table.kind.value, *shared))}{more}"
    banners: list[Line] = [_failed(line) for line in failed]
    for lines in (shown, [_without_spread(line) for line in shown]):
        laid = _titled(title, *_in_columns(table, lines, banners), width)
        if all(len(line.plain) <= width for line in laid):
            return laid
    return [Text(title, "bold"), *_in_paragraphs(table, shown, width), *lay_out((), banners, width)[1:]]


def _apart(
    lines: Sequence[MeasuredLine], table: MeasuredTable, marks: Marks
) -> tuple[tuple[str, ...], list[_TableLine]]:
    """Return what all lines are of (their traffic point, their test where it has a name of its own), and the lines."""
    shared = {name for name in ("point", "test") if len({getattr(line, name) for line in lines}) == 1}
    headings = {"variant": "variant", "point": "traffic", "test": "test", "label": "condition"}
    kept = {name: heading for name, heading in headings.items() if name not in shared}
    told = [getattr(lines[0], name) for name in headings if name in shared]
    found = [
        _TableLine(
            {heading: getattr(line, name) for name, heading in kept.items()},
            tuple(line.quantities.get(name, wording.NOTHING) for name in table.headline),
            tuple(line.quantities),
            marks.of(line.key),
        )
        for line in lines
    ]
    return tuple(text for text in told if text != table.kind.value), found


def _without_spread(line: _TableLine) -> _TableLine:
    """Leave out least and greatest, which are in brackets."""
    return replace(line, values=tuple(value.partition(" (")[0] for value in line.values))


def _in_columns(
    table: MeasuredTable, shown: Sequence[_TableLine], banners: Sequence[Line]
) -> tuple[tuple[Column, ...], list[Line]]:
    names = tuple(Column(heading) for heading in (shown[0].names if shown else ()))
    values = tuple(Column(name, right=True) for name in table.headline) if shown else ()
    lines: list[Line] = []
    for line in shown:
        first, *others = line.names.values()
        cells = (Cell(first, "bold"), *map(Cell, others), *map(Cell, line.values), Cell(line.marks, "yellow"))
        lines.append(Row(cells))
    return (*names, *values, *((SEE,) if shown else ())), [*lines, *banners]


def _in_paragraphs(table: MeasuredTable, shown: Sequence[_TableLine], width: int) -> list[Text]:
    """Return what is too wide for columns: names, then each quantity with its own name."""
    found = []
    for line in shown:
        known = zip(table.headline, line.values, strict=True)
        values = ", ".join(f"{name} {value}" for name, value in known if name in line.has)
        text = f"  {', '.join(line.names.values())}: {values}{f'  {line.marks}' if line.marks else ''}"
        found += [Text(part) for part in paragraph(text, width, "    ")]
    return found


def _failed(line: MeasuredLine) -> Banner:
    said = " ".join(part for part in (line.label, line.reason) if part)
    return Banner(f"{line.variant}  {line.point}  {line.test}: {said}", "magenta", indent=2)


def _titled(title: str, columns: tuple[Column, ...], lines: Iterable[Line], width: int) -> list[Text]:
    shown = list(lines)
    if not shown:
        return []
    laid = lay_out(columns, shown, width)
    # Lines over all columns have no headings.
    return [Text(title, "bold"), *(laid if any(isinstance(line, Row) for line in shown) else laid[1:])]
