"""A series of runs in words: what became of each run and each step, the same in figure, page, terminal and CSV."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nfvbed.compare.samples.steps import OutlyingRun, SeriesFinding, Step, acknowledgement_of
from nfvbed.compare.series import MRR, Change, ExcludedRun, Series, Setting, SettingFigure, changes_in
from nfvbed.records import Record, Status
from nfvbed.records.acknowledgements import Acknowledgement
from nfvbed.report import wording

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class TrendStep(Record):
    """A confirmed step, what people said of it, and what else changed in that run."""

    step: Step
    acknowledged: Acknowledgement | None = None
    """None: it is reported."""
    changed: tuple[str, ...] = ()
    """Changes of host, rig and configuration; one may be why, and need not be."""

    @property
    def is_open(self) -> bool:
        """Whether it asks to be looked at: it is not acknowledged, and it is more than the margin."""
        return self.acknowledged is None and not self.step.within_margin


class Trend(Record):
    """One setting over time, with what is known beside its figures."""

    series: Series
    steps: tuple[TrendStep, ...]
    """In order of time."""
    changes: tuple[Change, ...]
    """Changes of host, rig and configuration."""

    @property
    def newest_open(self) -> TrendStep | None:
        """The newest step that asks to be looked at."""
        return next((seen for seen in reversed(self.steps) if seen.is_open), None)


def trend_of(
    series: Series,
    descriptions: Mapping[str, Mapping[str, Any]],
    acknowledged: Sequence[Acknowledgement],
    now: str,
) -> Trend:
    """Return a series joined with what people said of its steps, and with what changed around it.

    Args:
        descriptions: those of hosts, rigs and configurations by hash; empty: changes are named by hash alone.
        acknowledged: everything that was said, in the order in which it was said.
        now: UTC, ISO 8601, in the form of the store's times.
    """
    changes = changes_in(series, descriptions)
    at = {change.place: change.what for change in changes}
    steps = tuple(
        TrendStep(
            step=step,
            acknowledged=acknowledgement_of(series.setting.name, step, acknowledged, now),
            changed=at.get(step.place, ()),
        )
        for step in series.finding.steps
    )
    return Trend(series=series, steps=steps, changes=changes)


def by_urgency(trends: Sequence[Trend]) -> list[Trend]:
    """Return settings in order: those whose newest steps are open first, then those whose newest run lies apart."""

    def newest(trend: Trend) -> tuple[str, bool, str]:
        seen = trend.newest_open
        last = trend.steps[-1].step.at if trend.steps else ""
        return seen.step.at if seen else "", trend.series.finding.suspected is not None, last

    named = sorted(trends, key=lambda trend: trend.series.setting.name)
    return sorted(named, key=newest, reverse=True)


def letter(number: int) -> str:
    """Return a letter for each change of a series: A to Z, then A2, B2 and so on."""
    turn, place = divmod(number, len(LETTERS))
    return f"{LETTERS[place]}{turn + 1 if turn else ''}"


def test_name(setting: Setting) -> str:
    """Return the name of what is looked at."""
    return "maximum receive rate" if setting.test == MRR else setting.test


def point(setting: Setting) -> str:
    """Return the traffic point of a setting, with flows and direction where they are not the default ones."""
    flows = f", {setting.flows:,} flows" if setting.flows != 1 else ""
    way = "" if setting.bidirectional else ", one way"
    return f"{wording.point(setting.topology, setting.vnf, setting.frame_size)}{flows}{way}"


def title(setting: Setting) -> str:
    """Return the name of a setting, for people."""
    return f"{setting.variant}, {point(setting)}: {test_name(setting)}"


def change_ratio(ratio: float) -> str:
    """Return a ratio with its direction: `▼ ×0.62`. Whether up is better depends on the figure."""
    return f"{'▲' if ratio > 1 else '▼'} ×{wording.factor(ratio)}"


def step_state(seen: TrendStep) -> str:
    """Return in a word or two what a step is now."""
    if seen.acknowledged is not None:
        return f"acknowledged until {seen.acknowledged.expires_at[:10]}"
    return "within the margin" if seen.step.within_margin else "open"


def suspicion(apart: OutlyingRun) -> str:
    """Return what is known of a newest run that lies apart."""
    ratio = change_ratio(apart.ratio)
    return f"the newest run lies apart ({ratio}), unconfirmed: one more run shows whether it is a step"


def headline(trend: Trend) -> str:
    """Return what a series did, and which runs are no part of it."""
    return f"{_headline(trend)}{_not_in_it(trend.series)}"


def _not_in_it(series: Series) -> str:
    """Count the runs that are no samples, by how they ended; say so of the newest where it is one of them."""
    if not series.left_out:
        return ""
    counts = Counter(entry.status.value for entry in series.left_out)
    number = len(series.left_out)
    told = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    newest = " The newest run is one of them." if isinstance(series.all_runs[-1], ExcludedRun) else ""
    words = ("runs", "are no samples") if number > 1 else ("run", "is no sample")
    return f" {number} more {words[0]} of it {words[1]}: {told}.{newest}"


def state_of(series: Series, entry: SettingFigure | ExcludedRun) -> str:
    """Return what a run is in its series; of one that is no sample how it ended, and why."""
    if isinstance(entry, ExcludedRun):
        return f"{entry.status.value}, no sample{f': {entry.reason}' if entry.reason else ''}"
    said = run_state(series.finding, series.measured.index(entry))
    return "; ".join(part for part in ("" if entry.status is Status.OK else entry.status.value, said) if part)


def figure_of(entry: SettingFigure | ExcludedRun) -> str:
    """Return a run's figure; a dash for one that is no sample."""
    return wording.NOTHING if isinstance(entry, ExcludedRun) else wording.quantity(entry.value, entry.unit)


def warnings_of(entry: SettingFigure | ExcludedRun) -> str:
    """Return the warnings that a run's figure was stored with."""
    if isinstance(entry, ExcludedRun):
        return ""
    return ", ".join(kind.value for kind in entry.warnings) or "none"


def _headline(trend: Trend) -> str:
    """Return in one sentence what the samples did."""
    finding = trend.series.finding
    if finding.reason:
        return f"Nothing is said yet: {finding.reason}."
    if finding.drift is not None:
        return f"A trend: {change_ratio(finding.drift.whole)} over {len(finding.figures)} runs, no steps."
    opened = [seen for seen in trend.steps if seen.is_open]
    if opened:
        newest = opened[-1].step
        more = f"; {len(opened)} such steps" if len(opened) > 1 else ""
        more += f"; {suspicion(finding.suspected)}" if finding.suspected else ""
        return f"A confirmed step: {change_ratio(newest.ratio)} with the run of {newest.at[:10]}{more}."
    if finding.suspected is not None:
        said = suspicion(finding.suspected)
        return f"No open step; {said}."
    known = len(trend.steps)
    return f"No open step in {len(finding.figures)} runs{f'; {known} known or within the margin' if known else ''}."


def run_state(finding: SeriesFinding, place: int) -> str:
    """Return in words what one run is in its series; empty: it is as those around it.

    Args:
        place: the run's place in the series, from 0.
    """
    if finding.suspected is not None and finding.suspected.place == place:
        return f"suspected {change_ratio(finding.suspected.ratio)}, unconfirmed"
    for step in finding.steps:
        if step.place == place:
            return f"step {change_ratio(step.ratio)}"
        if step.place + 1 == place:
            return "confirms the step"
    apart = next((entry for entry in finding.apart if entry.place == place), None)
    return f"lies apart {change_ratio(apart.ratio)}, no step" if apart else ""
