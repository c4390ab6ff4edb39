"""How long a plan will take, before and while it runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from nfvbed.plan.plan import Plan, PlannedTrial
from nfvbed.records import Preset
from nfvbed.spec.testkinds.search import SearchTest
from nfvbed.spec.tests import expected_s


@dataclass(frozen=True)
class Overheads:
    """What is spent beside the traffic, in s; a run scales its estimates by the pace that it sees."""

    deployment_s: float = 4.0
    """Setting a data plane and the generator up and down again."""
    boot_s: float = 30.0
    """Starting the guests of a deployment; they boot side by side."""
    trial_s: float = 0.25
    """Draining, core distance and counters around one trial."""


SIMULATED = Overheads(deployment_s=0.0, boot_s=0.0, trial_s=0.0)


def traffic_s(plan: Plan, trials: Iterable[PlannedTrial]) -> float:
    """Give the time in which frames are sent, warm-ups included, in s; of searches it is an estimate."""
    return sum(_expected(plan, trial)[0] for trial in trials)


def length_s(plan: Plan, trials: Iterable[PlannedTrial], overheads: Overheads) -> float:
    """Estimate how long trials take with their deployments, in s."""
    listed = list(trials)
    deployments = [key for key, _ in plan.by_deployment(listed)]
    boots = sum(plan.boots(key) for key in deployments)
    setting_up = len(deployments) * overheads.deployment_s + boots * overheads.boot_s
    number = sum(_expected(plan, trial)[1] for trial in listed)
    return traffic_s(plan, listed) + setting_up + number * overheads.trial_s


def _expected(plan: Plan, unit: PlannedTrial) -> tuple[float, int]:
    """Give the seconds of traffic of a unit, and its trials."""
    spec = plan.experiment.trials
    durations = {Preset.MRR: spec.warmup_s + spec.mrr_duration_s, Preset.PACED: spec.paced_duration_s}
    if unit.preset in durations:
        return durations[unit.preset], 1
    test = plan.experiment.labelled_tests[unit.test]
    return expected_s(test, plan.experiment.search_of(test) if isinstance(test, SearchTest) else None)


def shortest(plan: Plan) -> tuple[PlannedTrial, ...]:
    """Give the trials of a run that needs no round more than asked: every ceiling only as often as needed."""
    rounds = range(1, plan.experiment.repetitions.needed + 1)
    return tuple(trial for number in rounds for trial in plan.round(number) if trial.round <= plan.needed(trial.cell))
