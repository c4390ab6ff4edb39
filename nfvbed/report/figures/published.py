"""Figures of published tables: repetitions with means and Student's intervals, or only what a text states."""

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt

from nfvbed.compare.samples.statistics import mean_with_intervals
from nfvbed.report.figures.theme import WIDTH, Drawing, inline, label_width

BAND: Final = 46
PUBLISHED: Final = "#2E8BD0"
"""One colour for all columns: they are no variants of this project, with fixed colours. Seen on both backgrounds."""


def published_figure(title: str, unit: str, columns: Mapping[str, Sequence[float]]) -> Drawing:
    """Draw a table.

    Args:
        title: that of the table, with its source.
        columns: results by name; at least two of each.
    """
    labels = list(columns)
    results = [{"label": name, "value": value} for name, found in columns.items() for value in found]
    means = []
    for name, found in columns.items():
        seen = mean_with_intervals(found)
        narrow, wide = seen.intervals
        ends = {"low": narrow.low, "high": narrow.high, "least": wide.low, "most": wide.high}
        means.append({"label": name, "mean": seen.mean, **ends})

    def draw() -> alt.TopLevelMixin:
        y = alt.Y("label:N", title=None, sort=labels, axis=alt.Axis(labelLimit=220))
        value = alt.X("value:Q", title=unit, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=8))
        every, mean = alt.Chart(inline(results)), alt.Chart(inline(means))
        return alt.layer(
            every.mark_point(size=45, filled=True, opacity=0.75, color=PUBLISHED, yOffset=11).encode(x=value, y=y),
            mean.mark_rule(strokeWidth=1.5, color=PUBLISHED).encode(x=alt.X("least:Q"), x2="most:Q", y=y),
            mean.mark_rule(strokeWidth=5, color=PUBLISHED, opacity=0.7).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
            mean.mark_tick(thickness=3, size=18, color=PUBLISHED).encode(x=alt.X("mean:Q"), y=y),
        ).properties(width=WIDTH, height=alt.Step(BAND))

    caption = (
        "Dots: repetitions, as published; upright mark: their mean; thick and thin line: Student's intervals of it at"
        " 95 and 99 %, recomputed. The axis does not begin at 0."
    )
    said = "; ".join(f"{entry['label']}: mean {entry['mean']:.2f} {unit}" for entry in means)
    return Drawing(title, caption, f"{said}.", draw, simulated=False, margin=label_width(labels))


def stated_figure(title: str, unit: str, columns: Mapping[str, tuple[float, float]]) -> Drawing:
    """Draw what a text states without repetitions.

    Args:
        title: that of the table, with its source.
        columns: least and greatest by name, equal where one figure was stated.
    """
    labels = list(columns)
    rows = [
        {"label": name, "low": low, "high": high, "middle": (low + high) / 2} for name, (low, high) in columns.items()
    ]

    def draw() -> alt.TopLevelMixin:
        y = alt.Y("label:N", title=None, sort=labels, axis=alt.Axis(labelLimit=220))
        stated = alt.Chart(inline(rows))
        return alt.layer(
            stated.mark_rule(strokeWidth=5, color=PUBLISHED, opacity=0.7).encode(
                x=alt.X("low:Q", title=unit, axis=alt.Axis(tickCount=8)), x2="high:Q", y=y
            ),
            stated.mark_point(size=60, filled=True, color=PUBLISHED).encode(x="middle:Q", y=y),
        ).properties(width=WIDTH, height=alt.Step(BAND))

    caption = "Dots: figures as the text states them; lines: from the least to the greatest that it states."
    said = "; ".join(f"{row['label']}: about {row['middle']:g} {unit}" for row in rows)
    return Drawing(title, caption, f"{said}.", draw, simulated=False, margin=label_width(labels))
