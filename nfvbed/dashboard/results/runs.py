"""A run on a page: its cells with their trials counted, its trials by the page, and what it was measured on."""

from collections.abc import Sequence

from nfvbed.dashboard.results.source import Source
from nfvbed.records import CellRecord, Record, Status, TrialRecord
from nfvbed.report import wording
from nfvbed.report.page.values import Cell, Table


class CellState(Record):
    """A cell, and how many trials it has."""

    cell: CellRecord
    trials: int
    not_ok: int
    """Of them."""


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
    "Started",
    "Cell",
    "Round",
    "Preset",
    "Intended, Mpps",
    "Forwarded, Mpps",
    "Lost",
    "Status",
    "Warnings",
)


def trial_table(trials: Sequence[TrialRecord], mark: str) -> Table:
    """Return trials without what only `why` can say of them."""
    rows = tuple(tuple(_trial(trial)) for trial in trials)
    return Table("Trials, in the order in which they were measured.", tuple(Cell(h) for h in HEADINGS), rows, mark=mark)


def _trial(trial: TrialRecord) -> Sequence[Cell]:
    ok = trial.status is Status.OK
    status = trial.status.value if ok or not trial.reason else f"{trial.status.value}: {trial.reason}"
    intended = "maximum" if trial.intended_load_pps is None else wording.mpps(trial.intended_load_pps)
    return (
        Cell(str(trial.sequence)),
        Cell(trial.started_at[:19].replace("T", " "), "whole"),
        Cell(trial.cell, "whole"),
        Cell(str(trial.round), "n"),
        Cell(trial.preset.value),
        Cell(intended, "n"),
        Cell(wording.mpps(trial.forwarded_rate_pps), "n"),
        Cell(wording.loss(trial.loss_ratio, at_least=trial.has_surplus), "n"),
        Cell(status, tone="" if ok else "warning"),
        Cell(", ".join(kind.value for kind in trial.warnings) or wording.NOTHING),
    )
