"""Figure: the trials at maximum load that a row's rate is made of, by round and placement class."""

from typing import Any, Final

import altair as alt

from nfvbed.compare.explain import Explanation, TrialUse
from nfvbed.records.words import Preset
from nfvbed.report import wording
from nfvbed.report.figures.theme import WIDTH, Drawing, class_color, inline

HEIGHT: Final = 200
MARGIN: Final = 70
ROOM: Final = 1.1
"""The end of the axis of rates, over the greatest one."""
GREY: Final = "#7A7A7A"
TIPS: Final = ("trial:Q", "round:Q", "Mpps:Q", "class:N", "before:Q", "after:Q", "use:N")

Records = list[dict[str, Any]]


def trials_figure(found: Explanation) -> Drawing | None:
    """Draw the trials with the rate that they make; None where no trial at maximum load was measured."""
    rate = found.row.mrr
    trials = _records(found)
    if rate is None or not trials:
        return None
    classes = sorted({trial["class"] for trial in trials})
    middle = {"median": rate.median_pps / 1e6}
    if rate.interval is not None:
        middle |= {"low": rate.interval.low / 1e6, "high": rate.interval.high / 1e6}

    def draw() -> alt.TopLevelMixin:
        y = alt.Y(
            "Mpps:Q",
            title="Mpps",
            scale=alt.Scale(domain=[0, ROOM * max(trial["Mpps"] for trial in trials)], nice=False),
        )
        of_rate = alt.Chart(inline([middle]))
        layers = [of_rate.mark_rect(opacity=0.15, color=GREY).encode(y="low:Q", y2="high:Q")] if rate.interval else []
        layers += [
            of_rate.mark_rule(strokeWidth=2, color=GREY).encode(y="median:Q"),
            alt.Chart(inline(trials))
            .mark_point(size=55, opacity=0.9)
            .encode(
                x=alt.X("trial:Q", title="trial, in the order of the plan", axis=alt.Axis(format="d")),
                y=y,
                color=alt.Color("class:N", scale=_colors(classes), title="placement class"),
                fill=alt.condition(
                    "datum.used", alt.Color("class:N", scale=_colors(classes)), alt.value("transparent")
                ),
                tooltip=[alt.Tooltip(tip, format=".4~g") if tip == "Mpps:Q" else alt.Tooltip(tip) for tip in TIPS],
            ),
        ]
        return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)

    unused = sum(not trial["used"] for trial in trials)
    interval = f"; band: its interval, {wording.level(rate.interval)}" if rate.interval else ""
    caption = f"A point for each trial at maximum load; open: not used. Line: the row's rate{interval}."
    rates = [trial["Mpps"] for trial in trials]
    said = (
        f"{len(trials)} trials at maximum load of {found.row.cell}, {min(rates):.4g} to {max(rates):.4g} Mpps,"
        f" {unused} of them not used; the row's rate is {wording.mpps(rate.median_pps)} Mpps."
    )
    return Drawing("Trials at maximum load", caption, said, draw, found.row.simulated, MARGIN)


def _colors(classes: list[str]) -> alt.Scale:
    return alt.Scale(domain=classes, range=[class_color(name) for name in classes])


def _records(found: Explanation) -> Records:
    return [
        {
            "trial": trial.sequence,
            "round": trial.round,
            "Mpps": trial.forwarded_rate_pps / 1e6,
            "class": trial.placement,
            "before": trial.before_ns,
            "after": trial.after_ns,
            "used": trial.use is not TrialUse.UNUSED,
            "use": trial.why,
        }
        for trial in found.trials
        if trial.preset is Preset.MRR
    ]
