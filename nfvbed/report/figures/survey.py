"""Figures of many variants: a panel for each traffic point, its variants in order, each named beside its mark.

Colours could not distinguish twenty variants, so none is used for that.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.report import wording
from nfvbed.report.captions import interval_words, loads, short_caption
from nfvbed.report.figures.palette import PALETTE
from nfvbed.report.figures.theme import DASHED, Drawing, inline, label_width
from nfvbed.report.pacedload import load_of, loads_differ

COLUMNS: Final = 2
STEP: Final = 19
PANEL: Final = 300
LABEL: Final = 75
"""Room for the number to the right of a mark, pixels."""
SEPARATOR: Final = "|"
PLACE_WITHOUT: Final = "split(datum.label, '|')[1]"
"""Panels order their variants by a number before the name, which the axis leaves out."""
CHAIN_COLUMNS: Final = 4
CHAIN_PANEL: Final = 170

Record = dict[str, Any]


def rates(comparison: Comparison) -> Drawing | None:
    """Draw the rates of each traffic point, the highest first."""

    def record(row: CellSummary) -> Record | None:
        if row.mrr is None:
            return None
        interval = row.mrr.interval
        return {
            "value": row.mrr.median_pps / 1e6,
            "low": (interval.low if interval else row.mrr.median_pps) / 1e6,
            "high": (interval.high if interval else row.mrr.median_pps) / 1e6,
            "label": wording.bound(row) + wording.mpps(row.mrr.median_pps),
            "limit": wording.limited_by(row),
            "faint": row.limited,
            "range": bool(interval and interval.is_range),
        }

    line = interval_words(comparison.rows)
    legend = f"Bar: median; {line}; pale, with ≥: limited, a lower bound; pale without: an emulated guest."
    return _panels(comparison, record, ("Maximum receive rate", "million frames/s", legend), _bars)


def of_bare_ports(comparison: Comparison) -> Drawing | None:
    """Draw the rates as parts of the bare ports'."""

    def record(row: CellSummary) -> Record | None:
        found = row.of_bare_ports
        if found is None:
            return None
        low, high = (found.interval.low, found.interval.high) if found.interval else (found.ratio, found.ratio)
        label = f"{found.ratio:.2f} {row.ports}"
        return {"value": found.ratio, "low": low, "high": high, "label": label, "limit": wording.limited_by(row)}

    legend = "The generator's own rate, looped back on the same kind of ports in the same run, is 1 (dashed)."
    return _panels(comparison, record, ("Rate as a part of the bare ports'", "part", legend), _dots)


def latencies(comparison: Comparison) -> Drawing | None:
    """Draw P50 to P99 at a given load of each traffic point, the least P50 first; loads that differ are beside them."""
    own_loads = loads_differ(comparison.rows)

    def record(row: CellSummary) -> Record | None:
        found = row.given_load.latency if row.given_load else None
        if found is None:
            return None
        p50, p99 = (max(value, 1) / 1e3 for value in (found.p50_ns, found.p99_ns))
        label = f"{wording.microseconds(found.p50_ns)}, {wording.microseconds(found.p99_ns)}"
        label += f" at {load_of(row)}" if own_loads else ""
        return {"value": p50, "low": p50, "high": p99, "label": label, "limit": "", "order": p50}

    beside = " After it: the load, Mpps." if own_loads else ""
    legend = f"Dot: P50; line: to P99.{beside} {loads(comparison.rows)}"
    return _panels(comparison, record, ("Latency at a given load", "µs", legend), _ranges)


def chains(comparison: Comparison) -> Drawing | None:
    """Draw the rate by the length of the chain, a small panel for each variant, each on a scale of its own."""
    records: list[Record] = [
        {
            "panel": chain.variant,
            "length": link.length,
            "value": link.rate_pps / 1e6,
            "low": (link.interval.low if link.interval else link.rate_pps) / 1e6,
            "high": (link.interval.high if link.interval else link.rate_pps) / 1e6,
            "held": chain.hold.share * chain.whole_pps / 1e6,
            "label": f"{'≥ ' if link.limited else ''}{wording.mpps(link.rate_pps)}",
        }
        for chain in comparison.chains
        if chain.frame_size == comparison.chains[0].frame_size
        for link in chain.links
    ]
    if not records:
        return None
    panels = list(dict.fromkeys(record["panel"] for record in records))

    def draw() -> alt.TopLevelMixin:
        base = alt.Chart().encode(x=alt.X("length:O", title=None, axis=alt.Axis(labelAngle=0)))
        rate = alt.Y("value:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=3))
        layers = alt.layer(
            base.mark_line(strokeDash=[4, 3], strokeWidth=1.5).encode(y=alt.Y("held:Q")),
            base.mark_line(strokeWidth=2, color=PALETTE[0]).encode(y=rate),
            base.mark_rule(strokeWidth=3, color=PALETTE[0]).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
            base.mark_point(filled=True, size=45, opacity=1, color=PALETTE[0]).encode(y=rate),
            base.mark_text(dy=-11, fontSize=11).encode(y=alt.Y("high:Q"), text=alt.Text("label:N")),
            data=inline(records),
        ).properties(width=CHAIN_PANEL, height=110)
        chart = layers.facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=CHAIN_COLUMNS, spacing=14)
        separate: alt.TopLevelMixin = chart.resolve_scale(y="independent")
        return separate

    size = wording.frame_size(comparison.chains[0].frame_size)
    caption = (
        f"Million frames/s by the number of VNFs behind each other, {size}; medians with intervals; dashed: "
        f"{wording.held(comparison.chains[0].hold)}. Scales differ. {short_caption(comparison)}"
    )
    said = f"Rate by length of the chain, {size}, of {', '.join(panels)}."
    return Drawing("Rate by length of the chain", caption, said, draw, comparison.simulated, 45, CHAIN_COLUMNS)


