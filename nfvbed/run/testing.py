"""Executes the tests that are more than single trials, and writes what came of each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nfvbed.errors import (
    ConfigurationError,
    DeployError,
    GeneratorError,
    NfvbedError,
    SwitchDiedError,
    UsageError,
    VnfDiedError,
)
from nfvbed.measure.loads import Load, LoadMeter
from nfvbed.measure.searching import DeploymentMeasurer, SearchedSystem
from nfvbed.measure.task import TrialTask
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.plan import Plan, PlannedTrial
from nfvbed.plan.standing import standing
from nfvbed.records import QualityWarning, Record, Status, TrialRecord
from nfvbed.results import (
    MIXED,
    ONLY,
    LoadPoint,
    LoadsPayload,
    Reference,
    ResultKind,
    ResultRecord,
    placement_of,
)
from nfvbed.run import requests
from nfvbed.run.ledger import RunLedger
from nfvbed.run.observer import Observer
from nfvbed.run.references import Known, NothingToGoBy, load_range, reference
from nfvbed.run.setup import Setup
from nfvbed.run.tools import Tools
from nfvbed.search.engine import Setting, search
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import SearchResult
from nfvbed.spec.tests import AnyTest, ContinuousTest, LatencyTest, LossCurveTest, SearchTest, SoakTest, expected_s
from nfvbed.store.clock import utc_now

TRIES = 3
"""Trials at one load, at most, until one is in the placement class of the test."""
OF_THE_TEST = (ConfigurationError, DeployError, UsageError)
"""What keeps one test from its result, while everything stands."""
OF_THE_DEPLOYMENT = (GeneratorError, SwitchDiedError)
"""What ends the deployment that a test ran on; other tests get a new one."""


class DeploymentLost(Exception):
    """A test ended with its deployment; its result says why, and what is left needs another deployment."""


@dataclass(frozen=True)
class Outcome:
    """What came of a test."""

    payload: Record | None
    status: Status = Status.OK
    reason: str = ""
    placement_class: str | None = None
    """None: that of all its trials."""


class Tester:
    """Executes tests of one run.

    Args:
        plan: what is measured.
        ledger: where it is written.
        tools: what measures it.
        observer: who hears of it.
    """

    def __init__(self, plan: Plan, ledger: RunLedger, tools: Tools, observer: Observer) -> None:
        self._plan = plan
        self._ledger = ledger
        self._tools = tools
        self._observer = observer

    def test(self, unit: PlannedTrial, cell: CellPlan, setup: Setup) -> None:
        """Execute one test; its result is written, whatever comes of it.

        Raises:
            DeploymentLost: generator or switch ended; the result says so.
            VnfDiedError: a VNF ended; there is no result, as its cell is given up.
        """
        spec = self._plan.experiment.labelled_tests[unit.test]
        resolved = self._plan.experiment.search_of(spec) if isinstance(spec, SearchTest) else None
        self._observer.trial_started(unit, expected_s(spec, resolved)[0])
        first, started_at = self._ledger.next_sequence, utc_now()
        lost: NfvbedError | None = None
        error: NfvbedError | None = None
        try:
            outcome = self._outcome(spec, unit, cell, setup)
        except NothingToGoBy as why:
            outcome = Outcome(None, Status.BLOCKED, str(why))
        except OF_THE_TEST as failure:
            outcome, error = Outcome(None, Status.FAILED, str(failure)), failure
        except VnfDiedError as failure:
            self._ledger.add_failure(unit, setup.info.engine, failure)
            raise
        except OF_THE_DEPLOYMENT as failure:
            self._ledger.add_failure(unit, setup.info.engine, failure)
            outcome, error, lost = Outcome(None, Status.FAILED, str(failure)), failure, failure
        record = self._record(unit, outcome, first, started_at)
        self._ledger.add_result(record, error)
        self._observer.test_ended(record)
        if lost is not None:
            raise DeploymentLost from lost

    def _outcome(self, spec: AnyTest, unit: PlannedTrial, cell: CellPlan, setup: Setup) -> Outcome:
        if not cell.takes_loads:
            return Outcome(None, Status.NOT_APPLICABLE, "a VNF is the source of this path and sends at its own pace")
        if isinstance(spec, SearchTest):
            return self._search(spec, unit, cell, setup)
        meter = LoadMeter(setup.measures, lambda: self._task(unit, cell), self._keep)
        base, loads = self._loads(spec, cell)
        tries = 1 if isinstance(spec, SoakTest) else TRIES
        return Outcome(LoadsPayload(reference=base, points=tuple(self._points(meter, loads, tries))))

    def _points(self, meter: LoadMeter, loads: Sequence[Load], tries: int) -> Iterator[LoadPoint]:
        """Measure loads in one placement class: that of the run, else that of the first point.

        A trial of another class is measured again, a few times; then the last one counts, and the class is mixed.
        """
        wanted = self._known().wanted
        for load in loads:
            for left in reversed(range(tries)):
                point = meter.at(load)
                label = self._tools.classify([trial.core_distance_ns for trial in self._ledger.trials])[-1]
                if left == 0 or label in (wanted, ONLY) or (wanted is None and label != MIXED):
                    break
            wanted = wanted or (label if label not in (ONLY, MIXED) else None)
            yield point

    def _search(self, spec: SearchTest, unit: PlannedTrial, cell: CellPlan, setup: Setup) -> Outcome:
        known = self._known()
        what = self._plan.experiment.search_of(spec)
        system = SearchedSystem(setup.site, setup.deployment, setup.measures)
        history = tuple(trial.core_distance_ns for trial in known.trials)
        setting = Setting(
            loads=load_range(what, cell, known),
            directions=2 if cell.bidirectional else 1,
            placement=PlacementRule(known.classify, history, known.wanted),
        )
        measurer = DeploymentMeasurer(system, lambda: self._search_task(unit, cell), self._keep)
        result = search(what, measurer, setting)
        status = Status.OK if result.trials else Status.BLOCKED
        return Outcome(result, status, irregularities(result), result.placement.label)

    def _loads(self, spec: AnyTest, cell: CellPlan) -> tuple[Reference | None, list[Load]]:
        """Give the loads of a test in order, and what they are parts of."""
        if isinstance(spec, SoakTest):
            base, load = self._one_load(spec, cell, spec.interval_s)
            return base, [load] * spec.intervals
        if isinstance(spec, ContinuousTest):
            base, load = self._one_load(spec, cell, spec.duration_s)
            return base, [load]
        if not isinstance(spec, LossCurveTest | LatencyTest):
            raise TypeError(f"{spec.kind} has no given loads")
        parts = reference(spec.of, cell, self._known()) if spec.fractions else None
        loads = [_part(parts, fraction, spec.duration_s) for fraction in spec.fractions] if parts else []
        if isinstance(spec, LatencyTest) and spec.fixed_load_pps is not None:
            loads.append(Load(spec.fixed_load_pps, spec.duration_s))
        return parts, loads

    def _one_load(
        self, spec: ContinuousTest | SoakTest, cell: CellPlan, duration_s: float
    ) -> tuple[Reference | None, Load]:
        if spec.load_pps is not None:
            return None, Load(spec.load_pps, duration_s)
        base = reference(spec.of, cell, self._known())
        return base, _part(base, spec.fraction or 1.0, duration_s)

    def _known(self) -> Known:
        ledger, classify = self._ledger, self._tools.classify
        found = standing(self._plan, ledger.done, classify, ledger.set_aside, ledger.done_tests)
        wanted = None if found.placement == ONLY else found.placement
        return Known(ledger.trials, ledger.results, classify, wanted)

    def _task(self, unit: PlannedTrial, cell: CellPlan) -> TrialTask:
        return self._ledger.task(unit, requests.plain(self._plan.experiment, cell))

    def _search_task(self, unit: PlannedTrial, cell: CellPlan) -> TrialTask:
        # Stamps cost the generator time, and counters the search: it goes by neither.
        task = self._task(unit, cell)
        return replace(task, request=replace(task.request, stamp=False), counters=False)

    def _keep(self, record: TrialRecord) -> None:
        self._ledger.add_trial(record)
        self._observer.trial_ended(record)

    def _record(self, unit: PlannedTrial, outcome: Outcome, first: int, started_at: str) -> ResultRecord:
        trials = [trial for trial in self._ledger.trials if trial.sequence >= first]
        last = self._ledger.next_sequence - 1
        kind = ResultKind(unit.preset.value)
        placement = outcome.placement_class
        placement = self._placement(kind, outcome.payload) if placement is None else placement
        return ResultRecord(
            run=self._ledger.run.id,
            cell=unit.cell,
            round=unit.round,
            test=unit.test,
            kind=kind,
            placement_class=placement,
            status=outcome.status,
            reason=outcome.reason,
            warnings=_all_warnings(trials),
            first_sequence=first if last >= first else None,
            last_sequence=last if last >= first else None,
            started_at=started_at,
            ended_at=utc_now(),
            simulated=self._ledger.simulated,
            payload=outcome.payload.model_dump(mode="json") if outcome.payload else {},
        )

    def _placement(self, kind: ResultKind, payload: Record | None) -> str:
        """Give the class that all points of a test are in; `mixed` where they are in several."""
        if not isinstance(payload, LoadsPayload):
            return ""
        trials = self._ledger.trials
        labels = dict(
            zip(
                (trial.sequence for trial in trials),
                self._tools.classify([trial.core_distance_ns for trial in trials]),
                strict=True,
            )
        )
        return placement_of(kind, "", [labels[point.sequence] for point in payload.points])


def irregularities(result: SearchResult) -> str:
    """Say of every goal without a regular result why; empty where all have one."""
    return "; ".join(
        f"{goal.goal.name} {goal.irregularity.value}: {goal.explanation}"
        for goal in result.goals
        if goal.irregularity is not None
    )


def _part(base: Reference, fraction: float, duration_s: float) -> Load:
    return Load(max(2, round(base.load_pps * fraction)), duration_s, fraction)


def _all_warnings(trials: Iterable[TrialRecord]) -> tuple[QualityWarning, ...]:
    seen = {warning for trial in trials for warning in trial.warnings}
    return tuple(warning for warning in QualityWarning if warning in seen)
