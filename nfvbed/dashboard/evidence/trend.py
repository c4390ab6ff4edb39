"""Settings over time: which there are, what their runs did, and what is known of their steps."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from nfvbed.compare.samples.steps import Drift, OutlyingRun
from nfvbed.compare.series import ExcludedRun, Series, Setting
from nfvbed.dashboard.problems import NotThereError
from nfvbed.dashboard.results.parameters import PAGE_SIZE
from nfvbed.records import Record
from nfvbed.records.selection import SIMULATED
from nfvbed.report import wording
from nfvbed.report.figures.theme import Drawing
from nfvbed.report.figures.trend import trend_figure
from nfvbed.report.history import History
from nfvbed.report.load import described
from nfvbed.report.page.head import machine
from nfvbed.report.page.values import Cell, Table
from nfvbed.report.trend import (
    Trend,
    TrendStep,
    by_urgency,
    change_ratio,
    figure_of,
    headline,
    letter,
    state_of,
    step_state,
    trend_of,
    warnings_of,
)
from nfvbed.report.wording import SIMULATED_MARK
from nfvbed.store import Store

FIGURE: Final = "trend"
STARTED: Final = 16
"""Characters of a time that are shown: to the minute."""


class Filter(Record):
    """Which settings are listed; empty: all."""

    variant: str = ""
    topology: str = ""
    test: str = ""
    simulated: bool = False
    """Settings of simulated runs, in place of measured ones."""

    def takes(self, setting: Setting) -> bool:
        """Return whether a setting of its kind is listed."""
        asked = self.variant, self.topology, self.test
        own = setting.variant, setting.topology, setting.test
        return all(not want or want == value for want, value in zip(asked, own, strict=True))


class TrendLine(Record):
    """A setting in the list of trends, with its newest run."""

    setting: Setting
    name: str
    runs: int
    newest_at: str
    newest_run: str
    newest: float
    unit: str
    says: str
    """What its series did, and which runs are no part of it."""
    left_out: int
    """Runs that are no samples: they failed, or were interrupted."""
    last: TrendStep | None
    """The newest step that asks to be looked at; without one the newest of all."""
    suspected: OutlyingRun | None
    drift: Drift | None


class Trends:
    """Series of figures over time, out of a store; may be asked by several threads.

    Args:
        now: the time, by which acknowledgements expire.
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self.store = store
        self.now = now
        self._measured, self._simulated = History(store), History(store, SIMULATED)

    def lines(self, wanted: Filter) -> list[TrendLine]:
        """Return the settings, those with open steps first."""
        said, now = self.store.acknowledgements(), moment(self.now())
        series = self._history(wanted.simulated).series()
        found = [trend_of(entry, {}, said, now) for entry in series if wanted.takes(entry.setting)]
        return [_line(trend) for trend in by_urgency(found)]

    def settings(self, *, simulated: bool) -> list[Setting]:
        """Return all settings of measured or of simulated runs that have a series."""
        return [entry.setting for entry in self._history(simulated).series()]

    def trend(self, name: str) -> Trend:
        """Return one setting over time.

        Raises:
            NotThereError: no two runs measured the setting.
        """
        series = self._series(name)
        said, now = self.store.acknowledgements(), moment(self.now())
        return trend_of(series, self._history(series.setting.simulated).descriptions(series), said, now)

    def machine(self, trend: Trend) -> str:
        """Describe the host of a setting's newest run in one line; empty where it is not stored."""
        return machine(described(self.store, trend.series.measured[-1].host_hash))

    def drawn(self, name: str) -> Mapping[str, Drawing]:
        """Return the figure of a setting."""
        return {FIGURE: trend_figure(self.trend(name))}

    def _history(self, simulated: bool) -> History:
        return self._simulated if simulated else self._measured

    def _series(self, name: str) -> Series:
        # One that is named may be simulated: its name says so.
        every = *self._measured.series(), *self._simulated.series()
        found = next((entry for entry in every if entry.setting.name == name), None)
        if found is None:
            raise NotThereError(
                "there is no series of this setting",
                where=f"setting {name}",
                observed=f"{len(every)} settings were measured by two ended runs or more",
                fix="choose one on /trend, or measure it again: a series begins with its second run",
            )
        return found


