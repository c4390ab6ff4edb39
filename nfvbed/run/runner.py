"""The orchestrator: round by round until every cell has enough, whatever happens in between."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nfvbed.deploy.site import Site
from nfvbed.errors import (
    ConfigurationError,
    DeployError,
    InterruptedRunError,
    NfvbedError,
    NotComparableError,
    PrerequisiteError,
    StoreError,
    UnsupportedError,
    UsageError,
    VnfDiedError,
)
from nfvbed.plan.cells import CellPlan, DeploymentKey
from nfvbed.plan.estimate import Overheads, length_s, shortest
from nfvbed.plan.plan import Plan, PlannedTrial, expand, pending
from nfvbed.plan.standing import Standing, standing
from nfvbed.records import CellRole, Readiness, RunRecord, Status, Support
from nfvbed.run.bench import Bench, described
from nfvbed.run.ledger import RunLedger, begin
from nfvbed.run.observer import Observer
from nfvbed.run.pace import Pace
from nfvbed.run.stored import stored_study
from nfvbed.run.tools import Tools
from nfvbed.spec.rules import Study
from nfvbed.spec.variant import Variant
from nfvbed.store import Store

SiteFactory = Callable[[Study, int], Site]
"""Opens the site of a study; the number is of the trials that the run already has."""


class Runner:
    """Runs studies into a store.

    Args:
        store: open for writing.
        open_site: gives the site of a study.
        tools: what measures.
        observer: who hears of it.
    """

    def __init__(
        self, store: Store, open_site: SiteFactory, tools: Tools | None = None, observer: Observer | None = None
    ) -> None:
        self._store = store
        self._open_site = open_site
        self._tools = tools or Tools()
        self._observer = observer or Observer()
        self.failure: NfvbedError | None = None
        """What made the run that ended last give cells up while the others went on; None where nothing did."""

    def start(self, study: Study, doctor: Mapping[str, Any] | None = None) -> RunRecord:
        """Begin a run and execute it.

        Args:
            study: what is asked.
            doctor: the findings about this host, stored with the run.

        Returns:
            The run as it ended: `ok`; `blocked` where repetitions in one placement class are missing; `failed` where
            VNFs failed and only their cells were given up (`failure` then says which, and why).

        Raises:
            UnsupportedError: this host can run none of the variants.
            InterruptedRunError: the user interrupted.
            NfvbedError: what made the run fail; everything measured before is in the store.
        """
        site = self._open_site(study, 0)
        supports = [site.probe(variant) for variant in study.variants]
        runnable = tuple(s.variant for s in supports if s.readiness is not Readiness.UNSUPPORTED)
        hashes = {
            "host": self._store.put_blob("host", site.facts()),
            "doctor": self._store.put_blob("doctor", doctor) if doctor else "",
        }
        run = begin(self._store, study, runnable, hashes)
        execution = _Execution(study, runnable, RunLedger(self._store, run, study.simulated), self._tools)
        with self._ended(execution.ledger):
            execution.set_aside(supports, self._observer)
            execution.set_aside_without_vnf(site, self._observer)
            return self._execute(execution, site, resumed=False)

    def resume(self, run: RunRecord) -> RunRecord:
        """Let a run go on that was interrupted, failed, was blocked, or whose process ended.

        Nothing that ended well is measured again.

        Raises:
            UsageError: the run ended `ok`.
            NotComparableError: this is another host, or what is under test changed.
            NfvbedError: as `start`.
        """
        if run.status in (Status.OK, Status.UNSUPPORTED):
            raise UsageError(
                f"run {run.id} cannot be resumed",
                observed=f"it ended {run.status.value}",
                fix=f"begin a new one: nfvbed run {run.experiment}",
            )
        study, runnable = stored_study(self._store.get_blob(run.plan_hash))
        ledger = RunLedger(self._store, run, study.simulated)
        site = self._open_site(study, len(ledger.trials))
        host = self._store.put_blob("host", site.facts())
        if host != run.host_hash:
            raise NotComparableError(
                f"run {run.id} was measured on another host, or this one changed",
                observed=f"host hash {host[:12]}, then {run.host_hash[:12]}",
                fix=f"begin a new one: nfvbed run {run.experiment}",
            )
        self._store.reopen_run(run.id)
        with self._ended(ledger):
            return self._execute(_Execution(study, runnable, ledger, self._tools), site, resumed=True)

    def _execute(self, execution: "_Execution", site: Site, resumed: bool) -> RunRecord:
        ledger, observer = execution.ledger, self._observer
        bench = Bench(site, execution.plan, ledger, self._tools, observer)
        began = self._tools.clock()
        observer.run_started(ledger.run, resumed, execution.left_s)
        out_of_time = False
        served = True
        for number in range(1, execution.plan.experiment.repetitions.max_rounds + 1):
            if not execution.goes_on() or not served:
                break
            before = execution.standing(before_round=number)
            if before.enough:
                break
            trials = execution.due(number, before)
            if not trials:
                continue
            if self._tools.clock() - began >= execution.plan.experiment.repetitions.time_limit_s:
                out_of_time = True
                break
            served = False
            for key, group in execution.plan.by_deployment(trials):
                if execution.fits(key, group):
                    with execution.timed(key):
                        bench.serve(key, execution.variants[key.variant], group)
                    served = True
            after = execution.standing()
            execution.look_ahead(number, after)
            observer.round_ended(number, after, execution.left_s())
        return self._conclude(execution, out_of_time)

    def _conclude(self, execution: "_Execution", out_of_time: bool) -> RunRecord:
        lacking: dict[str, str] = {}
        if execution.goes_on():
            final = execution.standing()
            lacking = {cell: execution.blocked_reason(cell, final, out_of_time) for cell in final.missing}
        ended = execution.ledger.conclude(lacking)
        self.failure = failure_of(execution.ledger.given_up) or failure_of_tests(execution.ledger.failed_tests)
        self._observer.run_ended(ended)
        return ended

    @contextlib.contextmanager
    def _ended(self, ledger: RunLedger) -> Iterator[None]:
        """Write how the run ended when it did not end by itself."""
        try:
            yield
        except KeyboardInterrupt:
            self._finish(ledger, Status.INTERRUPTED, "interrupted by the user")
            raise InterruptedRunError(
                f"run {ledger.run.id} was interrupted",
                observed=f"{len(ledger.trials)} trials are kept, nothing stands any more",
                fix="go on with: nfvbed run --resume",
            ) from None
        except UnsupportedError as error:
            self._finish(ledger, Status.UNSUPPORTED, str(error))
            raise
        except NfvbedError as error:
            self._finish(ledger, Status.FAILED, str(error))
            raise
        except BaseException as error:
            self._finish(ledger, Status.FAILED, f"internal error: {error!r}")
            raise

    def _finish(self, ledger: RunLedger, status: Status, reason: str) -> None:
        # The disk may be what failed: then the run stays without an end, as after a crash, and can be resumed.
        with contextlib.suppress(StoreError):
            self._observer.run_ended(ledger.finish(status, reason))


class _Execution:
    """One run's study, plan and rows, and the questions about where it stands."""

    def __init__(self, study: Study, runnable: Sequence[str], ledger: RunLedger, tools: Tools) -> None:
        self.ledger = ledger
        self.variants: dict[str, Variant] = {variant.name: variant for variant in study.variants}
        runs = [self.variants[name] for name in runnable]
        self.plan: Plan = expand(study.experiment, runs, study.choices)
        self._study = study
        self._tools = tools
        self._pace = Pace(tools.clock)
        self._done_before = ledger.done_keys
        self._ahead: tuple[PlannedTrial, ...] = shortest(self.plan)
        """What is thought to be needed, some of it done by now."""
        self._over_budget: set[str] = set()
        """Cells of which something was not begun as it would not have fitted into the budget."""
        self._took_s: dict[str, float] = {}
        """The longest time that a deployment of each variant took with its trials."""

    def set_aside(self, supports: Sequence[Support], observer: Observer) -> None:
        """Write the cells that this host or the matrix does not have, with their reasons."""
        reasons = {s.variant: f"{s.reason} ({s.fix})" if s.fix else s.reason for s in supports}
        unsupported = {s.variant for s in supports if s.readiness is Readiness.UNSUPPORTED}
        without_ceilings = self._study.experiment.model_copy(update={"ceilings": False})
        whole = expand(without_ceilings, self._study.variants, self._study.choices)
        lost = [(cell, Status.NOT_APPLICABLE, reason) for cell, reason in whole.absent]
        lost += [(c, Status.SKIPPED, reason) for c, reason in whole.skipped if c.variant not in unsupported]
        lost += [(c, Status.UNSUPPORTED, reasons[c.variant]) for c, _ in whole.skipped if c.variant in unsupported]
        lost += [(c, Status.UNSUPPORTED, reasons[c.variant]) for c in whole.cells if c.variant in unsupported]
        for cell, status, reason in lost:
            self._leave_out(cell, status, reason, observer)

    def set_aside_without_vnf(self, site: Site, observer: Observer) -> None:
        """Write the cells whose VNF cannot be started as a file of it is not there; all others are measured."""
        missing: dict[DeploymentKey, str] = {}
        for cell in self.plan.cells:
            choice = self.plan.choice(cell.deployment)
            if choice is None:
                continue
            if cell.deployment not in missing:
                missing[cell.deployment] = site.missing(cell.topology, choice)
            if missing[cell.deployment]:
                self._leave_out(cell, Status.UNSUPPORTED, missing[cell.deployment], observer)

    def _leave_out(self, cell: CellPlan, status: Status, reason: str, observer: Observer) -> None:
        config = self.ledger.put_blob("variant", described(self.variants[cell.variant], cell, {}))
        self.ledger.set_cell_aside(cell, config, status, reason)
        observer.cell_set_aside(cell.id, reason)

    def goes_on(self) -> bool:
        """Whether there is something left to compare; not where VNFs that failed took the rest of it.

        Raises:
            UnsupportedError: no subject cell is left, and none ever could be measured.
        """
        if any(cell.role is CellRole.SUBJECT and cell.id not in self.ledger.set_aside for cell in self.plan.cells):
            return True
        if self.ledger.given_up:
            return False
        reasons = self.ledger.reasons_set_aside()
        raise UnsupportedError(
            f"nothing of experiment {self._study.experiment.name} can be measured here",
            where=f"site {self._study.site.name}",
            observed="; ".join(f"{cell}: {reason}" for cell, reason in reasons.items()),
            fix="nfvbed doctor says what each variant lacks",
        )

    def standing(self, before_round: int | None = None) -> Standing:
        """Find out where the run stands, or stood before a round."""
        done = [t for t in self.ledger.done if before_round is None or t.round < before_round]
        tests = [t for t in self.ledger.done_tests if before_round is None or t.round < before_round]
        return standing(self.plan, done, self._tools.classify, self.ledger.set_aside, tests)

    def due(self, number: int, before: Standing) -> tuple[PlannedTrial, ...]:
        """Give what is still to be measured in a round.

        Judged by what stood before the round, so that a resumed run measures what one without a stop would have.
        """
        return pending(self._wanted(number, before), self.ledger.done_keys)

    @contextlib.contextmanager
    def timed(self, key: DeploymentKey) -> Iterator[None]:
        """Remember how long a deployment takes with its trials: the next one of that variant may take as long."""
        began = self._tools.clock()
        yield
        self._took_s[key.variant] = max(self._tools.clock() - began, self._took_s.get(key.variant, 0.0))

    def fits(self, key: DeploymentKey, trials: Sequence[PlannedTrial]) -> bool:
        """Whether trials with their deployment end within the budget, at the pace so far; if not, remember that."""
        budget_s = self.plan.experiment.repetitions.budget_s
        takes_s = max(self._at_pace_s(trials), self._took_s.get(key.variant, 0.0))
        if budget_s is None or self._pace.elapsed_s + takes_s <= budget_s:
            return True
        self._over_budget |= {trial.cell for trial in trials}
        return False

    def _wanted(self, number: int, before: Standing) -> list[PlannedTrial]:
        """Give what a round is for: ceilings that are not complete, and of all subjects the tests that any lacks.

        With `only_lacking` subjects that have enough are left out.
        """
        skipped = self.ledger.set_aside | before.complete
        subjects = {cell.id for cell in self.plan.cells if cell.role is CellRole.SUBJECT}
        if self.plan.experiment.repetitions.only_lacking:
            skipped |= subjects - before.missing.keys()
        return [
            trial
            for trial in self.plan.round(number)
            if trial.cell not in skipped and (trial.cell not in subjects or trial.test in before.lacking)
        ]

    def blocked_reason(self, cell: str, final: Standing, out_of_time: bool) -> str:
        """Say what a cell lacks and why no more was measured."""
        repetitions = self.plan.experiment.repetitions
        if cell in self._over_budget:
            return (
                f"budget: {final.have[cell]} of {self.plan.needed(cell)} repetitions in class {final.placement}; more "
                f"would not have ended within {repetitions.budget_s:g} s"
            )
        by_placement = len(final.classes) > 1 or final.mixed > 0
        end = f"{repetitions.time_limit_s:g} s" if out_of_time else f"{repetitions.max_rounds} rounds"
        have = f"{final.have[cell]} of {self.plan.needed(cell)} repetitions in class {final.placement} after {end}"
        return f"{'placement' if by_placement else 'time limit'}: {have}"

    def look_ahead(self, number: int, after: Standing) -> None:
        """Find out after a round which rounds are still needed."""
        rounds = range(number + 1, number + 1 + max(after.missing.values(), default=0))
        self._ahead = tuple(trial for other in rounds for trial in self._wanted(other, after))

    def left_s(self) -> float:
        """Estimate how long the rest of the run takes, at its pace so far."""
        if self._study.simulated:
            return 0.0  # Virtual time passes at once.
        finished, aside = self.ledger.done_keys, self.ledger.set_aside
        left = pending([trial for trial in self._ahead if trial.cell not in aside], finished)
        left_s = self._at_pace_s(left)
        budget_s = self.plan.experiment.repetitions.budget_s
        return left_s if budget_s is None else min(left_s, max(budget_s - self._pace.elapsed_s, 0.0))

    def _at_pace_s(self, trials: Sequence[PlannedTrial]) -> float:
        """Estimate how long trials with their deployments take, at the run's pace so far."""
        finished = self.ledger.done_keys - self._done_before
        done = [trial for trial in self.plan.trials if trial.key in finished]
        planned_s, done_s = (length_s(self.plan, some, Overheads()) for some in (trials, done))
        return self._pace.left_s(planned_s, done_s)


