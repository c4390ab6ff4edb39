"""Figures: the cores that each role kept busy, by kind of time, and the cycles that the switch spent on a packet."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.cost import CpuSplit
from nfvbed.compare.rows.summary import CellSummary
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
WHOLE: Final = "not split"
"""The time of a role whose rows do not tell its kinds."""
KINDS: Final = {"user": 0.0, "guest": 0.25, "system": 0.45, "softirq": 0.65, WHOLE: 0.85}
"""Kinds of CPU time, from the axis outwards, and how much paler than its role's colour each is."""
LEAST: Final = 0.005
"""Cores; a part below that would be no wider than the line around it."""
CPU_LEGEND: Final = (
    "Cores kept busy at maximum load, median of the trials, by role and within it by kind of CPU time, the paler the "
    "further from the user's; a poller is busy by nature. n/s: not separable from another's, so no part of the bar."
)
CYCLES_LEGEND: Final = "Busy TSC cycles of the switch over the packets that it forwarded, at maximum load."

Record = dict[str, Any]
Records = list[Record]


def cpu_figure(comparison: Comparison) -> Drawing | None:
    """Draw the cores by role; None where none is known."""
    rows = [row for row in comparison.rows if row.mrr is not None and _parts(row)]
    if not rows:
        return None
    several = len(comparison.runs) > 1
    records = [record for row in rows for record in _cpu_records(row, several)]
    names = row_labels(comparison)

    def draw() -> alt.TopLevelMixin:
        parts = {record["part"]: record for record in records if record["kind"] == "part"}
        shown = sorted(parts, key=lambda part: parts[part]["place"])
        seen = {part["role"] for part in parts.values()}
        lines = {name: color for name, color in ROLES.values() if name in seen}
        base = alt.Chart().encode(y=alt.Y("variant:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)))
        bars = base.transform_filter("datum.kind == 'part'").mark_bar(height=16, strokeWidth=1)
        drawn = bars.encode(
            x=alt.X("cores:Q", title="cores kept busy", stack="zero"),
            color=alt.Color(
                "part:N",
                title="of",
                scale=alt.Scale(domain=shown, range=[_color(parts[part]) for part in shown]),
                legend=alt.Legend(columns=4),
            ),
            stroke=alt.Stroke(
                "role:N",
                scale=alt.Scale(domain=list(lines), range=list(lines.values())),
                legend=None,
            ),
            order=alt.Order("place:Q"),
            tooltip=[alt.Tooltip("variant:N"), alt.Tooltip("part:N"), alt.Tooltip("cores:Q", format=".2f")],
        )
        return _faceted([drawn, _numbers(base)], records, rows)

    said = "; ".join(f"{row.variant} at {wording.row_point(row)}: {_cpu_said(row)}" for row in rows)
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


def _color(part: Record) -> str:
    """Return the colour of a role, paler by the kind of time."""
    base = next(color for name, color in ROLES.values() if name == part["role"])
    paler = KINDS[part["time"]]
    channels = (int(base[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(value + (255 - value) * paler):02X}" for value in channels)


def _parts(row: CellSummary) -> dict[Role, float]:
    found = {role: getattr(row.cpu, role.value) for role in ROLES}
    return {role: value for role, value in found.items() if isinstance(value, float | int)}


def _cpu_label(row: CellSummary) -> str:
    known = {role: getattr(row.cpu, role.value) for role in ROLES}
    return " · ".join(f"{ROLES[role][0]} {wording.share(value)}" for role, value in known.items() if value is not None)


def _cpu_said(row: CellSummary) -> str:
    """Return the cores of each role, with what they were."""

    def of(role: Role) -> str:
        kinds = row.cpu.splits.get(role)
        parts = [f"{kind} {cores:.2f}" for kind, cores in _kinds(kinds).items()] if kinds else []
        cores = f"{ROLES[role][0]} {wording.share(getattr(row.cpu, role.value))}"
        return f"{cores} ({', '.join(parts)})" if parts else cores

    return " · ".join(of(role) for role in ROLES if getattr(row.cpu, role.value) is not None)


def _kinds(split: CpuSplit) -> dict[str, float]:
    """Return the parts that are wide enough to be drawn; the widest is one in any case."""
    found = {kind: getattr(split, kind) for kind in KINDS if kind != WHOLE}
    widest = max(found, key=lambda kind: found[kind])
    return {kind: cores for kind, cores in found.items() if cores >= LEAST or kind == widest}


def _cpu_records(row: CellSummary, several: bool) -> Records:
    base = {"variant": run_label(row.variant, row.run, several=several), "point": wording.row_point(row)}
    parts = []
    for role, cores in _parts(row).items():
        name, split = ROLES[role][0], row.cpu.splits.get(role)
        for kind, value in (_kinds(split) if split else {WHOLE: cores}).items():
            place = list(ROLES).index(role) * len(KINDS) + list(KINDS).index(kind)
            own = {"kind": "part", "role": name, "time": kind, "part": f"{name}: {kind}", "cores": value}
            parts.append(base | own | {"place": place})
    return [*parts, base | {"kind": "label", "label": _cpu_label(row)}]


def _cycle_records(row: CellSummary, several: bool) -> Records:
    base = {"variant": run_label(row.variant, row.run, several=several), "point": wording.row_point(row)}
    label = wording.cycles(row.cycles_per_packet)
    return [
        base | {"kind": "part", "cycles": row.cycles_per_packet, "source": row.cycles_source},
        base | {"kind": "label", "label": label},
    ]
