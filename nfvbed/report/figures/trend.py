"""Figure: the runs of one setting in their order, the medians between steps, and where the environment changed."""

import json
from typing import Any, Final

import altair as alt

from nfvbed.report import wording
from nfvbed.report.figures.theme import WIDTH, Drawing, color_scale, inline
from nfvbed.report.trend import Trend, change_ratio, headline, letter, state_of, title

HEIGHT: Final = 300
MARGIN: Final = 90
ROOM: Final = (0.9, 1.08)
"""Parts of the least and the greatest figure: the ends of the axis. Scatter of a per cent is not drawn as large as a
step.
"""
GREY: Final = "#7A7A7A"
KINDS: Final = {"run": "circle", "lies apart": "square", "suspected": "diamond", "step": "triangle-up"}

Records = list[dict[str, Any]]


def trend_figure(trend: Trend) -> Drawing:
    """Draw a series."""
    series = trend.series
    values = [figure.value for figure in series.finding.figures]
    divisor, unit = _scale(max(values), series.unit)
    least, greatest = (end * factor / divisor for end, factor in zip((min(values), max(values)), ROOM, strict=True))

    def draw() -> alt.TopLevelMixin:
        y = alt.Y("value:Q", title=unit, scale=alt.Scale(domain=[least, greatest or 1], nice=False, zero=False))
        runs = _runs(trend, divisor)
        variant = series.setting.variant
        color = alt.Color("variant:N", scale=color_scale([variant]), legend=None)
        layers = [*_changes(trend), *_medians(trend, divisor, y), *_points(runs, y, color), *_left_out(trend, least)]
        return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)

    caption = (
        "A point for each run, the oldest first, evenly spaced; horizontal lines: medians between steps. Vertical"
        " lines: host, rig or configuration changed there, by letter below. A step is one that a second run confirmed."
        " The axis does not begin at 0."
    )
    if series.left_out:
        caption += " Crosses at the foot: runs that are no samples, between those before and after them."
    said = f"{headline(trend)} {len(values)} runs from {series.measured[0].at[:10]} to {series.measured[-1].at[:10]}."
    return Drawing(title(series.setting), caption, said, draw, series.setting.simulated, MARGIN)


def _scale(greatest: float, unit: str) -> tuple[float, str]:
    """Return what values are divided by, and the unit that they are in then."""
    for least, factor, name in wording.SCALES.get(unit, ()):
        if greatest >= least:
            return factor, name
    return 1, unit


def _runs(trend: Trend, divisor: float) -> Records:
    finding = trend.series.finding
    kinds = {entry.place: "lies apart" for entry in finding.apart}
    kinds |= {step.place: "step" for step in finding.steps}
    labels = {step.place: change_ratio(step.ratio) for step in finding.steps}
    if finding.suspected is not None:
        kinds[finding.suspected.place] = "suspected"
        labels[finding.suspected.place] = f"{change_ratio(finding.suspected.ratio)} ?"
    return [
        {
            "variant": trend.series.setting.variant,
            "place": place + 1,
            "at": entry.at[:16].replace("T", " "),
            "value": entry.value / divisor,
            "kind": kinds.get(place, "run"),
            "label": labels.get(place, ""),
        }
        for place, entry in enumerate(trend.series.measured)
    ]


def _points(runs: Records, y: alt.Y, color: alt.Color) -> list[alt.Chart]:
    dates = json.dumps([run["at"][:10] for run in runs])
    axis = alt.Axis(labelExpr=f"{dates}[datum.value - 1]", tickMinStep=1, labelOverlap=True, grid=False)
    ends = alt.Scale(domain=[0.5, len(runs) + 0.5], nice=False)
    x = alt.X("place:Q", title="run, by its date", axis=axis, scale=ends)
    shown = [kind for kind in KINDS if any(run["kind"] == kind for run in runs)]
    shape = alt.Shape(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=shown, range=[KINDS[kind] for kind in shown]),
        legend=alt.Legend(symbolFillColor=GREY, symbolStrokeColor=GREY) if len(shown) > 1 else None,
    )
    base = alt.Chart(inline(runs)).encode(x=x, y=y)
    tooltip = ["at:N", alt.Tooltip("value:Q", format=".4~g"), "kind:N", "label:N"]
    return [
        base.mark_point(size=70, filled=True, opacity=1).encode(color=color, shape=shape, tooltip=tooltip),
        base.transform_filter("datum.label").mark_text(dy=-14, fontSize=12, fontWeight="bold").encode(text="label:N"),
    ]


def _left_out(trend: Trend, least: float) -> list[alt.Chart]:
    """Mark where a run was that is no sample: it has no figure."""
    series = trend.series
    marks = []
    places = [
        sum((other.at, other.run) < (entry.at, entry.run) for other in series.measured) for entry in series.left_out
    ]
    for number, (before, entry) in enumerate(zip(places, series.left_out, strict=True)):
        # Several in one gap stand beside each other.
        beside = places[: number + 1].count(before) / (places.count(before) + 1)
        began = entry.at[:16].replace("T", " ")
        place = before + beside * (1 if before < len(series.measured) else 0.5)
        marks.append({"place": place, "value": least, "at": began, "state": state_of(series, entry)})
    if not marks:
        return []
    base = alt.Chart(inline(marks)).mark_point(shape="cross", angle=45, size=70, filled=True, opacity=1, color=GREY)
    return [base.encode(x="place:Q", y="value:Q", tooltip=["at:N", "state:N"])]


def _medians(trend: Trend, divisor: float, y: alt.Y) -> list[alt.Chart]:
    finding = trend.series.finding
    if finding.drift is not None:
        # Through the median, as steep as the trend.
        middle = (len(finding.figures) - 1) / 2
        (whole,) = finding.parts
        ends = [
            {"place": place + 1, "value": whole.value * finding.drift.per_run ** (place - middle) / divisor}
            for place in range(len(finding.figures))
        ]
        line = alt.Chart(inline(ends))
        return [line.mark_line(strokeWidth=2, opacity=0.6, color=GREY).encode(x="place:Q", y=y)]
    parts = [
        {"place": part.first + 0.6, "end": part.first + part.runs + 0.4, "value": part.value / divisor}
        for part in finding.parts
    ]
    if not parts:
        return []
    lines = alt.Chart(inline(parts))
    return [lines.mark_rule(strokeWidth=3, opacity=0.6, color=GREY).encode(x="place:Q", x2="end:Q", y=y)]


def _changes(trend: Trend) -> list[alt.Chart]:
    marks = [{"place": change.place + 0.5, "name": letter(number)} for number, change in enumerate(trend.changes)]
    if not marks:
        return []
    base = alt.Chart(inline(marks)).encode(x="place:Q")
    return [
        base.mark_rule(strokeDash=[3, 3], strokeWidth=1.2, color=GREY),
        base.mark_text(baseline="bottom", dy=-3, fontSize=12).encode(y=alt.value(0), text="name:N"),
    ]