def _panels(
    comparison: Comparison,
    record: Callable[[CellSummary], Record | None],
    words: tuple[str, str, str],
    layers: Callable[[str], list[alt.Chart]],
) -> Drawing | None:
    """Draw a panel for each traffic point.

    Args:
        record: returns the figures of a row; None: it has none. Rows are sorted by its `order`, least first, else as
            ranked.
        words: title, name of the axis, legend.
        layers: returns the marks, for the axis' name.
    """
    title, axis, legend = words
    records: list[Record] = []
    for point in dict.fromkeys(row.point for row in comparison.rows):
        records += _of_point(comparison.ranked([row for row in comparison.rows if row.point == point]), record)
    if not records:
        return None
    points = list(dict.fromkeys(entry["point"] for entry in records))

    def draw() -> alt.TopLevelMixin:
        chart: alt.TopLevelMixin = (
            alt.layer(*layers(axis), data=inline(records))
            .properties(width=PANEL, height=alt.Step(STEP))
            .facet(facet=alt.Facet("point:N", title=None, sort=points), columns=COLUMNS, spacing=18)
            .resolve_scale(y="independent", x="independent")
        )
        return chart

    caption = f"{legend} {short_caption(comparison)}"
    said = "; ".join(f"{entry['variant']} at {entry['point']}: {entry['label']}" for entry in records)
    margin = label_width(entry["variant"] for entry in records) + LABEL
    return Drawing(title, caption, f"{title}, {axis}. {said}.", draw, comparison.simulated, margin, COLUMNS)


def _of_point(rows: Sequence[CellSummary], record: Callable[[CellSummary], Record | None]) -> list[Record]:
    found = [(row, entry) for row in rows if (entry := record(row)) is not None]
    found.sort(key=lambda pair: pair[1].get("order", 0.0))
    return [
        entry
        | {
            "variant": row.variant,
            "point": wording.row_point(row),
            "place": f"{place:03d}{SEPARATOR}{row.variant}",
            "faint": bool(entry.get("faint")),
        }
        for place, (row, entry) in enumerate(found)
    ]


def _base() -> alt.Chart:
    axis = alt.Axis(labelExpr=PLACE_WITHOUT, labelLimit=220, ticks=False)
    return alt.Chart().encode(y=alt.Y("place:N", title=None, axis=axis))


def _labels(base: alt.Chart) -> alt.Chart:
    numbers: alt.Chart = base.mark_text(align="left", dx=8, fontSize=12)
    return numbers.encode(x=alt.value("width"), text=alt.Text("label:N"))


def _tooltip() -> list[Any]:
    return [alt.Tooltip("variant:N"), alt.Tooltip("label:N"), alt.Tooltip("limit:N", title="limited by")]


def _bars(title: str) -> list[alt.Chart]:
    base, x = _base(), alt.X("value:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6))
    opacity = alt.condition("datum.faint", alt.value(0.45), alt.value(0.95))
    return [
        base.mark_bar(height=11, color=PALETTE[0]).encode(x=x, opacity=opacity, tooltip=_tooltip()),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), strokeDash=DASHED),
        _labels(base),
    ]


def _dots(title: str) -> list[alt.Chart]:
    base, x = _base(), alt.X("value:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6))
    return [
        alt.Chart().mark_rule(strokeDash=[4, 2]).encode(x=alt.XDatum(1)),
        base.mark_rule(strokeWidth=3, color=PALETTE[0]).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=55, opacity=1, color=PALETTE[0]).encode(x=x, tooltip=_tooltip()),
        _labels(base),
    ]


def _ranges(title: str) -> list[alt.Chart]:
    scale, axis = alt.Scale(type="log"), alt.Axis(format=",~g", tickCount=5)
    base, x = _base(), alt.X("value:Q", title=title, scale=scale, axis=axis)
    return [
        base.mark_rule(strokeWidth=3, color=PALETTE[0], opacity=0.6).encode(
            x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q")
        ),
        base.mark_point(filled=True, size=55, opacity=1, color=PALETTE[0]).encode(x=x, tooltip=_tooltip()),
        _labels(base),
    ]
