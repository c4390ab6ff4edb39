"""Figures: what throughput searches found, and the same relative to testpmd in the switch's place."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.report import throughput, wording
from nfvbed.report.figures.theme import WIDTH, Drawing, color_scale, inline, label_width
from nfvbed.report.labels import row_labels
from nfvbed.report.throughput import ThroughputRow

BAND: Final = 24
LABEL_WIDTH: Final = 210
LEGEND: Final = (
    "Dot: median of the regular results; line: least and greatest of them. Hollow: no regular result, and only the "
    "lower bound is known."
)
RELATIVE_LEGEND: Final = (
    "Dot: median of the ratios of rounds; line: exact interval of the median, of fewer than six their range. At 1 the "
    "switch is as fast as testpmd on its ports."
)

Records = list[dict[str, Any]]


def throughput_figure(comparison: Comparison) -> Drawing | None:
    """Draw what each search found; None without a result."""
    rows = [row for row in throughput.throughput_rows(comparison) if row.goal is not None]
    records = [record for row in rows for record in _absolute(row)]
    if not records:
        return None
    excluded = " ".join(throughput.exclusions(rows))
    texts = "Throughput", f"{LEGEND} {excluded} {_placed(rows)}"
    return _drawn(comparison, records, texts, "million frames/s, both directions together")


def relative_figure(comparison: Comparison) -> Drawing | None:
    """Draw the ratios to testpmd; None where no search was relative."""
    rows = [row for row in throughput.throughput_rows(comparison) if row.relative and row.relative.ratios]
    records = [record for row in rows for record in _relative(row)]
    if not records:
        return None
    texts = "Relative throughput", f"{RELATIVE_LEGEND} {_placed(rows)}"
    return _drawn(comparison, records, texts, "of testpmd in the switch's place")


def _placed(rows: list[ThroughputRow]) -> str:
    return f"Placement class: {', '.join(dict.fromkeys(row.placement_class for row in rows))}. No verdicts on these."


def _named(row: ThroughputRow) -> dict[str, Any]:
    goal = row.goal.name if row.goal else wording.NOTHING
    return {"variant": row.variant, "panel": f"{row.point}, {row.test}, {goal}", "search": row.preset, "goal": goal}


def _absolute(row: ThroughputRow) -> Records:
    value = row.throughput_pps if row.throughput_pps is not None else row.lower_pps
    if value is None:
        return []
    low, high = row.spread_pps or (value, value)
    regular = row.throughput_pps is not None
    reason = ", ".join(dict.fromkeys(found.value for found, _ in row.irregular)) or row.status
    numbers = {"value": value / 1e6, "low": low / 1e6, "high": high / 1e6}
    label = wording.mpps(value) if regular else f"no result; from {wording.mpps(value)}: {reason}"
    return [_named(row) | numbers | {"regular": regular, "label": label}]


def _relative(row: ThroughputRow) -> Records:
    found = row.relative
    if found is None or found.ratio is None:
        return []
    low, high = (found.interval.low, found.interval.high) if found.interval else (found.ratio, found.ratio)
    label = f"{found.ratio:.3f} ({len(found.ratios)} pairs)"
    return [_named(row) | {"value": found.ratio, "low": low, "high": high, "regular": True, "label": label}]


def _drawn(comparison: Comparison, records: Records, texts: tuple[str, str], axis: str) -> Drawing:
    names = list(dict.fromkeys([*row_labels(comparison), *(record["variant"] for record in records)]))
    panels = list(dict.fromkeys(record["panel"] for record in records))

    def draw() -> alt.TopLevelMixin:
        header = alt.Header(labelAngle=0, labelAlign="left", labelAnchor="start", labelOrient="top", labelPadding=2)
        plain = alt.Chart().encode(y=alt.Y("variant:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)))
        base = plain.encode(color=alt.Color("variant:N", scale=color_scale(names), legend=None))
        x = alt.X("value:Q", title=axis, scale=alt.Scale(zero=True))
        tooltip = [alt.Tooltip(f"{key}:N") for key in ("variant", "search", "goal", "label")]
        dots = base.transform_filter("datum.regular").mark_point(filled=True, size=80, opacity=1)
        bounds = base.transform_filter("!datum.regular").mark_point(filled=False, size=80, strokeWidth=2)
        layers = alt.layer(
            base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=axis), x2=alt.X2("high:Q")),
            dots.encode(x=x, tooltip=tooltip),
            bounds.encode(x=x, tooltip=tooltip),
            plain.mark_text(align="left", dx=10, fontSize=13).encode(x=alt.value("width"), text=alt.Text("label:N")),
            data=inline(records),
        ).properties(width=WIDTH, height=alt.Step(BAND))
        row = alt.Row("panel:N", title=None, sort=panels, header=header)
        chart: alt.TopLevelMixin = layers.facet(row=row, spacing=18)
        return chart

    title, caption = texts
    said = "; ".join(f"{record['variant']}, {record['panel']}: {record['label']}" for record in records)
    margin = label_width(names) + LABEL_WIDTH
    return Drawing(title, caption, f"{title}. {said}.", draw, comparison.simulated, margin)
