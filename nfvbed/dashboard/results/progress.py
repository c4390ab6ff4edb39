"""How far a run is: trials and cells that are done, of those that its plan has at least, and the newest trials."""

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Final

from nfvbed.dashboard.results.rounds import RoundTables
from nfvbed.dashboard.results.runs import trial_table
from nfvbed.dashboard.results.source import Source
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.plan.estimate import PRIOR_S, SIMULATED, Overheads, expected_trials, length_s, shortest
from nfvbed.plan.plan import Plan, expand
from nfvbed.plan.stored import stored_study
from nfvbed.records import Record, RunRecord, Status
from nfvbed.report.page.values import Table
from nfvbed.report.wording import SIMULATED_MARK
from nfvbed.store.summaries import Part

NEWEST: Final = 10
"""Trials that are shown."""
KEPT: Final = 8
"""Plans that are kept."""
MOST_PACE: Final = 3.0
"""A run takes at most so many times as long as its plan says, or a part of it so small."""


class RequiredMeasurements(Record):
    """What a run has at least to measure."""

    trials: dict[str, int]
    """By cell; of plain trials, those of longer tests are not among them."""
    tests: dict[str, dict[str, int]]
    """By cell and test: how often a test that is more than a trial is made."""
    trials_of_tests: dict[str, int]
    """Number of trials that a test is expected to take, by test."""
    length_s: float = 0.0
    """Time for all of it, as the plan estimates it; 0 where time is virtual."""

    @cached_property
    def whole(self) -> int:
        """The number of all plain trials."""
        return sum(self.trials.values())

    @cached_property
    def whole_of_tests(self) -> int:
        """All trials of longer tests, as they are expected."""
        return sum(self.of_tests(cell, needed) for cell, needed in self.tests.items())

    def of_tests(self, cell: str, ended: Mapping[str, int]) -> int:
        """Return the trials that longer tests of a cell are expected to have taken.

        Args:
            ended: how many trials of each test have ended; more than it needs count as those.
        """
        needed = self.tests.get(cell, {})
        return sum(min(ended.get(test, 0), most) * self.trials_of_tests[test] for test, most in needed.items())


class Progress(Record):
    """How far a run is; rounds may be added until its verdicts are decided."""

    cells_done: int
    """Cells with what they have to have at least, or that are given up."""
    cells: int
    trials: int
    """Plain trials, failed ones and those of further rounds among them."""
    trials_least: int
    tests: int
    tests_least: int
    done: int
    """Trials that count: of each cell at most what it has to have, of a longer test what it is expected to take."""
    whole: int
    """Least number of trials that count in a whole run."""

    @property
    def share(self) -> float:
        """The part of the trials that is done; of a cell that is given up all of them."""
        return self.done / self.whole if self.whole else 0.0


