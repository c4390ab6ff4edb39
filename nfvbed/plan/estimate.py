"""How long a plan will take, before and while it runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from nfvbed.plan.cells import DeploymentKey
from nfvbed.plan.plan import Plan, PlannedTrial
from nfvbed.records import Preset
from nfvbed.spec.testkinds.loads import SearchTest
from nfvbed.spec.testkinds.scaling import FlowScalingTest
from nfvbed.spec.tests import expected_s

PRIOR_S = 20.0
"""Weight of an estimate beside the pace of a run: after so long what was seen counts as much as it."""


@dataclass(frozen=True)
class Overheads:
    """What is spent beside the traffic, in s; a run scales its estimates by the pace that it sees."""

    deployment_s: float = 2.5
    """Setting a data plane and the generator up and down again."""
    boot_s: float = 30.0
    """Starting the guests of a deployment; they boot side by side."""
    trial_s: float = 0.15
    """Draining, core distance and counters around one trial."""
    tracked_flow_s: float = 36e-6
    """Reading a flow's connections around one trial where they are tracked: three times its 1.2 s for 100,000 flows."""
    opened_flow_s: float = 78e-6
    """Opening a flow's connections, once a row of a flow-scaling test: 7.8 s for 100,000 flows."""


SIMULATED = Overheads(deployment_s=0.0, boot_s=0.0, trial_s=0.0, tracked_flow_s=0.0, opened_flow_s=0.0)


def length_s(plan: Plan, trials: Iterable[PlannedTrial], overheads: Overheads) -> float:
    """Estimate how long trials take with their deployments, in s."""
    listed = list(trials)
    setting_up = sum(deployment_s(plan, key, overheads) for key, _ in plan.by_deployment(listed))
    return setting_up + sum(unit_s(plan, trial, overheads) for trial in listed)


def deployment_s(plan: Plan, key: DeploymentKey, overheads: Overheads) -> float:
    """Estimate how long it takes to set a deployment up and to take it down, in s."""
    return overheads.deployment_s + (overheads.boot_s if plan.boots(key) else 0.0)


def unit_s(plan: Plan, unit: PlannedTrial, overheads: Overheads) -> float:
    """Estimate how long a unit takes on its deployment, in s."""
    seconds, trials = _expected(plan, unit)
    return seconds + trials * overheads.trial_s + _sessions_s(plan, unit, overheads)


def _sessions_s(plan: Plan, unit: PlannedTrial, overheads: Overheads) -> float:
    """Estimate how long connections that are tracked take to be opened and read, in s."""
    test = plan.experiment.labelled_tests.get(unit.test)
    if not isinstance(test, FlowScalingTest) or plan.cell_by_id[unit.cell].variant not in plan.tracking:
        return 0.0
    return sum(test.counts) * (overheads.opened_flow_s + test.trials * overheads.tracked_flow_s)


def expected_trials(plan: Plan, unit: PlannedTrial) -> int:
    """Return how many trials a unit is expected to take; at least one."""
    return max(1, _expected(plan, unit)[1])


def _expected(plan: Plan, unit: PlannedTrial) -> tuple[float, int]:
    """Return the seconds of traffic of a unit, and its trials."""
    spec = plan.experiment.trials
    if unit.preset is Preset.MRR:
        return spec.warmup_s + spec.mrr_trials * spec.mrr_duration_s, spec.mrr_trials
    if unit.is_trial:
        return spec.paced_duration_s, 1
    test = plan.experiment.labelled_tests[unit.test]
    return expected_s(test, plan.experiment.search_of(test) if isinstance(test, SearchTest) else None)


def shortest(plan: Plan) -> tuple[PlannedTrial, ...]:
    """Return the trials of a run that needs no more rounds than asked: ceilings and tests only as often as needed."""
    rounds = range(1, plan.rounds[0] + 1)
    return tuple(
        trial for number in rounds for trial in plan.round(number) if number <= plan.expected(trial.cell, trial.test)
    )
