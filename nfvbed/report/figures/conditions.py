"""Figure: what tests measured under one condition after the other: flows, table entries, streams, message sizes."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records.headlines import HEADLINES
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, TablePayload
from nfvbed.report import throughput, wording
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.loads import newest_tests
from nfvbed.report.figures.theme import Drawing, color_scale, inline
from nfvbed.report.labels import row_labels, run_label

PANEL: Final = 400
MARGIN: Final = 100
HEIGHT: Final = 200
TABLES: Final = tuple(kind for kind in ResultKind if kind.is_table)
NO_WARNINGS: Final = throughput.warnings_in_a_line(())
LEAST_POINTS: Final = 3
"""Conditions that make a line; with fewer the table says it all."""
WIDE: Final = 50
"""Largest condition over smallest from which the axis is logarithmic."""

Records = list[dict[str, Any]]


def conditions_figure(comparison: Comparison) -> Drawing | None:
    """Draw the first of the headline quantities of every test with numbers as conditions; None without one.

    A panel for each test, point and unit; ranges are drawn where a quantity has one.
    """
    records: Records = []
    for test in newest_tests(comparison, TABLES):
        records += _records(comparison, test)
    if not records:
        return None
    names = row_labels(comparison)
    shown = tuple(dict.fromkeys(_names(records)))
    columns = min(2, len(shown))

    def draw() -> alt.TopLevelMixin:
        panels = [_panel([r for r in records if r["panel"] == name], names) for name in shown]
        chart: alt.TopLevelMixin = alt.concat(*panels, columns=columns).resolve_scale(color="shared", shape="shared")
        return chart

    described = "; ".join(f"{r['variant']}, {r['panel']}: {r['value']:.4g} at {r['condition']:g}" for r in records)
    marked = [f"{name} ({kinds})" for name, kinds in _warnings(records).items() if kinds != NO_WARNINGS]
    carried = f" Warnings: {'; '.join(marked)}." if marked else ""
    caption = f"Ranges are of several measurements, where there were.{carried} {short_caption(comparison)}"
    title = "By condition"
    said = f"{title}. {described}."
    return Drawing(title, caption, said, draw, comparison.simulated, MARGIN, columns)


def _warnings(records: Records) -> dict[str, str]:
    """Return the warnings of each variant in each panel."""
    return {f"{record['variant']}, {record['panel']}": record["warnings"] for record in records}


def _names(records: Records) -> list[str]:
    return [record["panel"] for record in records]


def _records(comparison: Comparison, test: MeasuredTest) -> Records:
    if test.table is None:
        return []
    key = _varied(test.table)
    if not key:
        return []
    point = wording.row_point(test)
    found = []
    for row in test.table.rows:
        quantity = _drawn_quantity(row, HEADLINES[test.result.kind])
        if quantity is None or key not in row.parameters:
            continue
        found.append(
            {
                "variant": run_label(test.variant, test.run, several=len(comparison.runs) > 1),
                "panel": f"{test.result.test}, {point}",
                "axis": f"{quantity.name}, {quantity.unit}" if quantity.unit else quantity.name,
                "by": key.replace("_", " "),
                "line": _rest(row, key),
                "warnings": throughput.warnings_in_a_line(test.warnings),
                "condition": float(row.parameters[key]),
                "value": quantity.value,
                "low": quantity.value if quantity.low is None else quantity.low,
                "high": quantity.value if quantity.high is None else quantity.high,
            }
        )
    return found


def _varied(table: TablePayload) -> str:
    """Return the condition that has numbers and takes most values; empty where none makes a line."""
    values: dict[str, set[float]] = {}
    for row in table.rows:
        for key, value in row.parameters.items():
            if isinstance(value, int | float):
                values.setdefault(key, set()).add(float(value))
    name = max(values, key=lambda key: len(values[key]), default="")
    return name if name and len(values[name]) >= LEAST_POINTS else ""


def _drawn_quantity(row: MeasuredRow, headline: Sequence[str]) -> Quantity | None:
    """Return what is read first of a row; None where it is not available."""
    known = {one.name: one for one in row.quantities if one.value is not None}
    return next((known[name] for name in headline if name in known), None)


def _rest(row: MeasuredRow, key: str) -> str:
    """Return apart the lines of one variant: the conditions that are words."""
    words = [f"{name} {value}" for name, value in row.parameters.items() if name != key and isinstance(value, str)]
    return ", ".join(words) or "-"


def _panel(records: Records, names: list[str]) -> alt.LayerChart | alt.FacetChart:
    conditions = [record["condition"] for record in records]
    low, high = min(conditions), max(conditions)
    scale = alt.Scale(type="log") if low > 0 and high / low >= WIDE else alt.Scale(zero=False)
    x = alt.X("condition:Q", title=records[0]["by"], scale=scale, axis=alt.Axis(format="~s", tickCount=6, grid=False))
    base = alt.Chart(inline(records)).encode(
        x=x, color=alt.Color("variant:N", title="variant", scale=color_scale(names)), detail=alt.Detail("line:N")
    )
    tips = [f"{key}:{'N' if isinstance(value, str) else 'Q'}" for key, value in records[0].items()]
    lines = base.mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2).encode(
        y=alt.Y("value:Q", title=records[0]["axis"], axis=alt.Axis(format="~s"), scale=alt.Scale(zero=True)),
        shape=alt.Shape("variant:N", title="variant", sort=names, legend=None),
        tooltip=tips,
    )
    ranges = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=records[0]["axis"]), y2=alt.Y2("high:Q"))
    return alt.layer(ranges, lines, width=PANEL, height=HEIGHT, title=records[0]["panel"])