class Plans:
    """Needs of runs, out of their stored plans; a plan does not change."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[RequiredMeasurements, Plan]] = {}
        self._lock = threading.Lock()
        self.rounds = RoundTables()

    def of(self, source: Source, run: RunRecord) -> RequiredMeasurements | None:
        """Return a run's needs; None where its plan is of another form (VSPERF's)."""
        found = self.with_plan(source, run)
        return found and found[0]

    def with_plan(self, source: Source, run: RunRecord) -> tuple[RequiredMeasurements, Plan] | None:
        """Return a run's needs, and the plan that has them; None where its plan is of another form (VSPERF's)."""
        with self._lock:
            if run.id not in self._kept:
                plan = source.described(run.plan_hash)
                if "runnable" not in plan:
                    return None
                while len(self._kept) >= KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[run.id] = _needs(plan)
            return self._kept[run.id]


def _needs(stored: dict[str, object]) -> tuple[RequiredMeasurements, Plan]:
    study, runnable = stored_study(stored, VariantModel)
    variants = [variant for variant in study.variants if variant.name in runnable]
    plan = expand(study.experiment, variants, study.choices)
    trials: dict[str, int] = {cell.id: 0 for cell in plan.cells}
    tests: dict[str, Counter[str]] = defaultdict(Counter)
    expected: dict[str, int] = {}
    for unit in shortest(plan):
        if unit.is_trial:
            trials[unit.cell] += plan.trials_of(unit.preset)
        else:
            tests[unit.cell][unit.test] += 1
            expected[unit.test] = expected_trials(plan, unit)
    overheads = SIMULATED if study.simulated else Overheads()
    needs = RequiredMeasurements(
        trials=trials,
        tests={cell: dict(own) for cell, own in tests.items()},
        trials_of_tests=expected,
        length_s=0.0 if study.simulated else length_s(plan, shortest(plan), overheads),
    )
    return needs, plan


def progress_of(source: Source, run: RunRecord, needs: RequiredMeasurements) -> Progress:
    """Count what a run has."""
    counts = source.store.visit_trials(run.id)
    ended: dict[str, Counter[str]] = defaultdict(Counter)
    for result in source.store.results(run.id):
        ended[result.cell][result.test] += 1
    given_up = {cell.id for cell in source.store.cells(run.id) if cell.status is not Status.OK}
    cells_done, done = 0, 0
    for cell, least in needs.trials.items():
        needed = needs.tests.get(cell, {})
        whole = least + needs.of_tests(cell, needed)
        own = min(counts.get(cell, 0), least) + needs.of_tests(cell, ended[cell])
        lacks_tests = any(ended[cell][test] < number for test, number in needed.items())
        is_done = cell in given_up or (own >= whole and not lacks_tests)
        cells_done += is_done
        done += whole if is_done else own
    return Progress(
        cells_done=cells_done,
        cells=len(needs.trials),
        trials=sum(counts.values()),
        trials_least=needs.whole,
        tests=sum(own.total() for own in ended.values()),
        tests_least=sum(sum(own.values()) for own in needs.tests.values()),
        done=done,
        whole=needs.whole + needs.whole_of_tests,
    )


@dataclass(frozen=True)
class RunProgress:
    """What is shown of a run that goes on."""

    progress: Progress | None
    """None: its plan does not say how much there is."""
    trials: Table
    rates: Table | None = None
    """After the whole rounds; None before the first of them."""
    left_s: float | None = None
    """About how long it takes; None: not known, or virtual."""
    compares: bool = False
    """Whether there will be verdicts, for which rounds are added; a survey has none."""


def live_of(source: Source, plans: Plans, run: RunRecord, now: datetime | None = None) -> RunProgress | None:
    """Return what is shown of a run that goes on; None where it has ended, or no process writes to the store."""
    if run.status is not None or source.store.writer() is None:
        return None
    found = plans.with_plan(source, run)
    if found is None:
        return RunProgress(None, newest_trials(source, run))
    needs, plan = found
    progress = progress_of(source, run, needs)
    elapsed_s = ((now or datetime.now(UTC)) - datetime.fromisoformat(run.started_at)).total_seconds()
    return RunProgress(
        progress,
        newest_trials(source, run),
        plans.rounds.of(source, run, plan),
        left_s(needs, progress, elapsed_s),
        compares=bool(plan.compared),
    )


def left_s(needs: RequiredMeasurements, progress: Progress, elapsed_s: float) -> float | None:
    """Estimate how long the trials take that a run lacks, by its plan and by the pace that it has had; None: unknown.

    A pace that is far from the plan's is of a run that had stopped, and was resumed: then the plan's own holds.
    """
    if not needs.length_s or not progress.whole:
        return None
    done_s = needs.length_s * progress.share
    pace = (elapsed_s + PRIOR_S) / (done_s + PRIOR_S)
    ahead_s = max(needs.length_s - done_s, 0.0)
    return ahead_s * (pace if 1 / MOST_PACE <= pace <= MOST_PACE else 1.0)


def newest_trials(source: Source, run: RunRecord) -> Table:
    """Return the newest trials of a run, newest first."""
    count = source.store.extent(run.id).trials
    trials, _ = source.store.trials_page(run.id, None, Part(offset=max(0, count - NEWEST), limit=NEWEST))
    mark = SIMULATED_MARK if any(trial.simulated for trial in trials) else ""
    return replace(trial_table(tuple(reversed(trials)), mark), caption="Newest trials, newest first.")
