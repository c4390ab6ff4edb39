"""Figures: missing frames and latency against the load, from the tests at given loads."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import Status
from nfvbed.records.results import ResultKind
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.palette import PALETTE
from nfvbed.report.figures.theme import Drawing, color_scale, inline
from nfvbed.report.labels import labels_of, row_labels

PANEL: Final = 440
MARGIN: Final = 90
HEIGHT: Final = 230
CURVES: Final = (ResultKind.LOSS_CURVE, ResultKind.CONTINUOUS)
LATENCIES: Final = (ResultKind.LATENCY, ResultKind.LOSS_CURVE, ResultKind.CONTINUOUS)
LINES: Final = alt.Legend(symbolType="stroke", symbolSize=500, symbolStrokeColor=PALETTE[7])
PERCENTILES: Final = {50.0: "P50", 90.0: "P90", 99.0: "P99"}


def loss_by_load_figure(comparison: Comparison) -> Drawing | None:
    """Draw the part of missing frames against the intended load; None where no loss curve was measured."""
    tests = newest_tests(comparison, CURVES)
    if not any(test.result.kind is ResultKind.LOSS_CURVE for test in tests):
        return None
    several = len(comparison.runs) > 1
    records = [
        labels_of(test, several=several)
        | {"mpps": load.point.intended_load_pps / 1e6, "percent": 100 * load.missing_ratio}
        for test in tests
        for load in test.loads
    ]
    y = alt.Y("percent:Q", title="missing frames, % of intended", scale=alt.Scale(type="symlog", constant=0.01))
    caption = (
        "A dot for each trial; missing are lost and refused frames, as a search counts; the axis is linear near 0."
        f" {short_caption(comparison)}"
    )
    described = "Missing frames by load. " + "; ".join(
        f"{record['variant']} at {record['point']}: {record['percent']:.3g} % at {record['mpps']:.3g} Mpps"
        for record in records
    )
    return _drawn(comparison, records, y, ("Missing frames by load", caption, described + "."))


def latency_by_load_figure(comparison: Comparison) -> Drawing | None:
    """Draw latency percentiles against the intended load; None where no latency was measured at given loads."""
    several = len(comparison.runs) > 1
    records = [
        labels_of(test, several=several)
        | {
            "mpps": load.point.intended_load_pps / 1e6,
            "microseconds": value / 1e3,
            "percentile": PERCENTILES[percentile],
        }
        for test in newest_tests(comparison, LATENCIES)
        for load in test.loads
        if load.latency is not None
        for percentile, value in load.latency.curve
        if percentile in PERCENTILES
    ]
    if not records:
        return None
    y = alt.Y(
        "microseconds:Q", title="latency, µs", scale=alt.Scale(type="log"), axis=alt.Axis(format=",~g", tickCount=6)
    )
    caption = f"Both directions together; dashes distinguish percentiles. {short_caption(comparison)}"
    medians = [record for record in records if record["percentile"] == "P50"]
    described = "Latency by load. " + "; ".join(
        f"{record['variant']} at {record['point']}: median {record['microseconds']:.3g} microseconds at"
        f" {record['mpps']:.3g} Mpps"
        for record in medians
    )
    return _drawn(comparison, records, y, ("Latency by load", caption, described + "."))


def newest_tests(comparison: Comparison, kinds: tuple[ResultKind, ...]) -> list[MeasuredTest]:
    """Return the results to draw: of the class that is shown, the newest of each test."""
    newest = {
        (test.run, test.cell, test.result.test): test
        for test in comparison.tests
        if test.shown and test.result.status is Status.OK and test.result.kind in kinds
    }
    return list(newest.values())


def _drawn(comparison: Comparison, records: list[dict[str, Any]], y: alt.Y, texts: tuple[str, str, str]) -> Drawing:
    names = row_labels(comparison)
    points = list(dict.fromkeys(record["point"] for record in records))
    columns = min(2, len(points))

    def draw() -> alt.TopLevelMixin:
        dashes = (
            {"strokeDash": alt.StrokeDash("percentile:N", title="percentile", legend=LINES)}
            if "percentile" in records[0]
            else {}
        )
        # Shapes distinguish variants without colour; each test has a line of its own. Lines and points are two marks:
        # of one that is both, the legend of dashes is drawn as points are, without a line.
        base = alt.Chart().encode(
            x=alt.X("mpps:Q", title="intended load, million frames/s, both directions together"),
            y=y,
            color=alt.Color("variant:N", title="variant", scale=color_scale(names)),
            tooltip=[f"{key}:{'N' if isinstance(value, str) else 'Q'}" for key, value in records[0].items()],
        )
        lines = base.mark_line(strokeWidth=2).encode(detail=alt.Detail("test:N"), **dashes)
        # With the colours' own order both are one legend.
        shapes = alt.Shape("variant:N", title="variant", scale=alt.Scale(domain=list(dict.fromkeys(names))))
        points_of_lines = base.mark_point(filled=True, size=45, opacity=1).encode(shape=shapes)
        chart: alt.TopLevelMixin = (
            alt.layer(lines, points_of_lines, data=inline(records))
            .properties(width=PANEL, height=HEIGHT)
            .facet(facet=alt.Facet("point:N", title=None, sort=points), columns=columns)
        )
        return chart

    title, caption, described = texts
    return Drawing(title, caption, described, draw, comparison.simulated, MARGIN, columns)
