"""What the execution of a test works with, and what it gives."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, Protocol, TypeVar

from nfvbed.measure.loads import Load, LoadMeter
from nfvbed.measure.task import TrialTask
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.completeness import completeness
from nfvbed.plan.plan import Plan, PlannedTrial
from nfvbed.records import QualityWarning, Record, Status, TrialRecord
from nfvbed.records.results import MIXED, SINGLE, LoadPoint, Reference, label_of
from nfvbed.run import requests
from nfvbed.run.ledger import RunLedger
from nfvbed.run.observer import Observer
from nfvbed.run.references import TestReferences, reference
from nfvbed.run.setup import Setup
from nfvbed.run.tools import Tools

TRIES = 3
"""Trials at one load, at most, until one is in the placement class of the test."""
AGAIN = 3
"""How often a test of several repetitions may repeat one that left its placement class, for each that is asked for."""

Result = TypeVar("Result")
Payload = TypeVar("Payload", bound=Record)


class LoadTest(Protocol):
    """A test whose load is given in frames/s over all directions, or as a part of another one."""

    @property
    def load_pps(self) -> int | None:
        """The load in frames/s; None: it is given as a fraction."""

    @property
    def fraction(self) -> float | None:
        """The part of a reference; None: the load is given in frames/s."""

    @property
    def of(self) -> str:
        """The reference that the fraction is of: `mrr`, or the name of a goal."""


@dataclass(frozen=True)
class Outcome(Generic[Payload]):
    """The outcome of a test before it is written: its payload, or why there is none."""

    payload: Payload | None
    status: Status = Status.OK
    reason: str = ""
    placement_class: str | None = None
    """None: that of all its trials."""
    warnings: tuple[QualityWarning, ...] = ()
    """Warnings beside those of its trials: a test without trials has its own."""
    nothing: str = ""
    """What did not come through, where nothing did at all: then the test failed, whatever its figures are. Empty:
    something did, or its trials tell."""


@dataclass(frozen=True)
class RunContext:
    """The plan, ledger, tools and observer that all tests of a run share."""

    plan: Plan
    ledger: RunLedger
    tools: Tools
    observer: Observer


@dataclass(frozen=True)
class CellTest:
    """One test of one cell on what is deployed for it."""

    context: RunContext
    unit: PlannedTrial
    cell: CellPlan
    setup: Setup

    @property
    def plan(self) -> Plan:
        """The plan of the run."""
        return self.context.plan

    def known(self) -> TestReferences:
        """Return what the run has measured so far, and the placement class that it measures in."""
        ledger, classify = self.context.ledger, self.context.tools.classify
        found = completeness(self.plan, ledger.done, classify, ledger.excluded, ledger.done_tests)
        wanted = None if found.placement == SINGLE else found.placement
        return TestReferences(ledger.trials, ledger.results, classify, wanted)

    def base(self, of: str) -> Reference:
        """Return the load that fractions are fractions of: `mrr`, or a goal of a search.

        Raises:
            MissingReference: that load was not measured, so the test is blocked.
        """
        return reference(of, self.cell, self.known())

    def task(self) -> TrialTask:
        """Return the next trial's task: the experiment's traffic at maximum load, stamped and counted."""
        return self.context.ledger.task(
            self.unit, requests.plain(self.plan.experiment, self.cell), self.setup.site.renews
        )

    def bare_task(self) -> TrialTask:
        """Return one without stamps, which cost the generator time, and without counters."""
        task = self.task()
        return replace(task, request=replace(task.request, stamp=False), counters=False)

    def keep(self, record: TrialRecord) -> None:
        """Store a trial as soon as it has ended, and tell of it."""
        self.context.ledger.add_trial(record)
        self.context.observer.trial_ended(record)

    def meter(self) -> LoadMeter:
        """Return what measures trials at given loads."""
        return LoadMeter(self.setup.measures, self.task, self.keep)

    def labels(self) -> list[str]:
        """Return the placement classes of the run's trials, in order, as they are known now."""
        return self.context.tools.classify([trial.core_distance_ns for trial in self.context.ledger.trials])

    def measure(self, task: TrialTask) -> TrialRecord:
        """Run one trial, and store it.

        Raises:
            SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
        """
        record = self.setup.measures.measure(task)
        self.keep(record)
        return record

    def points(self, loads: Sequence[Load], tries: int = TRIES) -> Iterator[LoadPoint]:
        """Measure loads in one placement class."""
        meter, one_class = self.meter(), PlacementClassFilter(self, tries)
        for load in loads:
            yield one_class.take(partial(meter.at, load))

    def given_load(self, spec: LoadTest) -> tuple[Reference | None, int | None]:
        """Return the load of a test, in frames/s over all directions, and what it is a part of.

        Returns:
            The reference, None where the load is given itself; and the load, None where none is given at all.

        Raises:
            MissingReference: what it is a part of was not measured.
        """
        if spec.fraction is None:
            return None, spec.load_pps
        base = self.base(spec.of)
        return base, part_of(base, spec.fraction)


