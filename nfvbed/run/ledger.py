"""Writes what a run does into the store, and knows what was done before."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uuid6 import uuid7

from nfvbed.errors import NfvbedError, NotComparableError
from nfvbed.measure.task import TrialTask
from nfvbed.plan.cells import OF_A_VISIT, CellPlan, DeploymentKey
from nfvbed.plan.completeness import CompletedTest, CompletedTrial
from nfvbed.plan.plan import PlannedTrial, TrialKey
from nfvbed.records import (
    CellRecord,
    Deployment,
    Engine,
    FactRecord,
    MissingPrerequisite,
    Preset,
    RenewedPart,
    RunRecord,
    Status,
    TrialRecord,
    VnfHandle,
)
from nfvbed.records.results import ResultKind, ResultRecord
from nfvbed.records.state import ON_COMPUTE
from nfvbed.records.trial import PORTS
from nfvbed.spec.rules import Study
from nfvbed.store import Store
from nfvbed.store.clock import utc_now
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.units import NS_PER_S

PLAN_FORMAT = 3
DEPLOY, ONBOARD = "deploy.", "onboard."
"""What the steps of data planes and of VNFs are named by, once."""
NO_RIG = ""
"""A cell that was never deployed has no rig."""
MEASURED_AGAIN = "it failed, was measured again since, and its run did not end ok"
"""Reason of a cell that a resumed run went on with."""


def begin(store: Store, study: Study, runnable: tuple[str, ...], hashes: Mapping[str, str]) -> RunRecord:
    """Write a new run with its plan.

    Args:
        runnable: names of the variants that this host can run.
        hashes: those of `host` and `doctor` (empty: no doctor's report was made).
    """
    plan = {
        "format": PLAN_FORMAT,
        "experiment": study.experiment,
        "variants": study.variants,
        "site": study.site,
        "choices": [{"variant": variant, "choice": choice} for (variant, _), choice in study.choices.items()],
        "runnable": runnable,
    }
    run = RunRecord(
        id=str(uuid7()),
        experiment=study.experiment.name,
        site=study.site.name,
        host_hash=hashes["host"],
        doctor_hash=hashes["doctor"],
        plan_hash=store.put_blob("plan", plan),
        started_at=utc_now(),
    )
    store.start_run(run)
    return run


def _detail(key: DeploymentKey) -> dict[str, Any]:
    return {"variant": key.variant, "role": key.role.value, "topology": key.topology, "vnf": key.vnf}


def _where(handle: VnfHandle) -> dict[str, Any]:
    """Return on which compute a VNF is, where its site has said so."""
    return {name: handle.facts[name] for name in (ON_COMPUTE,) if name in handle.facts}


@dataclass(frozen=True)
class Exclusion:
    """Why a cell is not measured."""

    status: Status
    reason: str
    lacks: MissingPrerequisite | None = None


class RunLedger:
    """One run's rows: those that are there, and those that are added."""

    def __init__(self, store: Store, run: RunRecord, study: Study) -> None:
        self.run = run
        self._store = store
        self.simulated = study.simulated
        self._mrr_trials = study.experiment.trials.mrr_trials
        self._cells = {cell.id: cell for cell in store.cells(run.id)}
        self._ok: list[TrialRecord] = []
        self._done: list[CompletedTrial] = []
        self._counts: Counter[TrialKey] = Counter()
        self._finished: list[TrialKey] = []
        self._next_sequence = 1
        for trial in store.trials(run.id):
            self._note(trial)
        self._results = store.results(run.id)
        self._finished += [test.key for test in self.done_tests]
        self._given_up: dict[str, NfvbedError] = {}
        self._failed_tests: dict[tuple[int, str, str], NfvbedError] = {}
        self._measured_since: set[str] = set()
        """Cells with trials of this process that ended well, after whatever failed of them."""

    @property
    def trials(self) -> tuple[TrialRecord, ...]:
        """All trials that ended well, in order."""
        return tuple(self._ok)

    @property
    def done(self) -> tuple[CompletedTrial, ...]:
        """The trials of the MRR that are done, as planning needs them."""
        return tuple(self._done)

    @property
    def results(self) -> tuple[ResultRecord, ...]:
        """What came of the other tests, in the order in which they ended."""
        return tuple(self._results)

    @property
    def done_tests(self) -> tuple[CompletedTest, ...]:
        """The results of the other tests, as planning needs them."""
        distances = {trial.sequence: trial.core_distance_ns for trial in self.trials}
        return tuple(
            CompletedTest(
                result.round,
                result.cell,
                result.test,
                result.kind,
                result.placement_class,
                tuple(distance for sequence, distance in distances.items() if result.placed_by(sequence)),
                settled=result.status is not Status.OK or result.kind is ResultKind.SOAK,
            )
            for result in self._results
        )

    @property
    def failed_tests(self) -> Mapping[tuple[int, str, str], NfvbedError]:
        """Tests (round, cell, label) that failed since this process began, while the others went on."""
        return self._failed_tests

    @property
    def done_keys(self) -> frozenset[TrialKey]:
        """The keys of trials that need not be repeated."""
        return frozenset(self._finished)

    def finished_since(self, number: int) -> Sequence[TrialKey]:
        """Return the same in the order in which it ended, without the first ones."""
        return self._finished[number:]

    def trials_left(self, unit: PlannedTrial) -> int:
        """Return how many trials of the MRR test a unit still lacks: a visit may have been cut short."""
        of_one = self._mrr_trials if unit.preset is Preset.MRR else 1
        return max(of_one - self._counts[unit.key], 0)

    @property
    def excluded(self) -> frozenset[str]:
        """Cells that cannot be measured here, and those that were given up since this process began."""
        final = (Status.UNSUPPORTED, Status.NOT_APPLICABLE, Status.SKIPPED)
        return frozenset(cell.id for cell in self._cells.values() if cell.status in final) | self._given_up.keys()

    @property
    def given_up(self) -> Mapping[str, NfvbedError]:
        """Cells that failed while the others went on, with what happened; a resumed run tries them again."""
        return self._given_up

    def reasons_excluded(self) -> dict[str, str]:
        """Return for each such cell why it is excluded."""
        return {cell: self._cells[cell].reason for cell in sorted(self.excluded)}

    @property
    def next_sequence(self) -> int:
        """The number of the next trial; a repetition of one that failed gets a number of its own."""
        return self._next_sequence

    def task(self, trial: PlannedTrial, request: TrafficRequest, renewed: RenewedPart | None = None) -> TrialTask:
        """Return what a measurement needs to know of the next trial.

        Args:
            renewed: what its visit set up again.
        """
        return TrialTask(
            run=self.run.id,
            cell=trial.cell,
            sequence=self.next_sequence,
            round=trial.round,
            preset=trial.preset,
            request=request,
            renewed=renewed,
        )

    def put_blob(self, kind: str, value: Any) -> str:
        """Keep a value and return its hash."""
        return self._store.put_blob(kind, value)

    def exclude_cell(self, cell: CellPlan, config_hash: str, why: Exclusion) -> None:
        """Write that a cell is unsupported or not applicable; once is enough."""
        if cell.id in self._cells:
            if cell.id not in self.excluded:
                self._settle(cell.id, why)
            return
        record = self._record(cell, config_hash, NO_RIG)
        self._add_cell(record.model_copy(update=dataclasses.asdict(why)))

    def give_up(self, cell: CellPlan, config_hash: str, error: NfvbedError) -> None:
        """Write that a cell failed, and measure it no more; what it has stays."""
        if cell.id in self._cells:
            self._settle(cell.id, Exclusion(Status.FAILED, str(error)))
        else:
            record = self._record(cell, config_hash, NO_RIG)
            self._add_cell(record.model_copy(update={"status": Status.FAILED, "reason": str(error)}))
        self._given_up[cell.id] = error

    def register(self, cell: CellPlan, config_hash: str, rig_hash: str) -> None:
        """Write a cell before its first trial; check later that it is still the same.

        Raises:
            NotComparableError: versions, configuration or rig changed since the run's earlier trials.
        """
        known = self._cells.get(cell.id)
        if known is None:
            self._add_cell(self._record(cell, config_hash, rig_hash))
            return
        for name, before, now in (("config", known.config_hash, config_hash), ("rig", known.rig_hash, rig_hash)):
            if before != now:
                raise NotComparableError(
                    f"{cell.id} is not what it was when this run began",
                    where=f"run {self.run.id}",
                    observed=f"{name} hash {now[:12]}, before {before[:12]}",
                    fix="begin a new run; what was measured is kept",
                )

    def add_trial(self, record: TrialRecord) -> None:
        """Write a trial that ended."""
        self._store.add_trial(record)
        self._note(record)
        if record.status is Status.OK:
            self._measured_since.add(record.cell)

    def add_result(self, record: ResultRecord, error: NfvbedError | None = None) -> None:
        """Write the outcome of a test.

        Args:
            error: fault that made the test fail; None: it did not.
        """
        self._store.add_result(record)
        self._results.append(record)
        self._finished.append((record.round, record.cell, record.test, record.kind))
        if error is not None:
            self._failed_tests[record.key] = error

    def add_failure(self, trial: PlannedTrial, engine: Engine, error: Exception) -> None:
        """Write a trial that failed, with the reason."""
        self.add_trial(
            TrialRecord(
                run=self.run.id,
                cell=trial.cell,
                sequence=self.next_sequence,
                round=trial.round,
                preset=trial.preset,
                started_at=utc_now(),
                intended_load_pps=None,
                offered_load_pps=0,
                forwarded_rate_pps=0,
                directions=(),
                duration_ns=0,
                engine=engine,
                simulated=self.simulated,
                status=Status.FAILED,
                reason=str(error),
            )
        )

    def add_fact(self, key: DeploymentKey, round_number: int, step: str, duration_s: float) -> None:
        """Write how long a step of a deployment took."""
        self._write_fact(round_number, step, round(duration_s * NS_PER_S), _detail(key))

    def add_ports(self, key: DeploymentKey, round_number: int, speeds_mbps: Sequence[int | None]) -> None:
        """Write the speeds of the generator's ports on NICs, Mbit/s; None: its driver does not tell."""
        self._write_fact(round_number, PORTS, 0, _detail(key) | {"speeds_mbps": list(speeds_mbps)})

    def add_deployment(self, key: DeploymentKey, round_number: int, deployment: Deployment, duration_s: float) -> None:
        """Write how long a deployment and each of its steps took, those of its VNFs included."""
        self.add_fact(key, round_number, "deploy", duration_s)
        detail = _detail(key) | {"id": deployment.id}
        of_vnfs = {step for handle in deployment.vnfs for step in handle.steps}
        for step, duration_ns in deployment.steps:
            if (step, duration_ns) not in of_vnfs:
                name = step if step.startswith((DEPLOY, ONBOARD)) else DEPLOY + step
                self._write_fact(round_number, name, duration_ns, detail)
        for handle in deployment.vnfs:
            about = detail | {"name": handle.name, "accelerator": handle.accelerator.value} | _where(handle)
            for step, duration_ns in handle.steps:
                self._write_fact(round_number, ONBOARD + step.removeprefix(ONBOARD), duration_ns, about)

    def fail_cell(self, cell: str, reason: str) -> None:
        """Write that a cell failed; a resumed run may fix it."""
        self._settle(cell, Exclusion(Status.FAILED, reason))

    def finish(self, status: Status, reason: str) -> RunRecord:
        """Write that something ended the run, and its reason."""
        return self._finish(status, reason, {})

    def conclude(self, blocked: Mapping[str, str]) -> RunRecord:
        """Write that the run came to its end, and how its cells ended.

        Args:
            blocked: by cell, why it lacks repetitions; cells that were never deployed have no row to tell it.
        """
        lacking = {cell: (Status.BLOCKED, why) for cell, why in blocked.items() if cell in self._cells}
        if self._given_up:
            cell, error = next(iter(self._given_up.items()))
            return self._finish(Status.FAILED, f"{cell} was given up: {error}", lacking)
        failed = [result for result in self._results if result.status is Status.FAILED]
        if failed:
            return self._finish(Status.FAILED, f"{failed[0].test} of {failed[0].cell}: {failed[0].reason}", lacking)
        if blocked:
            return self._finish(Status.BLOCKED, next(iter(blocked.values())), lacking)
        # `ok` is final, so no cell gets it before the whole run has ended so: a resumed one may measure it again.
        return self._finish(Status.OK, "", dict.fromkeys(set(self._cells) - self.excluded, (Status.OK, "")))

    def _finish(self, status: Status, reason: str, cells: Mapping[str, tuple[Status, str]]) -> RunRecord:
        again = {
            cell: (Status.INTERRUPTED, MEASURED_AGAIN)
            for cell in self._measured_since
            if cell in self._cells and self._cells[cell].status is Status.FAILED
        }
        self._store.finish_run(self.run.id, status, reason, again | dict(cells))
        self.run = self._store.run(self.run.id)
        return self.run

    def _note(self, trial: TrialRecord) -> None:
        """Count a trial, so that nothing has to be counted again at each one of a long run."""
        self._next_sequence = max(self._next_sequence, trial.sequence + 1)
        if trial.status is not Status.OK:
            return
        self._ok.append(trial)
        if trial.preset not in OF_A_VISIT:
            return
        done = CompletedTrial(trial.round, trial.cell, trial.preset, trial.core_distance_ns)
        self._done.append(done)
        self._counts[done.key] += 1
        if self._counts[done.key] == (self._mrr_trials if trial.preset is Preset.MRR else 1):
            self._finished.append(done.key)

    def _record(self, cell: CellPlan, config_hash: str, rig_hash: str) -> CellRecord:
        return CellRecord(
            **cell.recorded,
            run=self.run.id,
            config_hash=config_hash,
            rig_hash=rig_hash,
            simulated=self.simulated,
        )

    def _add_cell(self, record: CellRecord) -> None:
        self._store.add_cell(record)
        self._cells[record.id] = record

    def _settle(self, cell: str, why: Exclusion) -> None:
        self._store.set_cell_status(self.run.id, cell, why.status, why.reason, why.lacks)
        self._measured_since.discard(cell)
        self._cells[cell] = self._cells[cell].model_copy(update=dataclasses.asdict(why))

    def _write_fact(self, round_number: int, step: str, duration_ns: int, detail: dict[str, Any]) -> None:
        self._store.add_fact(
            FactRecord(
                run=self.run.id, cell=None, round=round_number, step=step, duration_ns=duration_ns, detail=detail
            )
        )