def failure_of(given_up: Mapping[str, NfvbedError]) -> NfvbedError | None:
    """Put what happened to cells that were given up into one error; a VNF that died comes before one never onboarded.

    Args:
        given_up: cells with their errors, in the order in which they failed.
    """
    if not given_up:
        return None
    error = next((e for e in given_up.values() if isinstance(e, VnfDiedError)), next(iter(given_up.values())))
    # Exit statuses 10 and 12 say that a run could not begin; here all else was measured.
    kind = DeployError if isinstance(error, ConfigurationError | PrerequisiteError) else type(error)
    return kind(
        f"{len(given_up)} {'cell was' if len(given_up) == 1 else 'cells were'} given up; all others were measured",
        where=", ".join(given_up),
        observed=str(error),
        fix="nfvbed run --resume tries them again; nfvbed trace shows where frames get to",
    )


def failure_of_tests(failed: Mapping[tuple[int, str, str], NfvbedError]) -> NfvbedError | None:
    """Put what made tests fail while the others went on into one error; None where none did.

    Args:
        failed: (round, cell, label) with their errors, in the order in which they failed.
    """
    if not failed:
        return None
    error = next(iter(failed.values()))
    return type(error)(
        f"{len(failed)} {'test' if len(failed) == 1 else 'tests'} failed; all others were measured",
        where=", ".join(f"{test} of {cell} in round {number}" for number, cell, test in failed),
        observed=str(error),
        fix="begin a new run when the cause is mended; what was measured is kept",
    )
