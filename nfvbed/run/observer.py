"""What a run tells while it runs; the command line shows it, tests collect it."""

from collections.abc import Callable
from dataclasses import dataclass

from nfvbed.plan.cells import DeploymentKey
from nfvbed.plan.completeness import Completeness
from nfvbed.plan.plan import PlannedTrial
from nfvbed.records import RunRecord, TrialRecord
from nfvbed.records.results import ResultRecord

TimeLeft = Callable[[], float]
"""Estimates how long the rest of a run takes, in s; 0 where its time is virtual. Call it between trials."""


@dataclass(frozen=True)
class RoundEnd:
    """How far a run is after a round."""

    number: int
    of: tuple[int, int]
    """Rounds that the run has at least and at most."""
    completeness: Completeness
    points: int
    """Traffic points at which variants are compared."""
    decided: int
    """Those of them that are decided."""
    ends: bool
    """Nothing is measured any more."""
    left_s: float
    """About so long takes the rest, as far as it is known; 0 where time is virtual."""


class Observer:
    """Hears what happens. This one says nothing; every method may be overridden."""

    def run_started(self, run: RunRecord, resumed: bool, left_s: TimeLeft) -> None:
        """A run begins or goes on; `left_s` estimates at any time how long what is left takes, in s."""

    def cell_excluded(self, cell: str, reason: str) -> None:
        """A cell cannot be measured here."""

    def deployment_started(self, key: DeploymentKey, round_number: int) -> None:
        """A data plane is being set up."""

    def trial_started(self, trial: PlannedTrial, duration_s: float) -> None:
        """A trial (after its warm-up), or a whole test, is about to run; a test's length is an estimate."""

    def trial_ended(self, record: TrialRecord) -> None:
        """A trial is in the store."""

    def test_ended(self, result: ResultRecord) -> None:
        """The result of a test that is more than a trial is in the store."""

    def deployment_ended(self, key: DeploymentKey) -> None:
        """A data plane was taken down."""

    def round_ended(self, end: RoundEnd) -> None:
        """A round is complete."""

    def run_ended(self, run: RunRecord) -> None:
        """The run's end is in the store."""