def moment(at: datetime) -> str:
    """Return a time as the store writes it."""
    return at.isoformat(timespec="milliseconds")


def _line(trend: Trend) -> TrendLine:
    series = trend.series
    newest = series.measured[-1]
    return TrendLine(
        setting=series.setting,
        name=series.setting.name,
        runs=len(series.measured),
        newest_at=newest.at,
        newest_run=newest.run,
        newest=newest.value,
        unit=series.unit,
        says=headline(trend),
        left_out=len(series.left_out),
        last=trend.newest_open or (trend.steps[-1] if trend.steps else None),
        suspected=series.finding.suspected,
        drift=series.finding.drift,
    )


def part(lines: list[TrendLine], page: int) -> list[TrendLine]:
    """Return the settings of a page, from 1."""
    return lines[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]


RUNS: Final = ("Run", "Began", "Figure", "What it is in the series", "Changed before it", "Warnings")


def runs_table(trend: Trend) -> Table:
    """Return the runs of a series, samples or not, the newest first."""
    series = trend.series
    letters = {change.run: letter(number) for number, change in enumerate(trend.changes)}
    rows = tuple(
        (
            Cell(wording.short_run(entry.run)),
            Cell(entry.at[:STARTED].replace("T", " "), "whole"),
            Cell(figure_of(entry), "n"),
            Cell(state_of(series, entry), tone="warning" if isinstance(entry, ExcludedRun) else None),
            Cell(letters.get(entry.run, "")),
            Cell(warnings_of(entry)),
        )
        for entry in reversed(series.all_runs)
    )
    mark = SIMULATED_MARK if series.setting.simulated else ""
    headings = tuple(Cell(name, "n" if name == "Figure" else "") for name in RUNS)
    return Table("Runs of this setting, newest first; times are UTC.", headings, rows, mark=mark)


CHANGES: Final = ("Mark", "From run", "Began", "What changed")


def changes_table(trend: Trend) -> Table:
    """Return what changed of host, rig and configuration, the newest first."""
    at = {entry.run: entry.at for entry in trend.series.measured}
    rows = tuple(
        (
            Cell(letter(number)),
            Cell(wording.short_run(change.run)),
            Cell(at[change.run][:STARTED].replace("T", " "), "whole"),
            Cell(change.what[0], more=change.what[1:]),
        )
        for number, change in reversed(list(enumerate(trend.changes)))
    )
    caption = "Host, rig and configuration, where they were not as in the run before."
    return Table(caption, tuple(Cell(name) for name in CHANGES), rows)


STEPS: Final = ("First run", "Began", "Ratio", "Before", "After", "Confirmed by", "p", "State", "Changed there")

NUMBERS: Final = ("Ratio", "Before", "After", "p")


def step_cells(trend: Trend, seen: TrendStep) -> tuple[Cell, ...]:
    """Return what is shown of a step."""
    step, unit = seen.step, trend.series.unit
    tone = "warning" if seen.is_open else ""
    word = seen.acknowledged
    said = f"{word.reason} ({word.by}, {word.at[:10]})" if word else None
    return (
        Cell(wording.short_run(step.run)),
        Cell(step.at[:STARTED].replace("T", " "), "whole"),
        Cell(change_ratio(step.ratio), "n"),
        Cell(wording.quantity(step.before, unit), "n"),
        Cell(wording.quantity(step.after, unit), "n"),
        Cell(wording.short_run(step.confirmed_by)),
        Cell(f"{step.p_value:.2g}", "n"),
        Cell(step_state(seen), tone=tone, below=said, words=True),
        Cell(seen.changed[0] if seen.changed else "nothing that is stored", more=seen.changed[1:]),
    )


def steps_table(trend: Trend) -> Table:
    """Return the confirmed steps, the newest first."""
    rows = tuple(step_cells(trend, seen) for seen in reversed(trend.steps))
    caption = "Confirmed steps, newest first: a second run had the same. p: of the ranks on both sides alone."
    headings = tuple(Cell(name, "n" if name in NUMBERS else "") for name in STEPS)
    return Table(caption, headings, rows)
