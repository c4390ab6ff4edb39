"""A run's forecast: the planned times of what is ahead, summed as trials end and scaled by the run's pace."""

from collections.abc import Callable, Collection, Iterable, Sequence

from nfvbed.plan.cells import DeploymentKey
from nfvbed.plan.estimate import Overheads, deployment_s, length_s, unit_s
from nfvbed.plan.plan import Plan, PlannedTrial, TrialKey
from nfvbed.run.runclock import RunClock

Deployed = tuple[int, DeploymentKey]
"""A deployment in a round."""
OVERHEADS = Overheads()


class Forecast:
    """Keeps sums as units end, so that a long run need not add all of them up at each trial.

    Args:
        clock: seconds; only differences count.
    """

    def __init__(self, plan: Plan, clock: Callable[[], float]) -> None:
        self._plan = plan
        self._pace = RunClock(clock)
        self._units: dict[TrialKey, PlannedTrial] = {}
        self._deployments: dict[Deployed, float] = {}
        self._ahead_s = 0.0
        self._done_s = 0.0
        self._deployed: set[Deployed] = set()
        self._took_s: dict[str, float] = {}

    @property
    def elapsed_s(self) -> float:
        """Since the run began or went on."""
        return self._pace.elapsed_s

    def expect(self, units: Iterable[PlannedTrial]) -> None:
        """Say what is thought to be ahead, none of it done."""
        self._units = {unit.key: unit for unit in units}
        grouped = self._plan.by_deployment(self._units.values())
        self._deployments = {(group[0].round, key): self._setting_up_s(key) for key, group in grouped}
        self._ahead_s = sum(self._deployments.values()) + sum(self._unit_s(unit) for unit in self._units.values())

    def ended(self, unit: PlannedTrial) -> None:
        """Take a unit that was measured off what is ahead, and its deployment with the first of them."""
        deployment = unit.round, self._plan.cell_by_id[unit.cell].deployment
        if deployment not in self._deployed:
            self._deployed.add(deployment)
            self._done_s += self._setting_up_s(deployment[1])
            self._ahead_s -= self._deployments.pop(deployment, 0.0)
        self._done_s += self._unit_s(unit)
        if self._units.pop(unit.key, None) is not None:
            self._ahead_s -= self._unit_s(unit)

    def leave_out(self, cells: Collection[str]) -> None:
        """Take what is not measured off what is ahead."""
        self.expect([unit for unit in self._units.values() if unit.cell not in cells])

    def took(self, variant: str, seconds: float) -> None:
        """Remember how long a deployment took with its trials: the next one of that variant may take as long."""
        self._took_s[variant] = max(seconds, self._took_s.get(variant, 0.0))

    def takes_s(self, key: DeploymentKey, units: Sequence[PlannedTrial]) -> float:
        """Estimate how long trials take with their deployment, in s."""
        planned_s = length_s(self._plan, units, OVERHEADS)
        return max(self._pace.left_s(planned_s, self._done_s), self._took_s.get(key.variant, 0.0))

    def left_s(self) -> float:
        """Estimate how long all that is ahead takes, in s."""
        return self._pace.left_s(max(self._ahead_s, 0.0), self._done_s)

    def _unit_s(self, unit: PlannedTrial) -> float:
        return unit_s(self._plan, unit, OVERHEADS)

    def _setting_up_s(self, key: DeploymentKey) -> float:
        return deployment_s(self._plan, key, OVERHEADS)
