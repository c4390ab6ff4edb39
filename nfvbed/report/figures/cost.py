"""Figures: the cores that each role kept busy, one on the other, and the cycles that the switch spent on a packet."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.summary import CellSummary
from nfvbed.records import Role
from nfvbed.report import wording
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.palette import PALETTE
from nfvbed.report.figures.theme import WIDTH, Drawing, color_scale, inline, label_width
from nfvbed.report.labels import row_labels, run_label

BAND: Final = 30
LABEL_WIDTH: Final = 190
"""The column of numbers to the right of the bars, in pixels."""
ROLES: Final = {
    Role.SWITCH: ("switch", PALETTE[0]),
    Role.VNF: ("VNF", PALETTE[4]),
    Role.GENERATOR: ("generator", PALETTE[7]),
}
"""Names and colours, from the axis outwards."""
CPU_LEGEND: Final = (
    "Cores kept busy at maximum load, median of the trials; a poller is busy by nature. n/s: not separable from "
    "another's, so no part of the bar."
)
CYCLES_LEGEND: Final = "Busy TSC cycles of the switch over the packets that it forwarded, at maximum load."

Records = list[dict[str, Any]]


def cpu_figure(comparison: Comparison) -> Drawing | None:
    """Draw the cores by role; None where none is known."""
    rows = [row for row in comparison.rows if row.mrr is not None and _parts(row)]
    if not rows:
        return None
    several = len(comparison.runs) > 1
    records = [record for row in rows for record in _cpu_records(row, several)]
    names = row_labels(comparison)

    def draw() -> alt.TopLevelMixin:
        shown = list(dict.fromkeys(record["role"] for record in records if record["kind"] == "part"))
        colors = {name: color for name, color in ROLES.values() if name in shown}
        base = alt.Chart().encode(y=alt.Y("variant:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)))
        bars = base.transform_filter("datum.kind == 'part'").mark_bar(height=16)
        parts = bars.encode(
            x=alt.X("cores:Q", title="cores kept busy", stack="zero"),
            color=alt.Color("role:N", title="of", scale=alt.Scale(domain=list(colors), range=list(colors.values()))),
            order=alt.Order("place:Q"),
            tooltip=[alt.Tooltip("variant:N"), alt.Tooltip("role:N"), alt.Tooltip("cores:Q", format=".2f")],
        )
        return _faceted([parts, _numbers(base)], records, rows)

    said = "; ".join(f"{row.variant} at {wording.row_point(row)}: {_cpu_label(row)}" for row in rows)
    caption = f"{CPU_LEGEND} {short_caption(comparison, rows)}"
    margin = label_width(names) + LABEL_WIDTH
    return Drawing("CPU by role", caption, f"Cores kept busy. {said}.", draw, comparison.simulated, margin)


def cycles_figure(comparison: Comparison) -> Drawing | None:
    """Draw the cycles per packet; None where none can be separated."""
    measured = [row for row in comparison.rows if row.mrr is not None]
    rows = [row for row in measured if isinstance(row.cycles_per_packet, float | int)]
    if not rows:
        return None
    several = len(comparison.runs) > 1
    records = [record for row in rows for record in _cycle_records(row, several)]
    names = row_labels(comparison)

    def draw() -> alt.TopLevelMixin:
        base = alt.Chart().encode(y=alt.Y("variant:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)))
        bars = base.transform_filter("datum.kind == 'part'").mark_bar(height=16)
        parts = bars.encode(
            x=alt.X("cycles:Q", title="cycles per packet", scale=alt.Scale(zero=True)),
            color=alt.Color("variant:N", scale=color_scale(names), legend=None),
            tooltip=[alt.Tooltip("variant:N"), alt.Tooltip("cycles:Q", format=".0f"), alt.Tooltip("source:N")],
        )
        return _faceted([parts, _numbers(base)], records, rows)

    said = "; ".join(
        f"{row.variant} at {wording.row_point(row)}: {wording.cycles(row.cycles_per_packet)}" for row in rows
    )
    sources = "; ".join(dict.fromkeys(f"{row.variant}: {row.cycles_source}" for row in rows))
    missing = dict.fromkeys(row.variant for row in measured if row not in rows)
    apart = f" Not separable, or not known: {', '.join(missing)}." if missing else ""
    caption = f"{CYCLES_LEGEND} Busy is from: {sources}.{apart} {short_caption(comparison, rows)}"
    margin = label_width(names) + LABEL_WIDTH
    return Drawing("Cycles per packet", caption, f"Cycles per packet. {said}.", draw, comparison.simulated, margin)


def _faceted(layers: list[alt.Chart], records: Records, rows: list[CellSummary]) -> alt.TopLevelMixin:
    points = list(dict.fromkeys(wording.row_point(row) for row in rows))
    header = alt.Header(labelAngle=0, labelAlign="left", labelAnchor="start", labelOrient="top", labelPadding=2)
    chart: alt.TopLevelMixin = (
        alt.layer(*layers, data=inline(records))
        .properties(width=WIDTH, height=alt.Step(BAND))
        .facet(row=alt.Row("point:N", title=None, sort=points, header=header), spacing=18)
    )
    return chart


def _numbers(base: alt.Chart) -> alt.Chart:
    labels = base.transform_filter("datum.kind == 'label'")
    chart: alt.Chart = labels.mark_text(align="left", dx=10, fontSize=13).encode(
        x=alt.value("width"), text=alt.Text("label:N")
    )
    return chart


def _parts(row: CellSummary) -> dict[Role, float]:
    found = {role: getattr(row.cpu, role.value) for role in ROLES}
    return {role: value for role, value in found.items() if isinstance(value, float | int)}


def _cpu_label(row: CellSummary) -> str:
    known = {role: getattr(row.cpu, role.value) for role in ROLES}
    return " · ".join(f"{ROLES[role][0]} {wording.share(value)}" for role, value in known.items() if value is not None)


def _cpu_records(row: CellSummary, several: bool) -> Records:
    base = {"variant": run_label(row.variant, row.run, several=several), "point": wording.row_point(row)}
    parts = [
        base | {"kind": "part", "role": ROLES[role][0], "cores": value, "place": list(ROLES).index(role)}
        for role, value in _parts(row).items()
    ]
    return [*parts, base | {"kind": "label", "label": _cpu_label(row)}]


def _cycle_records(row: CellSummary, several: bool) -> Records:
    base = {"variant": run_label(row.variant, row.run, several=several), "point": wording.row_point(row)}
    label = wording.cycles(row.cycles_per_packet)
    return [
        base | {"kind": "part", "cycles": row.cycles_per_packet, "source": row.cycles_source},
        base | {"kind": "label", "label": label},
    ]
