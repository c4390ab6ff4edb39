"""A run on a page: its cells with their trials counted, its trials by the page, and what it was measured on."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final
from urllib.parse import urlencode

from nfvbed.dashboard.results.parameters import PAGE_SIZE, part_of
from nfvbed.dashboard.results.source import Source
from nfvbed.records import CellRecord, Record, RunRecord, Status, TrialRecord
from nfvbed.records.annotations import Marks
from nfvbed.records.selection import EVERY, MEASURED
from nfvbed.report import wording
from nfvbed.report.page.values import Cell, Table


class CellState(Record):
    """A cell, and how many trials it has."""

    cell: CellRecord
    trials: int
    not_ok: int
    """Number of trials with another status than ok."""


RUNNING: Final = "running"
"""State of runs that have not ended; whether a process goes on with one is not looked up for a search."""


def state_word(run: RunRecord) -> str:
    """Return how a run ended."""
    return run.status.value if run.status else RUNNING


class RunOrder(StrEnum):
    """What the list of runs is ordered by."""

    STARTED = "started"
    """The newest first."""
    EXPERIMENT = "experiment"
    SITE = "site"
    STATE = "state"


ORDERS: Final[Mapping[RunOrder, Callable[[RunRecord], str]]] = {
    RunOrder.EXPERIMENT: lambda run: run.experiment,
    RunOrder.SITE: lambda run: run.site,
    RunOrder.STATE: state_word,
}


class RunsQuery(Record):
    """The runs that are listed, as the URL says it."""

    words: str = ""
    """Each is in the run's id, label, note, experiment, site, reason or beginning."""
    state: str = ""
    """A status, or `running`: of those that have not ended."""
    order: RunOrder = RunOrder.STARTED
    everything: bool = False
    """Simulated and hidden runs too."""

    def address(self, **changed: str) -> str:
        """Return the address of the same list with other values, ready for a further one."""
        pairs = {
            "find": self.words,
            "state": self.state,
            "order": "" if self.order is RunOrder.STARTED else self.order.value,
            "all": "1" if self.everything else "",
            **changed,
        }
        return f"/runs?{urlencode({name: text for name, text in pairs.items() if text})}"

    @property
    def is_plain(self) -> bool:
        """Whether it is the list as the store has it."""
        return not (self.words or self.state) and self.order is RunOrder.STARTED


def find_runs(source: Source, asked: RunsQuery, page: int) -> tuple[Sequence[RunRecord], int]:
    """Return a page of the runs that are asked for, and how many there are; all runs are read only for a search."""
    selection = EVERY if asked.everything else MEASURED
    if asked.is_plain:
        return source.store.runs_page(part_of(page), selection)
    marks = source.store.marks()
    found = [run for run in source.store.runs(selection) if _fits(run, marks.get(run.id, Marks()), asked)]
    if asked.order in ORDERS:
        found.sort(key=ORDERS[asked.order])
    begin = (page - 1) * PAGE_SIZE
    return found[begin : begin + PAGE_SIZE], len(found)


def _fits(run: RunRecord, marks: Marks, asked: RunsQuery) -> bool:
    if asked.state and state_word(run) != asked.state:
        return False
    texts = (run.id, marks.label, marks.note, run.experiment, run.site, run.reason, run.started_at.replace("T", " "))
    return all(any(word in text.lower() for text in texts) for word in asked.words.lower().split())


def cells_of(source: Source, run: str) -> tuple[CellState, ...]:
    """Return a run's cells in the order in which they were added."""
    counts = source.store.trial_counts(run)
    found = []
    for cell in source.store.cells(run):
        own = counts.get(cell.id, {})
        total = sum(own.values())
        found.append(CellState(cell=cell, trials=total, not_ok=total - own.get(Status.OK, 0)))
    return tuple(found)


HEADINGS = (
    "Trial",
    "Cell",
    "Forwarded, Mpps",
    "Lost",
    "Preset",
    "Intended, Mpps",
    "Round",
    "Status",
    "Warnings",
    "Started",
)
NUMBERS = ("Forwarded, Mpps", "Lost", "Intended, Mpps", "Round")


def trial_table(trials: Sequence[TrialRecord], mark: str) -> Table:
    """Return trials without what only `why` can say of them."""
    rows = tuple(tuple(_trial(trial)) for trial in trials)
    headings = tuple(Cell(name, "n" if name in NUMBERS else "") for name in HEADINGS)
    return Table("Trials, in the order in which they were measured.", headings, rows, mark=mark)


def _trial(trial: TrialRecord) -> Sequence[Cell]:
    ok = trial.status is Status.OK
    status = trial.status.value if ok or not trial.reason else f"{trial.status.value}: {trial.reason}"
    intended = "maximum" if trial.intended_load_pps is None else wording.mpps(trial.intended_load_pps)
    return (
        Cell(str(trial.sequence)),
        Cell(trial.cell, "whole"),
        Cell(wording.mpps(trial.forwarded_rate_pps), "n"),
        Cell(wording.loss(trial.loss_ratio, at_least=trial.has_surplus), "n"),
        Cell(trial.preset.value),
        Cell(intended, "n"),
        Cell(str(trial.round), "n"),
        Cell(status, tone="" if ok else "warning"),
        Cell(", ".join(kind.value for kind in trial.warnings) or wording.NOTHING),
        Cell(trial.started_at[:19].replace("T", " "), "whole"),
    )
