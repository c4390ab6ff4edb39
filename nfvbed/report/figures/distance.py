"""Figure: the core distance around every trial, and the placement classes found in it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.report import wording
from nfvbed.report.figures.theme import WIDTH, Drawing, class_color, inline

MARGIN: Final = 1.25
"""Free room above and below the distances, as a ratio: the axis is logarithmic."""

LABELS: Final = 70
TIPS: Final = ("cell:N", "trial:Q", "before:Q", "after:Q", "class:N")


def distance_figure(comparison: Comparison) -> Drawing | None:
    """Draw the distances; None where none was measured."""
    if not comparison.distances:
        return None
    records = _records(comparison)
    found = _classes(comparison)

    def draw() -> alt.TopLevelMixin:
        scale = alt.Scale(domain=found, range=[class_color(name) for name in found])
        base = alt.Chart().encode(
            x=alt.X("trial:Q", title="trial, in the order of the plan", axis=alt.Axis(format="d")),
            color=alt.Color("class:N", title="placement class", scale=scale),
            tooltip=[alt.Tooltip(name) for name in TIPS],
        )
        shape = alt.Shape("class:N", title="placement class", scale=alt.Scale(domain=found))
        values = [value for point in comparison.distances for value in (point.before_ns, point.after_ns) if value > 0]
        scale_y = alt.Scale(
            type="log", domain=[min(values, default=1) / MARGIN, max(values, default=10) * MARGIN], nice=False
        )
        layers = [
            base.mark_rule(opacity=0.6).encode(y=_axis("before", scale_y), y2=alt.Y2("after:Q")),
            base.mark_point(filled=True, size=26, opacity=0.9).encode(y=_axis("before", scale_y), shape=shape),
            base.mark_point(filled=False, size=26, opacity=0.9).encode(y=_axis("after", scale_y), shape=shape),
        ]
        boundaries = sorted({boundary for host in comparison.placement for boundary in host.boundaries_ns})
        layers += [
            alt.Chart().mark_rule(strokeDash=[4, 2]).encode(y=alt.YDatum(boundary, scale=scale_y))
            for boundary in boundaries
        ]
        chart = alt.layer(*layers, data=inline(records)).properties(width=WIDTH, height=170)
        return chart.facet(row=alt.Row("run:N", title="run")) if len(comparison.runs) > 1 else chart

    parts = _counted(records, found)
    text = (
        "One-way cache-line time between the switch's and the generator's core, before (filled) and after (open) each "
        f"trial; dashed: the boundaries found. {parts}. Mixed trials are kept, and never used."
    )
    described = f"Core distance around every trial: {parts}."
    return Drawing("Core distance and placement classes", text, described, draw, comparison.simulated, LABELS)


def _records(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "run": wording.short_run(point.run),
            "trial": point.sequence,
            "cell": point.cell,
            "before": point.before_ns,
            "after": point.after_ns,
            "class": point.label,
        }
        for point in comparison.distances
    ]


def _counted(records: Sequence[Mapping[str, Any]], found: Sequence[str]) -> str:
    return ", ".join(f"{sum(record['class'] == name for record in records)} trials {name}" for name in found)


def _classes(comparison: Comparison) -> list[str]:
    """Return the classes that occur, nearest first, and what is in none at the end."""
    labels = {point.label for point in comparison.distances}
    known = dict.fromkeys(name for host in comparison.placement for name in host.classes)
    return [name for name in (*known, *sorted(labels - set(known))) if name in labels]


def _axis(field: str, scale: alt.Scale) -> alt.Y:
    return alt.Y(
        f"{field}:Q",
        title="ns, one way",
        scale=scale,
        axis=alt.Axis(format="~g", tickCount=5),
    )
