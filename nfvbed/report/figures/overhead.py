"""Figure: what switching costs, as a fraction of testpmd io in the switch's place on the same ports."""

from collections.abc import Iterator
from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.report import wording
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.theme import WIDTH, Drawing, color_scale, inline, label_width
from nfvbed.report.labels import row_labels, run_label

LABEL_WIDTH: Final = 50
LEGEND: Final = (
    "Dashed: the reference itself. Line: 95 % interval, or range. Variants without a reference over the same I/O path "
    "are left out."
)


def overhead_figure(comparison: Comparison) -> Drawing | None:
    """Draw the switching overheads; None where no reference was measured."""
    records = list(_records(comparison))
    if not records:
        return None
    names = row_labels(comparison)
    points = list(dict.fromkeys(record["point"] for record in records))

    def draw() -> alt.TopLevelMixin:
        base = alt.Chart(inline(records)).encode(
            y=alt.Y("point:N", title=None, sort=points),
            yOffset=alt.YOffset("variant:N", sort=names),
        )
        shown = list(dict.fromkeys(record["variant"] for record in records))
        color = alt.Color("variant:N", title="variant", scale=color_scale(names), legend=alt.Legend(values=shown))
        x = alt.X(
            "ratio:Q",
            title="rate as a fraction of testpmd io's",
            axis=alt.Axis(tickCount=8),
            scale=alt.Scale(domain=[0, max(1.1, *(float(str(record["high"])) for record in records))]),
        )
        one = alt.Chart(inline([{"ratio": 1}])).mark_rule(strokeDash=[4, 2]).encode(x=x)
        return alt.layer(
            one,
            base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=color),
            base.mark_point(filled=True, size=70, opacity=1).encode(x=x, color=color),
            base.mark_text(align="left", dx=12, fontSize=13).encode(x=alt.X("high:Q"), text=alt.Text("label:N")),
        ).properties(width=WIDTH, height=alt.Step(24))

    said = "; ".join(f"{record['variant']} at {record['point']}: {record['label']}" for record in records)
    return Drawing(
        "Switching overhead",
        f"{LEGEND} {short_caption(comparison)}",
        f"Rates as fractions of testpmd forwarding on the same ports. {said}.",
        draw,
        comparison.simulated,
        label_width(points) + LABEL_WIDTH,
    )


def _records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    several = len(comparison.runs) > 1
    for row in comparison.rows:
        share = row.switching_overhead
        if share is not None:
            yield {
                "variant": run_label(row.variant, row.run, several=several),
                "point": wording.row_point(row),
                "ratio": share.ratio,
                "low": share.interval.low if share.interval else share.ratio,
                "high": share.interval.high if share.interval else share.ratio,
                "label": f"{share.ratio:.2f}",
            }
