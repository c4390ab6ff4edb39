"""Figure: the rate over the number of VNFs behind each other, with intervals, and the share that is asked for."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.chains import Chain
from nfvbed.compare.comparison import Comparison
from nfvbed.report import wording
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.theme import Drawing, color_scale, inline
from nfvbed.report.labels import row_labels, run_label

PANEL: Final = 440
MARGIN: Final = 70


def chain_figure(comparison: Comparison) -> Drawing | None:
    """Draw the chains; None where no chain of two lengths was measured."""
    if not comparison.chains:
        return None
    several = len(comparison.runs) > 1
    names = row_labels(comparison)
    records = [record for chain in comparison.chains for record in _records(chain, several)]
    panels = list(dict.fromkeys(record["panel"] for record in records))
    shown = list(dict.fromkeys(record["variant"] for record in records))
    columns = min(2, len(panels))

    def draw() -> alt.TopLevelMixin:
        color = alt.Color("variant:N", title="variant", scale=color_scale(names), legend=alt.Legend(values=shown))
        base = alt.Chart().encode(x=alt.X("length:O", title="VNFs behind each other", axis=alt.Axis(labelAngle=0)))
        rate = alt.Y("mpps:Q", title="million frames/s", scale=alt.Scale(zero=True))
        tooltip = [
            alt.Tooltip("variant:N"),
            alt.Tooltip("length:O"),
            alt.Tooltip("label:N", title="Mpps"),
            alt.Tooltip("holding:N"),
        ]
        layers = alt.layer(
            base.mark_line(strokeDash=[4, 3], strokeWidth=1.5).encode(y=alt.Y("held:Q"), color=color),
            base.mark_line(strokeWidth=2).encode(y=rate, color=color),
            base.mark_rule(strokeWidth=3).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=color),
            base.mark_point(filled=True, size=70, opacity=1).encode(y=rate, color=color, tooltip=tooltip),
            base.mark_text(dy=-14, fontSize=12).encode(y=alt.Y("high:Q"), text=alt.Text("label:N")),
            data=inline(records),
        ).properties(width=PANEL, height=230)
        return layers.facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=columns)

    cells = {link.cell for chain in comparison.chains for link in chain.links}
    rows = [row for row in comparison.rows if row.cell in cells]
    said = " ".join(wording.chain(chain) for chain in comparison.chains)
    held = wording.held(comparison.chains[0].hold)
    legend = f"Medians with 95 % intervals; dashed: {held}; ≥: limited, a lower bound."
    caption = f"{legend} {said} {short_caption(comparison, rows)}"
    return Drawing("Rate by length of the chain", caption, said, draw, comparison.simulated, MARGIN, columns)


def _records(chain: Chain, several: bool) -> list[dict[str, Any]]:
    return [
        {
            "variant": run_label(chain.variant, chain.run, several=several),
            "panel": f"{chain.vnf}, {wording.frame_size(chain.frame_size)}",
            "length": link.length,
            "mpps": link.rate_pps / 1e6,
            "low": (link.interval.low if link.interval else link.rate_pps) / 1e6,
            "high": (link.interval.high if link.interval else link.rate_pps) / 1e6,
            "held": chain.hold.share * chain.whole_pps / 1e6,
            "label": f"{'≥ ' if link.limited else ''}{wording.mpps(link.rate_pps)}",
            "holding": link.holding.value,
        }
        for link in chain.links
    ]
