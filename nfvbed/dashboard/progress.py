"""How far a run is: cells and trials that are done, of those that its plan has at least, and the newest trials."""

import threading
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from nfvbed.dashboard.runs import trial_table
from nfvbed.dashboard.source import Source
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.plan.estimate import shortest
from nfvbed.plan.plan import expand
from nfvbed.plan.stored import stored_study
from nfvbed.records import Record, RunRecord, Status
from nfvbed.report.page.values import Table
from nfvbed.report.wording import SIMULATED_MARK
from nfvbed.store.summaries import Part

NEWEST: Final = 10
"""Trials that are shown."""
KEPT: Final = 8
"""Plans that are kept."""


class Needs(Record):
    """What a run has at least to measure."""

    trials: dict[str, int]
    """By cell."""
    tests: dict[str, int]
    """Tests that are more than a trial, by cell."""

    @cached_property
    def whole(self) -> int:
        """All trials."""
        return sum(self.trials.values())


class Progress(Record):
    """How far a run is; rounds may be added until its verdicts are decided."""

    cells_done: int
    """With what they have to have at least, or that are given up."""
    cells: int
    trials: int
    trials_least: int
    tests: int
    tests_least: int

    @property
    def share(self) -> float:
        """The part of the cells that is done."""
        return self.cells_done / self.cells if self.cells else 0.0


class Plans:
    """Needs of runs, out of their stored plans; a plan does not change."""

    def __init__(self) -> None:
        self._kept: dict[str, Needs] = {}
        self._lock = threading.Lock()

    def of(self, source: Source, run: RunRecord) -> Needs | None:
        """Return a run's needs; None where its plan is of another form (VSPERF's)."""
        with self._lock:
            if run.id not in self._kept:
                plan = source.described(run.plan_hash)
                if "runnable" not in plan:
                    return None
                while len(self._kept) >= KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[run.id] = _needs(plan)
            return self._kept[run.id]


def _needs(stored: dict[str, object]) -> Needs:
    study, runnable = stored_study(stored, VariantModel)
    variants = [variant for variant in study.variants if variant.name in runnable]
    plan = expand(study.experiment, variants, study.choices)
    trials, tests = Counter[str](), Counter[str]()
    for cell in plan.cells:
        trials[cell.id] += 0
    for unit in shortest(plan):
        if unit.is_trial:
            trials[unit.cell] += plan.trials_of(unit.preset)
        else:
            tests[unit.cell] += 1
    return Needs(trials=dict(trials), tests=dict(tests))


def progress_of(source: Source, run: RunRecord, needs: Needs) -> Progress:
    """Count what a run has."""
    counts = {cell: sum(own.values()) for cell, own in source.store.trial_counts(run.id).items()}
    results = Counter(result.cell for result in source.store.results(run.id))
    given_up = {cell.id for cell in source.store.cells(run.id) if cell.status is not Status.OK}
    done = [
        cell
        for cell, least in needs.trials.items()
        if cell in given_up or (counts.get(cell, 0) >= least and results[cell] >= needs.tests.get(cell, 0))
    ]
    return Progress(
        cells_done=len(done),
        cells=len(needs.trials),
        trials=sum(counts.values()),
        trials_least=needs.whole,
        tests=results.total(),
        tests_least=sum(needs.tests.values()),
    )


@dataclass(frozen=True)
class Live:
    """What is shown of a run that goes on."""

    progress: Progress | None
    """None: its plan does not say how much there is."""
    trials: Table


def live_of(source: Source, plans: Plans, run: RunRecord) -> Live | None:
    """Return what is shown of a run that goes on; None where it has ended, or nobody writes to the store."""
    if run.status is not None or source.store.writer() is None:
        return None
    needs = plans.of(source, run)
    return Live(progress_of(source, run, needs) if needs else None, newest_trials(source, run))


def newest_trials(source: Source, run: RunRecord) -> Table:
    """Return the newest trials of a run, newest first."""
    count = source.store.extent(run.id).trials
    trials, _ = source.store.trials_page(run.id, None, Part(offset=max(0, count - NEWEST), limit=NEWEST))
    mark = SIMULATED_MARK if any(trial.simulated for trial in trials) else ""
    return replace(trial_table(tuple(reversed(trials)), mark), caption="Newest trials, newest first.")
