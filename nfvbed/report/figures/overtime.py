"""Figure: quantities over time, from the series that tests took beside their rows."""

from statistics import median
from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records.results import ResultKind
from nfvbed.report import wording
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.loads import newest_tests
from nfvbed.report.figures.theme import Drawing, color_scale, inline
from nfvbed.report.labels import row_labels, run_label

PANEL: Final = 400
MARGIN: Final = 90
HEIGHT: Final = 170
TABLES: Final = tuple(kind for kind in ResultKind if kind.is_table)

Records = list[dict[str, Any]]


def over_time_figure(comparison: Comparison) -> Drawing | None:
    """Draw every series, the variants' lines of one condition in a panel; None where no test took one."""
    records = [record for test in newest_tests(comparison, TABLES) for record in _records(comparison, test)]
    if not records:
        return None
    names = row_labels(comparison)
    panels = list(dict.fromkeys(record["panel"] for record in records))
    columns = min(2, len(panels))

    def draw() -> alt.TopLevelMixin:
        scale = color_scale(names)
        drawn = [_panel([record for record in records if record["panel"] == panel], scale) for panel in panels]
        chart: alt.TopLevelMixin = alt.concat(*drawn, columns=columns).resolve_scale(color="shared")
        return chart

    caption = f"A step for each interval; of a repeated test the newest is drawn. {short_caption(comparison)}"
    said = f"Over time. {_described(records)}."
    return Drawing("Over time", caption, said, draw, comparison.simulated, MARGIN, columns)


def _records(comparison: Comparison, test: MeasuredTest) -> Records:
    return [
        {
            "variant": run_label(test.variant, test.run, several=len(comparison.runs) > 1),
            "panel": f"{test.result.test}, {wording.row_point(test)}: {series.label}",
            "axis": f"{series.name}, {series.unit}" if series.unit else series.name,
            "from_s": place * series.step_s,
            "value": value,
        }
        for series in (test.table.series if test.table else ())
        for place, value in enumerate(series.values)
    ]


def _panel(records: Records, scale: alt.Scale) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(inline(records), title=records[0]["panel"], width=PANEL, height=HEIGHT)
        .mark_line(interpolate="step-after", strokeWidth=1.5, invalid="break-paths-show-path-domains")
        .encode(
            x=alt.X("from_s:Q", title="start of the interval, s", scale=alt.Scale(nice=False)),
            y=alt.Y("value:Q", title=records[0]["axis"], scale=alt.Scale(zero=True)),
            color=alt.Color("variant:N", title="variant", scale=scale),
            tooltip=[alt.Tooltip("variant:N"), alt.Tooltip("from_s:Q"), alt.Tooltip("value:Q", format=".4~g")],
        )
    )
    return chart


def _described(records: Records) -> str:
    found: dict[tuple[str, str, str], list[float]] = {}
    for record in records:
        if record["value"] is not None:
            found.setdefault((record["variant"], record["panel"], record["axis"]), []).append(record["value"])
    return "; ".join(
        f"{variant}, {panel}: {axis} {min(values):.4g} to {max(values):.4g}, median {median(values):.4g}"
        for (variant, panel, axis), values in found.items()
    )
