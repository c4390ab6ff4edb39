"""Figure: missing frames and P99 of the latency over time, from the intervals of soaks."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records.results import ResultKind
from nfvbed.report import wording
from nfvbed.report.captions import short_caption
from nfvbed.report.figures.loads import newest_tests
from nfvbed.report.figures.theme import Drawing, color_scale, inline
from nfvbed.report.labels import labels_of, row_labels

PANEL: Final = 420
MARGIN: Final = 100
HEIGHT: Final = 170
DOTTED: Final = 150
"""Up to so many intervals each has a dot; more would hide the line."""
MISSING: Final = ("percent", "missing frames, %")
P99: Final = ("microseconds", "P99 of the latency, µs")

Records = list[dict[str, Any]]


def soak_figure(comparison: Comparison) -> Drawing | None:
    """Draw the missing frames and the P99 of every interval against its start; None where there was no soak.

    A pair of panels for each soak: variants that are soaked one after the other share no time.
    """
    soaks = [(test, _records(comparison, test)) for test in newest_tests(comparison, (ResultKind.SOAK,))]
    if not soaks:
        return None

    columns = 2 if all(_is_stamped(records) for _, records in soaks) else 1

    def draw() -> alt.TopLevelMixin:
        scale = color_scale([*row_labels(comparison), *(records[0]["variant"] for _, records in soaks)])
        panels = []
        for test, records in soaks:
            load = f"{test.result.test}, {wording.mpps(test.loads[0].point.intended_load_pps)} Mpps"
            title = [f"{records[0]['variant']}, {records[0]['point']}", load]
            panels += [
                _panel(records, quantity, title, scale)
                for quantity in ((MISSING, P99) if _is_stamped(records) else (MISSING,))
            ]
        return alt.concat(*panels, columns=columns)

    caption = (
        "A point for each interval; the moments between intervals are not measured. Missing are lost and refused ones."
        " A soak goes on when the placement class changes: a step can come from that. Of a repeated soak the newest is"
        f" drawn. {short_caption(comparison)}"
    )
    described = "; ".join(_described(records) for _, records in soaks)
    named = "Soak: missing frames and P99 over time"
    said = f"Soak over time. {described}."
    return Drawing(named, caption, said, draw, comparison.simulated, MARGIN, columns)


def _records(comparison: Comparison, test: MeasuredTest) -> Records:
    labels = labels_of(test, several=len(comparison.runs) > 1)
    return [
        labels
        | {
            "from_s": load.from_s,
            "percent": 100 * load.missing_ratio,
            "microseconds": load.latency.p99_ns / 1e3 if load.latency else None,
        }
        for load in test.loads
    ]


def _is_stamped(records: Records) -> bool:
    return any(record["microseconds"] is not None for record in records)


def _panel(records: Records, quantity: tuple[str, str], title: list[str], scale: alt.Scale) -> alt.Chart:
    name, axis = quantity
    # What never was missing has no scale of its own.
    never = name == MISSING[0] and not any(record[name] for record in records)
    linear = alt.Scale(domain=[0, 1]) if never else alt.Scale(zero=True)
    y_scale = linear if name == MISSING[0] else alt.Scale(type="log")
    dots = alt.OverlayMarkDef(size=25) if len(records) <= DOTTED else False
    base = alt.Chart(inline(records), title=title, width=PANEL, height=HEIGHT)
    # Where no frame came back there is no latency, and no line through the gap.
    chart: alt.Chart = base.mark_line(point=dots, strokeWidth=1.5, invalid="break-paths-show-path-domains").encode(
        x=alt.X("from_s:Q", title="start of the interval, s since the soak began", scale=alt.Scale(nice=False)),
        y=alt.Y(f"{name}:Q", title=axis, scale=y_scale, axis=alt.Axis(format=",~g", tickCount=5)),
        color=alt.Color("variant:N", scale=scale, legend=None),
        tooltip=[
            alt.Tooltip("variant:N"),
            alt.Tooltip("point:N"),
            alt.Tooltip("test:N"),
            alt.Tooltip("from_s:Q"),
            alt.Tooltip("percent:Q"),
            alt.Tooltip("microseconds:Q"),
        ],
    )
    return chart


def _described(records: Records) -> str:
    worst = max(records, key=lambda record: float(record["percent"]))
    lossy = sum(record["percent"] > 0 for record in records)
    text = f"{records[0]['variant']} at {records[0]['point']}: frames missing in {lossy} of {len(records)} intervals"
    if lossy:
        text += f", most {worst['percent']:.3g} % at {worst['from_s']:g} s"
    known = [record["microseconds"] for record in records if record["microseconds"] is not None]
    if known:
        text += f", 99th percentile {min(known):.3g} to {max(known):.3g} microseconds"
    return text
