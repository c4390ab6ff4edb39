"""The orchestrator: round by round until enough is known, whatever happens in between."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nfvbed.dataplanes.catalogue import VariantModel
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
from nfvbed.plan.plan import PlannedTrial
from nfvbed.plan.stored import stored_study
from nfvbed.records import Readiness, RunRecord, Status, Support
from nfvbed.run.execution import Execution
from nfvbed.run.ledger import RunLedger, begin
from nfvbed.run.observer import Observer
from nfvbed.run.tools import Tools
from nfvbed.run.visits import DeploymentRunner
from nfvbed.sites.site import Site
from nfvbed.spec.rules import Study
from nfvbed.store import Store

SiteFactory = Callable[[Study, int], Site]
"""Opens the site of a study; the number is of the trials that the run already has."""


class Runner:
    """Runs studies into a store."""

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
            doctor: the findings about this host, stored with the run.

        Returns:
            The run as it ended: `ok`, also where verdicts are undecided; `blocked` where rounds or repetitions are
            missing; `failed` where VNFs failed and only their cells were given up. `failure` then says which, and why.

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
            "doctor": self._store.put_blob("doctor", _with_own(doctor, supports)) if doctor else "",
        }
        run = begin(self._store, study, runnable, hashes)
        execution = Execution(study, runnable, RunLedger(self._store, run, study), self._tools)
        with self._ended(execution.ledger):
            execution.exclude(supports, self._observer)
            execution.exclude_impossible(site, self._observer)
            return self._execute(execution, site, resumed=False)

    def resume(self, run: RunRecord) -> RunRecord:
        """Continue a run that was interrupted, failed, was blocked, or whose process ended.

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
        study, runnable = stored_study(self._store.get_blob(run.plan_hash), VariantModel)
        ledger = RunLedger(self._store, run, study)
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
            return self._execute(Execution(study, runnable, ledger, self._tools), site, resumed=True)

    def _execute(self, execution: Execution, site: Site, resumed: bool) -> RunRecord:
        ledger, observer, plan = execution.ledger, self._observer, execution.plan
        visitor = DeploymentRunner(site, plan, ledger, self._tools, observer)
        began = self._tools.clock()
        observer.run_started(ledger.run, resumed, execution.left_s)
        out_of_time = False
        for number in range(1, plan.experiment.repetitions.max_rounds + 1):
            if not execution.goes_on():
                break
            before = execution.before(number)
            if execution.is_enough(before):
                break
            trials = execution.due(number, before)
            if not trials:
                continue
            if self._tools.clock() - began >= plan.experiment.repetitions.time_limit_s:
                out_of_time = True
                break
            site.begin_round(number)
            if not self._round(visitor, execution, trials):
                break
            observer.round_ended(execution.after(number))
        return self._conclude(execution, out_of_time)

    def _round(self, visitor: DeploymentRunner, execution: Execution, trials: Sequence[PlannedTrial]) -> bool:
        """Measure what fits of a round, and return whether anything did."""
        served = False
        for path in execution.paths(trials):
            for key, group in path if execution.fits(path) else ():
                with execution.timed(key):
                    visitor.serve(key, execution.variants[key.variant], group)
                served = True
        return served

    def _conclude(self, execution: Execution, out_of_time: bool) -> RunRecord:
        lacking = execution.blocked(out_of_time) if execution.goes_on() else {}
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
                observed=f"{len(ledger.trials)} trials are kept, nothing is deployed any more",
                fix=f"go on with: nfvbed run --resume {ledger.run.id}",
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


def failure_of(given_up: Mapping[str, NfvbedError]) -> NfvbedError | None:
    """Return one error for what happened to cells that were given up; a VNF that died comes before one never onboarded.

    Args:
        given_up: errors by cell, in the order in which they failed.
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
        fix="; ".join(filter(None, ("nfvbed run --resume tries them again", error.fix))),
    )


def failure_of_tests(failed: Mapping[tuple[int, str, str], NfvbedError]) -> NfvbedError | None:
    """Return one error for the tests that failed while others went on; None where none failed.

    Args:
        failed: errors by (round, cell, label), in the order in which they failed.
    """
    if not failed:
        return None
    error = next(iter(failed.values()))
    return type(error)(
        f"{len(failed)} {'test' if len(failed) == 1 else 'tests'} failed; all others were measured",
        where=", ".join(f"{test} of {cell} in round {number}" for number, cell, test in failed),
        observed=str(error),
        fix="begin a new run when the cause is fixed; what was measured is kept",
    )


def _with_own(doctor: Mapping[str, Any], supports: Sequence[Support]) -> dict[str, Any]:
    """Return the doctor's report with the run's variants that it does not list: an experiment alters some."""
    listed = list(doctor.get("variants", ()))
    known = {entry["variant"] for entry in listed}
    own = [support.model_dump(mode="json") for support in supports if support.variant not in known]
    return {**doctor, "variants": [*listed, *own]}
