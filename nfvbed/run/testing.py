"""Executes the tests that are more than single trials, and writes what came of each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nfvbed.errors import (
    ConfigurationError,
    DeployError,
    DeploymentGoneError,
    GeneratorError,
    NfvbedError,
    OnboardError,
    SwitchDiedError,
    TotalLossError,
    UnsupportedError,
    UsageError,
    VnfDiedError,
)
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.plan import PlannedTrial
from nfvbed.records import QualityWarning, Record, Status, TrialRecord
from nfvbed.records.readings import Part, available
from nfvbed.records.results import LoadsPayload, ResultKind, ResultRecord, TablePayload, placement_of
from nfvbed.run.kinds.catalogue import KINDS
from nfvbed.run.kinds.celltest import CellTest, Outcome, RunContext
from nfvbed.run.losses import nothing_came, total_loss
from nfvbed.run.references import MissingReference
from nfvbed.run.setup import Setup
from nfvbed.spec.testkinds.loads import SearchTest
from nfvbed.spec.tests import AnyTest, expected_s
from nfvbed.store.clock import utc_now
from nfvbed.vnfs.vm.agent import AgentRefused

OF_THE_TEST = (AgentRefused, ConfigurationError, DeployError, UsageError)
"""What keeps one test from its result, while everything runs."""
OF_THE_DEPLOYMENT = (DeploymentGoneError, GeneratorError, SwitchDiedError)
"""What ends the deployment that a test ran on; other tests get a new one."""


OF_A_PROCESS = (DeploymentGoneError, SwitchDiedError, VnfDiedError)
"""What says which process has ended, and its last lines."""


class DeploymentLost(Exception):
    """A test ended with its deployment; its result says why, and what is left needs another deployment."""


class TestRunner:
    """Executes tests of one run."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._plan = context.plan
        self._ledger = context.ledger
        self._observer = context.observer

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
            outcome = self._outcome(spec, CellTest(self._context, unit, cell, setup))
        except MissingReference as why:
            outcome = Outcome(None, Status.BLOCKED, str(why))
        except UnsupportedError as failure:
            outcome = Outcome(None, Status.UNSUPPORTED, str(failure))
        except VnfDiedError as failure:
            self._ledger.add_failure(unit, setup.info.engine, failure)
            raise
        except OF_THE_DEPLOYMENT as failure:
            self._ledger.add_failure(unit, setup.info.engine, failure)
            outcome, error, lost = Outcome(None, Status.FAILED, str(failure)), failure, failure
        except OF_THE_TEST as failure:
            outcome, error = Outcome(None, Status.FAILED, str(failure)), failure
        nothing = self._nothing(spec, outcome, first)
        if nothing and outcome.status in (Status.OK, Status.BLOCKED):
            outcome, error = replace(outcome, status=Status.FAILED, reason=nothing), self._loss(cell, nothing, setup)
        record = self._record(unit, outcome, first, started_at, setup)
        self._ledger.add_result(record, error)
        self._observer.test_ended(record)
        if lost is not None:
            raise DeploymentLost from lost

    def _nothing(self, spec: AnyTest, outcome: Outcome[Any], first: int) -> str:
        """Return a sentence where nothing came back in all of a test; empty: something did, or was not meant to.

        Args:
            first: number of the test's first trial.
        """
        if outcome.nothing or not KINDS[spec.kind].returns:
            return outcome.nothing
        return nothing_came(trial for trial in self._ledger.trials if trial.sequence >= first)

    def _loss(self, cell: CellPlan, nothing: str, setup: Setup) -> TotalLossError:
        return total_loss(self._plan, cell, nothing, setup.site)

    def _outcome(self, spec: AnyTest, cell_test: CellTest) -> Outcome[Any]:
        kind = KINDS[spec.kind]
        if kind.needs_source and not cell_test.cell.takes_loads:
            return Outcome(None, Status.NOT_APPLICABLE, "a VNF is the source of this path and sends at its own pace")
        setup = cell_test.setup
        try:
            return kind.execute(cell_test, spec)
        except (DeployError, GeneratorError, OnboardError) as noticed:
            # A process that has ended is the cause, whatever was noticed of it first.
            try:
                setup.site.verify(setup.deployment)
            except OF_A_PROCESS as ended:
                raise ended from noticed
            raise

    def _record(
        self, unit: PlannedTrial, outcome: Outcome[Any], first: int, started_at: str, setup: Setup
    ) -> ResultRecord:
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
            warnings=_all_warnings(trials, outcome, setup),
            first_sequence=first if last >= first else None,
            last_sequence=last if last >= first else None,
            started_at=started_at,
            ended_at=utc_now(),
            simulated=self._ledger.simulated,
            payload=outcome.payload.model_dump(mode="json") if outcome.payload else {},
        )

    def _placement(self, kind: ResultKind, payload: Record | None) -> str:
        """Return the class that all points of a test are in; `mixed` where they are in several."""
        if not isinstance(payload, LoadsPayload | TablePayload):
            return ""
        trials = self._ledger.trials
        labels = dict(
            zip(
                (trial.sequence for trial in trials),
                self._context.tools.classify([trial.core_distance_ns for trial in trials]),
                strict=True,
            )
        )
        return placement_of(kind, "", [labels[sequence] for sequence in payload.sequences])


def _of_deployment(setup: Setup) -> tuple[QualityWarning, ...]:
    """Return the warnings about a result that is of no trial (socket traffic): those of what it was measured on."""
    deployment = setup.deployment
    threads = available(setup.site.look(deployment, Part.THREADS).threads) or ()
    found = setup.site.warnings(deployment, threads)
    return (*found, QualityWarning.SIMULATED) if deployment.simulated else found


def _all_warnings(trials: Sequence[TrialRecord], outcome: Outcome[Any], setup: Setup) -> tuple[QualityWarning, ...]:
    seen = {warning for trial in trials for warning in trial.warnings} | set(outcome.warnings)
    if not trials and outcome.status is Status.OK:
        seen |= set(_of_deployment(setup))
    return tuple(warning for warning in QualityWarning if warning in seen)
