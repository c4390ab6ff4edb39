"""Figure: maximum receive rate by variant and frame size, with intervals, single trials and ceilings."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.summary import CellSummary
from nfvbed.records import CellRole
from nfvbed.report import wording
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.theme import WIDTH, Spec, color_scale, finish, point_label, run_label

STRIPES: Final = 24
BAND: Final = 34
LABEL_SHARE: Final = 0.11
"""Part of the axis that a label takes."""
CEILING_NAMES: Final = {CellRole.LOOPBACK: "generator looped back", CellRole.REFERENCE: "testpmd io in its place"}


def rate_figure(comparison: Comparison) -> Spec | None:
    """Draw the rates; None where nothing was measured."""
    several = len(comparison.runs) > 1
    rows = [row for row in comparison.rows if row.mrr is not None]
    if not rows:
        return None
    names = [run_label(row.variant, row.run, several=several) for row in comparison.rows]
    records = [record for row in rows for record in _records(row, several)]
    records += [record for row in rows for record in _ceilings(row, several)]
    _place_labels(records)
    base = alt.Chart().encode(y=alt.Y("variant:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)))
    color = alt.Color("variant:N", scale=color_scale(names), legend=None)
    layers = alt.layer(*_layers(base, color, records), data=alt.InlineData(values=records)).properties(
        width=WIDTH, height=alt.Step(BAND)
    )
    chart = layers.facet(
        row=alt.Row(
            "point:N",
            title=None,
            sort=list(dict.fromkeys(point_label(row.topology, row.frame_size) for row in rows)),
            header=alt.Header(labelAngle=0, labelAlign="left", labelAnchor="start", labelOrient="top", labelPadding=2),
        ),
        spacing=18,
    )
    legend = "Bar: median; line: 95 % interval; dots: single trials; striped, with ≥: limited, a lower bound."
    caption = f"{legend} {short_caption(comparison)}"
    return finish(chart, "Maximum receive rate", caption, _description(rows), simulated=comparison.simulated)


def _records(row: CellSummary, several: bool) -> list[dict[str, Any]]:
    if row.mrr is None:
        return []
    base = {
        "variant": run_label(row.variant, row.run, several=several),
        "point": point_label(row.topology, row.frame_size),
    }
    rate = row.mrr
    bar = base | {"kind": "median", "mpps": rate.median_pps / 1e6, "limited": row.limited}
    bar["label"] = ("≥ " if row.limited else "") + wording.mpps(rate.median_pps)
    if rate.interval:
        bar |= {"low": rate.interval.low / 1e6, "high": rate.interval.high / 1e6}
    bar["end"] = max(rate.samples_pps) / 1e6
    return [bar, *(base | {"kind": "trial", "mpps": sample / 1e6} for sample in rate.samples_pps)]


def _place_labels(records: list[dict[str, Any]]) -> None:
    """Move a bar's label past the ceilings that it would cover."""
    room = LABEL_SHARE * max(record["mpps"] for record in records)
    for bar in records:
        if bar["kind"] != "median":
            continue
        same = [
            r
            for r in records
            if r["kind"] == "ceiling" and (r["variant"], r["point"]) == (bar["variant"], bar["point"])
        ]
        for mark in sorted(record["mpps"] for record in same):
            if bar["end"] - room / 4 <= mark <= bar["end"] + room:
                bar["end"] = max(bar["end"], mark)


def _ceilings(row: CellSummary, several: bool) -> list[dict[str, Any]]:
    base = {
        "variant": run_label(row.variant, row.run, several=several),
        "point": point_label(row.topology, row.frame_size),
        "kind": "ceiling",
    }
    found = []
    if row.loopback_pps:
        found.append(base | {"mpps": row.loopback_pps / 1e6, "ceiling": CEILING_NAMES[CellRole.LOOPBACK]})
    if row.price:
        found.append(base | {"mpps": row.price.ceiling_pps / 1e6, "ceiling": CEILING_NAMES[CellRole.REFERENCE]})
    return found


def _layers(base: alt.Chart, color: alt.Color, records: list[dict[str, Any]]) -> list[alt.Chart]:
    axis = alt.X("mpps:Q", title="million frames/s, both directions together", scale=alt.Scale(zero=True))
    medians = base.transform_filter("datum.kind == 'median'")
    tooltip = [alt.Tooltip("variant:N"), alt.Tooltip("label:N", title="Mpps")]
    marks = base.transform_filter("datum.kind == 'ceiling'").mark_point(
        size=90, filled=True, opacity=1, color="#7A7A7A"
    )
    ceilings = marks.encode(
        x=axis,
        shape=alt.Shape(
            "ceiling:N",
            title="ceilings of the same ports",
            scale=alt.Scale(domain=list(CEILING_NAMES.values()), range=["triangle-left", "diamond"]),
        ),
        tooltip=["ceiling:N", alt.Tooltip("mpps:Q", format=".3f")],
    )
    stripes = medians.transform_filter("datum.limited").mark_bar(height=16, fill=_stripes()).encode(x=axis)
    dots = base.transform_filter("datum.kind == 'trial'").mark_point(size=14, opacity=0.7, yOffset=11)
    # A layer without data still takes a place in the legend and makes Vega warn.
    return [
        medians.mark_bar(height=16, opacity=0.75).encode(x=axis, color=color, tooltip=tooltip),
        *([stripes] if any(record.get("limited") for record in records) else []),
        medians.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q"),
        dots.encode(x=axis, color=color),
        *([ceilings] if any(record["kind"] == "ceiling" for record in records) else []),
        medians.mark_text(align="left", dx=8, fontSize=11).encode(x=alt.X("end:Q"), text="label:N"),
    ]


def _stripes() -> dict[str, Any]:
    """Give a hatching: a gradient of hard stops, since Vega-Lite has no patterns."""
    stops = []
    for index in range(STRIPES):
        color = "#ffffffb0" if index % 2 else "#ffffff00"
        stops += [{"offset": index / STRIPES, "color": color}, {"offset": (index + 1) / STRIPES, "color": color}]
    return {"gradient": "linear", "x1": 0, "y1": 0, "x2": 1, "y2": 0, "stops": stops}


def _description(rows: list[CellSummary]) -> str:
    said = [
        f"{row.variant} at {point_label(row.topology, row.frame_size)}: "
        f"{'at least ' if row.limited else ''}{wording.mpps(row.mrr.median_pps)} Mpps"
        for row in rows
        if row.mrr
    ]
    return f"Bar chart of the maximum receive rate. {'; '.join(said)}."
