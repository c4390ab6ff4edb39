"""One run's study, plan and rows, and the questions about where it is deployed."""

import contextlib
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from nfvbed.errors import UnsupportedError
from nfvbed.plan.cells import CellPlan, DeploymentKey
from nfvbed.plan.completeness import Completeness, MissingTrials, completeness
from nfvbed.plan.estimate import shortest
from nfvbed.plan.plan import Plan, PlannedTrial, expand, pending
from nfvbed.records import CellRole, MissingPrerequisite, Readiness, Status, Support
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.run.forecast import Forecast
from nfvbed.run.ledger import Exclusion, RunLedger
from nfvbed.run.looks import Look
from nfvbed.run.observer import Observer, RoundEnd
from nfvbed.run.tools import Tools
from nfvbed.run.visits import described
from nfvbed.sites.site import Site
from nfvbed.spec.rules import Study
from nfvbed.spec.testkinds.base import MRR
from nfvbed.spec.variant import Variant

Group = tuple[DeploymentKey, tuple[PlannedTrial, ...]]
"""A deployment with its trials."""


class Execution:
    """One run: its study, its plan, its rows.

    Args:
        runnable: names of variants.
    """

    def __init__(self, study: Study, runnable: Sequence[str], ledger: RunLedger, tools: Tools) -> None:
        self.ledger = ledger
        self.variants: dict[str, Variant] = {variant.name: variant for variant in study.variants}
        runs = [self.variants[name] for name in runnable]
        self.plan: Plan = expand(study.experiment, runs, study.choices)
        self._study = study
        self._tools = tools
        self._forecast = Forecast(self.plan, tools.clock)
        self._forecast.expect(pending(shortest(self.plan), ledger.done_keys))
        self._seen = len(ledger.done_keys)
        """Units that had ended when the forecast was reported last."""
        self._excluded = 0
        self._decided: frozenset[TrafficPoint] = frozenset()
        """Traffic points of which no more is measured by the MRR."""
        self._over_budget: set[str] = set()
        """Cells of which something was not begun as it would not have fitted into the budget."""

    def exclude(self, supports: Sequence[Support], observer: Observer) -> None:
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
            self._leave_out(cell, Exclusion(status, reason), observer)

    def exclude_impossible(self, site: Site, observer: Observer) -> None:
        """Write the cells that the site can never have, or whose VNF lacks a file; all others are measured."""
        known: dict[DeploymentKey, Exclusion | None] = {}
        for cell in self.plan.cells:
            if cell.deployment not in known:
                known[cell.deployment] = self._why_not(site, cell.deployment)
            why = known[cell.deployment]
            if why is not None:
                self._leave_out(cell, why, observer)

    def _why_not(self, site: Site, key: DeploymentKey) -> Exclusion | None:
        choice = self.plan.choice(key)
        try:
            site.require_possible(self.variants[key.variant], key.topology, choice, key.role)
        except UnsupportedError as failure:
            return Exclusion(Status.UNSUPPORTED, str(failure), MissingPrerequisite.VNF if failure.of_vnf else None)
        missing = "" if choice is None else site.missing(key.topology, choice)
        return Exclusion(Status.UNSUPPORTED, missing, MissingPrerequisite.VNF) if missing else None

    def _leave_out(self, cell: CellPlan, why: Exclusion, observer: Observer) -> None:
        config = self.ledger.put_blob("variant", described(self.variants[cell.variant].carrying(cell.mtu), cell, {}))
        self.ledger.exclude_cell(cell, config, why)
        observer.cell_excluded(cell.id, why.reason)

    def goes_on(self) -> bool:
        """Return whether something is left to compare; False where VNFs that failed took the rest of it.

        Raises:
            UnsupportedError: no subject cell is left, and none ever could be measured.
        """
        if any(cell.role is CellRole.SUBJECT and cell.id not in self.ledger.excluded for cell in self.plan.cells):
            return True
        if self.ledger.given_up:
            return False
        reasons = self.ledger.reasons_excluded()
        raise UnsupportedError(
            f"nothing of experiment {self._study.experiment.name} can be measured here",
            where=f"site {self._study.site.name}",
            observed="; ".join(f"{cell}: {reason}" for cell, reason in reasons.items()),
            fix="nfvbed doctor says what each variant lacks",
        )

    def before(self, number: int) -> Completeness:
        """Find out how far the run was before a round, and which traffic points were decided then.

        A resumed run asks it of all rounds again, and so stops the same points after the same rounds.
        """
        found = self._completeness(number)
        if number > self.plan.experiment.repetitions.looks[0] and self._undecided(found):
            trials = [trial for trial in self.ledger.trials if trial.round < number]
            points = {point: self._left_at(point) for point in self._undecided(found)}
            self._decided |= frozenset(self._tools.decide(Look(self._study.experiment, points, trials)))
        return found

    def is_enough(self, before: Completeness) -> bool:
        """Return whether all that is asked for is there, and every comparison is decided or had its last look."""
        return before.enough and not self._open(before)

    def due(self, number: int, before: Completeness) -> tuple[PlannedTrial, ...]:
        """Return what is still to be measured in a round.

        Judged by what was known before the round, so that a resumed run measures what one without a stop would have.
        """
        return pending(self._wanted(number, before), self.ledger.done_keys)

    def after(self, number: int) -> RoundEnd:
        """Find out after a round how far the run is, and which rounds are still needed."""
        found = self.before(number + 1)
        looks = [look for point in self._open(found) for look in self.plan.looks(point) if look > number]
        more = max(found.rounds_missing, min(looks, default=number) - number)
        rounds = range(number + 1, number + 1 + more)
        ahead = [trial for other in rounds for trial in self._wanted(other, found)]
        self._forecast.expect(pending(ahead, self.ledger.done_keys))
        return RoundEnd(
            number=number,
            of=self.plan.rounds,
            completeness=found,
            points=len(found.pairs),
            decided=len(self._decided & found.pairs.keys()),
            ends=self.is_enough(found),
            left_s=self.left_s(),
        )

    def paths(self, trials: Sequence[PlannedTrial]) -> list[list[Group]]:
        """Group a round's trials: the deployments that are compared at one path stay together, any other is alone.

        Half of a comparison is worth nothing, so a budget has room for all of it or for none.
        """

        def path(group: Group) -> object:
            key, units = group
            together = any(self.plan.is_compared(unit.cell) for unit in units)
            return (key.topology, key.vnf) if together else key

        return [list(groups) for _, groups in groupby(self.plan.by_deployment(trials), key=path)]

    @contextlib.contextmanager
    def timed(self, key: DeploymentKey) -> Iterator[None]:
        """Remember how long a deployment takes with its trials."""
        began = self._tools.clock()
        yield
        self._forecast.took(key.variant, self._tools.clock() - began)

    def fits(self, path: Sequence[Group]) -> bool:
        """Return whether trials with their deployments end within the budget, at the pace so far; if not, note that.

        A comparison's rounds up to its first look always fit: with fewer there is no verdict, and all was in vain.
        """
        repetitions = self.plan.experiment.repetitions
        budget_s = repetitions.budget_s
        self._catch_up()
        if budget_s is None or any(self._leads_to_a_look(trial) for _, trials in path for trial in trials):
            return True
        takes_s = sum(self._forecast.takes_s(key, trials) for key, trials in path)
        if self._forecast.elapsed_s + takes_s <= budget_s:
            return True
        self._over_budget |= {trial.cell for _, trials in path for trial in trials}
        return False

    def _leads_to_a_look(self, trial: PlannedTrial) -> bool:
        return trial.round <= self.plan.experiment.repetitions.looks[0] and self.plan.is_compared(trial.cell)

    def blocked(self, out_of_time: bool) -> dict[str, str]:
        """Return for each cell that lacks something what that is, and why no more was measured.

        Args:
            out_of_time: whether no new round was begun because of the time limit.
        """
        final = self._completeness()
        return {cell: self._reason(cell, lack, out_of_time) for cell, lack in final.missing.items()}

    def left_s(self) -> float:
        """Estimate how long the rest of the run takes, at its pace so far."""
        if self._study.simulated:
            return 0.0  # Virtual time passes at once.
        self._catch_up()
        left_s = self._forecast.left_s()
        budget_s = self.plan.experiment.repetitions.budget_s
        return left_s if budget_s is None else min(left_s, max(budget_s - self._forecast.elapsed_s, 0.0))

    def _completeness(self, before_round: int | None = None) -> Completeness:
        done = [t for t in self.ledger.done if before_round is None or t.round < before_round]
        tests = [t for t in self.ledger.done_tests if before_round is None or t.round < before_round]
        return completeness(self.plan, done, self._tools.classify, self.ledger.excluded, tests)

    def _left_at(self, point: TrafficPoint) -> tuple[CellPlan, ...]:
        excluded = self.ledger.excluded
        return tuple(self.plan.cell_by_id[cell] for cell in self.plan.compared[point] if cell not in excluded)

    def _undecided(self, found: Completeness) -> Collection[TrafficPoint]:
        return found.pairs.keys() - self._decided

    def _open(self, found: Completeness) -> frozenset[TrafficPoint]:
        """Return the traffic points that are looked at again."""
        last = self.plan.experiment.repetitions.looks[-1]
        return frozenset(point for point in self._undecided(found) if found.pairs[point] < last)

    def _wanted(self, number: int, before: Completeness) -> list[PlannedTrial]:
        """Return what a round is for: ceilings that are not complete, and of all subjects the tests that any lacks.

        Where variants are compared it visits all of them at each traffic point that is not decided. With `only_lacking`
        subjects that have enough are left out elsewhere.
        """
        excluded = self.ledger.excluded | before.complete
        points = self._open(before)
        only_lacking = self.plan.experiment.repetitions.only_lacking

        def is_wanted(trial: PlannedTrial) -> bool:
            cell = self.plan.cell_by_id[trial.cell]
            if trial.cell in excluded:
                return False
            if cell.role is not CellRole.SUBJECT:
                return True
            if trial.test == MRR and cell.point in before.pairs:
                return cell.point in points
            return trial.test in before.lacking and (not only_lacking or trial.cell in before.missing)

        return [trial for trial in self.plan.round(number) if is_wanted(trial)]

    def _reason(self, cell: str, lack: MissingTrials, out_of_time: bool) -> str:
        repetitions = self.plan.experiment.repetitions
        if cell in self._over_budget:
            return f"budget: {lack.text}; more would not have ended within {repetitions.budget_s:g} s"
        end = f"{repetitions.time_limit_s:g} s" if out_of_time else f"{repetitions.max_rounds} rounds"
        kind = "placement" if lack.of_class else "time limit" if out_of_time else "rounds"
        return f"{kind}: {lack.text} after {end}"

    def _catch_up(self) -> None:
        """Take what ended since the last time off what is ahead."""
        for key in self.ledger.finished_since(self._seen):
            self._seen += 1
            if key in self.plan.trial_by_key:
                self._forecast.ended(self.plan.trial_by_key[key])
        excluded = len(self.ledger.excluded)
        if excluded != self._excluded:
            self._excluded = excluded
            self._forecast.leave_out(self.ledger.excluded)
