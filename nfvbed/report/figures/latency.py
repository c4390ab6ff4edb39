"""Figure: latency percentiles at the common load of each traffic point, from the merged histograms."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.report import wording
from nfvbed.report.captions import loads, short_caption
from nfvbed.report.figures.theme import Drawing, color_scale, inline
from nfvbed.report.labels import row_labels, run_label
from nfvbed.report.pacedload import load_of

PANEL: Final = 440
MARGIN: Final = 90
TICKS: Final = (2, 10, 100, 1_000, 10_000, 100_000)
LABELS: Final = (
    "{'2': '50%', '10': '90%', '100': '99%', '1000': '99.9%', '10000': '99.99%', "
    "'100000': '99.999%'}[format(datum.value, 'd')]"
)


def latency_figure(comparison: Comparison) -> Drawing | None:
    """Draw the percentile curves; None where no latency was measured."""
    several = len(comparison.runs) > 1
    names = row_labels(comparison)
    rows = [row for row in comparison.rows if row.given_load and row.given_load.latency]
    if not rows:
        return None
    records = [record for row in rows for record in _curve(row, several)]
    points = list(dict.fromkeys(wording.row_point(row) for row in rows))
    columns = min(2, len(points))

    def draw() -> alt.TopLevelMixin:
        chart: alt.TopLevelMixin = (
            alt.Chart(inline(records))
            .mark_line(point=alt.OverlayMarkDef(size=18), interpolate="linear", strokeWidth=2)
            .encode(
                x=alt.X(
                    "one_in:Q",
                    title="percentile of frames",
                    scale=alt.Scale(type="log", nice=False),
                    axis=alt.Axis(values=list(TICKS), labelExpr=LABELS, labelOverlap="greedy", labelFlush=False),
                ),
                y=alt.Y(
                    "latency_us:Q",
                    title="latency, µs",
                    scale=alt.Scale(type="log"),
                    axis=alt.Axis(format=",~g", tickCount=6),
                ),
                color=alt.Color("variant:N", title="variant", scale=color_scale(names)),
                strokeDash=alt.StrokeDash("variant:N", sort=names, legend=None),
                tooltip=[
                    alt.Tooltip("variant:N"),
                    alt.Tooltip("load:N", title="at Mpps"),
                    alt.Tooltip("percentile:Q"),
                    alt.Tooltip("latency_us:Q", format=".1f"),
                ],
            )
            .properties(width=PANEL, height=230)
            .facet(facet=alt.Facet("point:N", title=None, sort=points), columns=columns)
        )
        return chart

    caption = f"{loads(rows)} Both directions together; the last point is the maximum. {short_caption(comparison)}"
    said = _description(rows)
    return Drawing("Latency at a given load", caption, said, draw, comparison.simulated, MARGIN, columns)


def _curve(row: CellSummary, several: bool) -> list[dict[str, Any]]:
    found = row.given_load.latency if row.given_load else None
    if found is None:
        return []
    return [
        {
            "variant": run_label(row.variant, row.run, several=several),
            "point": wording.row_point(row),
            "load": load_of(row),
            "percentile": percentile,
            "one_in": min(100 / (100 - percentile) if percentile < 100 else float(found.frames), float(found.frames)),
            "latency_us": max(value_ns, 1) / 1e3,
        }
        for percentile, value_ns in found.curve
    ]


def _description(rows: list[CellSummary]) -> str:
    said = [
        f"{row.variant} at {wording.row_point(row)}, {load_of(row)} Mpps: "
        f"median {wording.microseconds(row.given_load.latency.p50_ns)}, "
        f"99th percentile {wording.microseconds(row.given_load.latency.p99_ns)} microseconds"
        for row in rows
        if row.given_load and row.given_load.latency
    ]
    return f"Latency by percentile. {'; '.join(said)}."
