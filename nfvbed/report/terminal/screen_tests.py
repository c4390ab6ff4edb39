"""Results of tests beside the MRR on the screen: a line for each goal, load or condition."""

from collections.abc import Iterable

from rich.text import Text

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.testresults import MeasuredTest
from nfvbed.records import Status
from nfvbed.report import loadtables, throughput, wording
from nfvbed.report.measured import MeasuredLine, measured_tables
from nfvbed.report.terminal.columns import Banner, Cell, Column, Line, Row, lay_out, paragraph

NAMED = (Column("variant"), Column("traffic"), Column("test", dropped=2))


def lines_of_tests(comparison: Comparison, width: int) -> list[Text]:
    """Lay out what the tests found; nothing where the MRR was the only one."""
    loads = [test for test in comparison.tests if test.result.kind.has_loads and test.shown]
    return [*_searches(comparison, width), *_loads(loads, width), *_measured(comparison, width)]


def _searches(comparison: Comparison, width: int) -> list[Text]:
    rows = throughput.throughput_rows(comparison)
    columns = (*NAMED, Column("goal"), Column("throughput Mpps"), Column("bounds", dropped=1))
    lines = [
        Row(
            (
                Cell(row.variant, "bold"),
                Cell(row.point),
                Cell(row.preset),
                Cell(row.goal.name if row.goal else wording.NOTHING),
                Cell(throughput.headline(row), "bold" if row.throughput_pps is not None else "yellow"),
                Cell(throughput.bounds(row)),
            )
        )
        for row in rows
    ]
    said = (*throughput.exclusions(rows), *throughput.conformity(rows, reasons=False))
    below = [Text(line, "dim") for text in said for line in paragraph(f"  {text}", width, "    ")]
    return [*_titled("Throughput searches", columns, lines, width), *below]


def _loads(tests: Iterable[MeasuredTest], width: int) -> list[Text]:
    columns = (
        *NAMED,
        Column("Mpps", right=True),
        Column("of", dropped=3),
        Column("missing", right=True),
        Column("P50 µs", right=True, dropped=1),
        Column("P99 µs", right=True),
    )
    lines: list[Line] = []
    for test in tests:
        point = wording.row_point(test)
        if test.result.status is not Status.OK:
            said = f"{test.variant}  {point}  {test.result.test}: {test.result.status.value}: {test.result.reason}"
            lines.append(Banner(said, "magenta", indent=2))
            continue
        for load in loadtables.listed(test):
            found = load.latency
            ends = (found.p50_ns, found.p99_ns) if found else (None, None)
            written = (wording.NOTHING if value is None else wording.microseconds(value) for value in ends)
            shown = (
                wording.mpps(load.point.intended_load_pps),
                loadtables.part(test, load),
                wording.loss(load.missing_ratio, at_least=load.at_least),
            )
            named = (Cell(test.variant, "bold"), Cell(point), Cell(test.result.test))
            lines.append(Row((*named, *(Cell(text) for text in (*shown, *written)))))
    return _titled("Tests at given loads", columns, lines, width)


def _measured(comparison: Comparison, width: int) -> list[Text]:
    found: list[Text] = []
    for table in measured_tables(comparison):
        lines = [_condition(line) for line in table.lines]
        found += _titled(table.kind.value, (*NAMED, Column("condition"), Column("result")), lines, width)
    return found


def _condition(line: MeasuredLine) -> Line:
    named = (Cell(line.variant, "bold"), Cell(line.point), Cell(line.test))
    if not line.label or not line.quantities:
        return Banner(f"{line.variant}  {line.point}  {line.test}: {line.label} {line.reason}", "magenta", indent=2)
    name, value = next(iter(line.quantities.items()))
    more = f", {len(line.quantities) - 1} more" if len(line.quantities) > 1 else ""
    # Quantities that are written together are several already, one below the other.
    text = value.partition(";\n")[0] if "\n" in value else f"{name} {value}{more}"
    return Row((*named, Cell(line.label), Cell(text)))


def _titled(title: str, columns: tuple[Column, ...], lines: Iterable[Line], width: int) -> list[Text]:
    shown = list(lines)
    return [Text(title, "bold"), *lay_out(columns, shown, width)] if shown else []
