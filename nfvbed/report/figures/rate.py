"""Figure: maximum receive rate by variant and frame size, with intervals, single rounds and ceilings."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import CellRole
from nfvbed.report import wording
from nfvbed.report.captions import interval_words, short_caption
from nfvbed.report.figures.theme import DASHED, WIDTH, Drawing, color_scale, inline, label_width
from nfvbed.report.labels import row_labels, run_label

STRIPES: Final = 48
BAND: Final = 34
LABEL_WIDTH: Final = 75
"""The column of numbers to the right of the bars, in pixels: there no bar, dot or ceiling can cover them."""
CEILING_NAMES: Final = {
    CellRole.LOOPBACK: "generator looped back",
    CellRole.REFERENCE: "testpmd io in its place",
    CellRole.VNF: "VNF alone",
}
SHAPES: Final = ("triangle-left", "diamond", "square")


def rate_figure(comparison: Comparison) -> Drawing | None:
    """Draw the rates; None where nothing was measured."""
    several = len(comparison.runs) > 1
    rows = [row for row in comparison.rows if row.mrr is not None]
    if not rows:
        return None
    names = row_labels(comparison)
    records = [record for row in rows for record in _records(row, several)]
    records += [record for row in rows for record in _ceilings(row, several)]

    def draw() -> alt.TopLevelMixin:
        base = alt.Chart().encode(y=alt.Y("variant:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)))
        color = alt.Color("variant:N", scale=color_scale(names), legend=None)
        layers = alt.layer(*_layers(base, color, records), data=inline(records)).properties(
            width=WIDTH, height=alt.Step(BAND)
        )
        return layers.facet(
            row=alt.Row(
                "point:N",
                title=None,
                sort=list(dict.fromkeys(wording.row_point(row) for row in rows)),
                header=alt.Header(
                    labelAngle=0, labelAlign="left", labelAnchor="start", labelOrient="top", labelPadding=2
                ),
            ),
            spacing=18,
        )

    line = interval_words(rows)
    legend = f"Bar: median of the rounds; {line}; dots: rounds; striped, with ≥: limited, a lower bound."
    caption = f"{legend} {short_caption(comparison)}"
    margin = label_width(names) + LABEL_WIDTH
    return Drawing("Maximum receive rate", caption, _description(rows), draw, comparison.simulated, margin)


def _records(row: CellSummary, several: bool) -> list[dict[str, Any]]:
    if row.mrr is None:
        return []
    base = {
        "variant": run_label(row.variant, row.run, several=several),
        "point": wording.row_point(row),
    }
    rate = row.mrr
    bar = base | {"kind": "median", "mpps": rate.median_pps / 1e6, "limited": row.limited}
    bar["label"] = wording.bound(row) + wording.mpps(rate.median_pps)
    if rate.interval:
        ends = {"low": rate.interval.low / 1e6, "high": rate.interval.high / 1e6}
        bar |= ends | {"range": rate.interval.is_range}
    return [bar, *(base | {"kind": "round", "mpps": sample / 1e6} for sample in rate.samples_pps)]


def _ceilings(row: CellSummary, several: bool) -> list[dict[str, Any]]:
    base = {
        "variant": run_label(row.variant, row.run, several=several),
        "point": wording.row_point(row),
        "kind": "ceiling",
    }
    found = []
    if row.loopback_pps:
        found.append(base | {"mpps": row.loopback_pps / 1e6, "ceiling": CEILING_NAMES[CellRole.LOOPBACK]})
    if row.switching_overhead:
        found.append(
            base | {"mpps": row.switching_overhead.ceiling_pps / 1e6, "ceiling": CEILING_NAMES[CellRole.REFERENCE]}
        )
    if row.vnf_pps:
        found.append(base | {"mpps": row.vnf_pps / 1e6, "ceiling": CEILING_NAMES[CellRole.VNF]})
    return found


def _layers(base: alt.Chart, color: alt.Color, records: list[dict[str, Any]]) -> list[alt.Chart]:
    axis = alt.X("mpps:Q", title="million frames/s, both directions together", scale=alt.Scale(zero=True))
    medians = base.transform_filter("datum.kind == 'median'")
    tooltip = [alt.Tooltip("variant:N"), alt.Tooltip("label:N", title="Mpps")]
    marks = base.transform_filter("datum.kind == 'ceiling'").mark_point(
        size=90, filled=True, opacity=1, color="#7A7A7A", stroke="white", strokeWidth=1
    )
    ceilings = marks.encode(
        x=axis,
        shape=alt.Shape(
            "ceiling:N",
            title="ceilings of the same ports",
            scale=_shapes({record["ceiling"] for record in records if record["kind"] == "ceiling"}),
        ),
        tooltip=[alt.Tooltip("ceiling:N"), alt.Tooltip("mpps:Q", format=".3f")],
    )
    stripes = medians.transform_filter("datum.limited").mark_bar(height=16, fill=_stripes()).encode(x=axis)
    dots = base.transform_filter("datum.kind == 'round'").mark_point(size=30, filled=True, opacity=0.75, yOffset=12)
    # A layer without data still takes a place in the legend and makes Vega warn.
    return [
        medians.mark_bar(height=16, opacity=0.9).encode(x=axis, color=color, tooltip=tooltip),
        *([stripes] if any(record.get("limited") for record in records) else []),
        medians.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), strokeDash=DASHED),
        dots.encode(x=axis, color=color),
        *([ceilings] if any(record["kind"] == "ceiling" for record in records) else []),
        medians.mark_text(align="left", dx=10, fontSize=13).encode(x=alt.value("width"), text=alt.Text("label:N")),
    ]


def _shapes(shown: set[str]) -> alt.Scale:
    """Return each kind of ceiling its shape, and the legend only those that there are."""
    kinds = [(name, shape) for name, shape in zip(CEILING_NAMES.values(), SHAPES, strict=True) if name in shown]
    return alt.Scale(domain=[name for name, _ in kinds], range=[shape for _, shape in kinds])


def _stripes() -> dict[str, Any]:
    """Return a hatching: a gradient of hard stops, since Vega-Lite has no patterns."""
    stops = []
    for index in range(STRIPES):
        color = "#ffffffb0" if index % 2 else "#ffffff00"
        stops += [{"offset": index / STRIPES, "color": color}, {"offset": (index + 1) / STRIPES, "color": color}]
    return {"gradient": "linear", "x1": 0, "y1": 0, "x2": 1, "y2": 0, "stops": stops}


def _description(rows: list[CellSummary]) -> str:
    said = [
        f"{row.variant} at {wording.row_point(row)}: "
        f"{'at least ' if row.limited else ''}{wording.mpps(row.mrr.median_pps)} Mpps"
        for row in rows
        if row.mrr
    ]
    return f"Bar chart of the maximum receive rate. {'; '.join(said)}."
