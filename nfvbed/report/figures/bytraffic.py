"""Figures: rates over what their traffic points differ in: the frame size, or the number of flows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.report import wording
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.theme import Drawing, color_scale, inline
from nfvbed.report.labels import row_labels, run_label
from nfvbed.report.throughput import throughput_rows

PANEL: Final = 440
MARGIN: Final = 80
HEIGHT: Final = 230
LEAST_POINTS: Final = 2
"""Sizes, or numbers of flows, that make a line."""
WIDE: Final = 8
"""Largest over smallest from which the axis is logarithmic."""
MRR: Final = "MRR"
LEGEND: Final = (
    "MRR: medians with intervals, of fewer than six rounds their range. Of searches the median, with least and "
    "greatest; irregular results are left out."
)

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class _Axis:
    """The property in which the traffic points of a figure differ."""

    title: str
    name: str
    of: Callable[[CellSummary], int | None]
    rest: Callable[[CellSummary], str]
    """The rest of a point, which names its panel."""


def by_frame_size_figure(comparison: Comparison) -> Drawing | None:
    """Draw rates over the frame size; None where no path has several sizes."""
    return _figure(comparison, _Axis("Rate by frame size", "frame size, B", _size, lambda row: _path(row, _flows(row))))


def by_flows_figure(comparison: Comparison) -> Drawing | None:
    """Draw rates over the number of flows; None where no path has several."""
    axis = _Axis(
        "Rate by flows", "flows", lambda row: row.flows, lambda row: _path(row, wording.frame_size(row.frame_size))
    )
    return _figure(comparison, axis)


def _size(row: CellSummary) -> int | None:
    return row.frame_size if isinstance(row.frame_size, int) else None


def _flows(row: CellSummary) -> str:
    return f"{row.flows} flow{'s' if row.flows > 1 else ''}"


def _path(row: CellSummary, further: str) -> str:
    return ", ".join(part for part in (row.topology, row.vnf, further, "" if row.bidirectional else "one way") if part)


def _figure(comparison: Comparison, axis: _Axis) -> Drawing | None:
    found = [*_rates(comparison, axis), *_throughputs(comparison, axis)]
    values: dict[tuple[str, str], set[int]] = {}
    for record in found:
        values.setdefault((record["panel"], record["variant"]), set()).add(record["at"])
    records = [r for r in found if len(values[r["panel"], r["variant"]]) >= LEAST_POINTS]
    if not records:
        return None
    names = row_labels(comparison)
    panels = list(dict.fromkeys(record["panel"] for record in records))
    columns = min(2, len(panels))

    def draw() -> alt.TopLevelMixin:
        every = [record["at"] for record in records]
        scale = (
            alt.Scale(type="log", nice=False, padding=10)
            if max(every) / min(every) >= WIDE
            else alt.Scale(zero=False, padding=10)
        )
        ticks = alt.Axis(values=sorted(set(every)), format="d", grid=False)
        color = alt.Color(
            "variant:N", title="variant", scale=color_scale(names), legend=alt.Legend(values=_shown(records))
        )
        base = alt.Chart().encode(x=alt.X("at:Q", title=axis.name, scale=scale, axis=ticks), color=color)
        rate = alt.Y("mpps:Q", title="million frames/s", scale=alt.Scale(zero=True))
        tooltip = [alt.Tooltip("variant:N"), alt.Tooltip("at:Q", title=axis.name), alt.Tooltip("label:N", title="Mpps")]
        layers = alt.layer(
            base.mark_line(strokeWidth=2).encode(y=rate),
            base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
            base.mark_point(filled=True, size=60, opacity=1).encode(
                y=rate, shape=alt.Shape("variant:N", sort=names, legend=None), tooltip=tooltip
            ),
            data=inline(records),
        ).properties(width=PANEL, height=HEIGHT)
        chart: alt.TopLevelMixin = layers.facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=columns)
        return chart

    said = "; ".join(f"{r['variant']}, {r['panel']}, {r['at']}: {r['label']} Mpps" for r in records)
    limited = " ≥ in the data: limited, a lower bound." if any(r["label"].startswith("≥") for r in records) else ""
    caption = f"{LEGEND}{limited} {short_caption(comparison)}"
    return Drawing(axis.title, caption, f"{axis.title}. {said}.", draw, comparison.simulated, MARGIN, columns)


def _shown(records: Records) -> list[str]:
    return list(dict.fromkeys(record["variant"] for record in records))


def _rates(comparison: Comparison, axis: _Axis) -> Iterable[dict[str, Any]]:
    several = len(comparison.runs) > 1
    for row in comparison.rows:
        at = axis.of(row)
        if row.mrr is None or at is None or row.unranked:
            continue
        rate = row.mrr.median_pps
        low, high = (row.mrr.interval.low, row.mrr.interval.high) if row.mrr.interval else (rate, rate)
        yield {
            "variant": run_label(row.variant, row.run, several=several),
            "panel": f"{MRR}, {axis.rest(row)}",
            "at": at,
            "mpps": rate / 1e6,
            "low": low / 1e6,
            "high": high / 1e6,
            "label": wording.bound(row) + wording.mpps(rate),
        }


def _throughputs(comparison: Comparison, axis: _Axis) -> Iterable[dict[str, Any]]:
    rows = {(row.run, row.cell): row for row in comparison.rows}
    for found in throughput_rows(comparison):
        row = rows.get((found.run, found.cell))
        at = axis.of(row) if row is not None else None
        if row is None or at is None or found.throughput_pps is None or found.goal is None or row.emulated:
            continue
        low, high = found.spread_pps or (found.throughput_pps, found.throughput_pps)
        yield {
            "variant": found.variant,
            "panel": f"{found.goal.name} of {found.test}, {axis.rest(row)}",
            "at": at,
            "mpps": found.throughput_pps / 1e6,
            "low": low / 1e6,
            "high": high / 1e6,
            "label": wording.mpps(found.throughput_pps),
        }