class PlacementClassFilter:
    """Keeps what a test measures in one placement class: that of the run, else that of what it measured first.

    What is of another class is measured again, a few times; then the last measurement counts, whatever its class is.

    Args:
        tries: the most attempts until a measurement is in the class.
        again: how often things may be measured again in the whole test, however often each; None: no such bound, else
            it takes the place of `tries`.
        restart: whether the test restarts where its class is gone. It waits in vain for at most what that loses: as
            often in a row as it was in the class before. The run's class stays the same, so a test in it does not
            restart.
    """

    def __init__(
        self, cell_test: CellTest, tries: int = TRIES, again: int | None = None, *, restart: bool = False
    ) -> None:
        self._cell_test = cell_test
        self._tries = tries
        self._again = again
        self._wanted = cell_test.known().wanted
        self._restart = restart and self._wanted is None
        self._kept = 0
        """How often what was taken was in the class."""
        self._first: int | None = None
        """Where the trials begin of what was taken first: its class may show only later."""
        self.label = ""
        """Placement class of all trials that were taken last."""

    @property
    def fits(self) -> bool:
        """Whether what was taken last is in the class."""
        return self.label in (self._wanted, SINGLE)

    def take(self, measure: Callable[[], Result], counted: Callable[[Result], Collection[int]] | None = None) -> Result:
        """Measure, one trial or several, until all of them are in the class.

        Args:
            counted: returns the sequences of those that count, where some were measured again; None: all count.
        """
        tries = 0
        while True:
            begin = len(self._cell_test.context.ledger.trials)
            found = measure()
            tries += 1
            own = self._since(begin, None if counted is None else counted(found))
            if self._suits(own) or not self._may_go_on(tries):
                break
        if self._first is None and own:
            self._first = own[0]
        self._kept += self.fits
        return found

    def _since(self, begin: int, counted: Collection[int] | None) -> list[int]:
        """Return the places in the run of the trials since one, of those that count alone."""
        trials = self._cell_test.context.ledger.trials
        return [place for place in range(begin, len(trials)) if counted is None or trials[place].sequence in counted]

    def _suits(self, own: Sequence[int]) -> bool:
        """Look at trials, by their places in the run and by what is known of the host's classes now."""
        labels = self._cell_test.labels()
        self.label = label_of([labels[place] for place in own])
        if self._wanted is None and self._first is not None and labels[self._first] not in (SINGLE, MIXED):
            self._wanted = labels[self._first]
        if self._wanted is None and self.label not in (SINGLE, MIXED):
            self._wanted = self.label
        return self.fits

    def _may_go_on(self, tries: int) -> bool:
        if self._again is None:
            return tries < self._tries
        self._again -= 1
        return self._again >= 0 and not (self._restart and tries > max(AGAIN, self._kept))


def part_of(base: Reference, fraction: float) -> int:
    """Return a part of a load, in whole frames/s over all directions."""
    return max(2, round(base.load_pps * fraction))
