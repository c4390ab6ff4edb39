"""What a run works with, so that a test can put something else in its place."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from nfvbed.compare.rows.placement import classify
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.plan.completeness import Classify
from nfvbed.records import Deployment, TrialRecord
from nfvbed.run.looks import Decide, decided
from nfvbed.sites.site import Site
from nfvbed.traffic.generator import Generator, TrafficRequest


class Measures(Protocol):
    """Measures trials on one deployment with one generator."""

    def warm_up(self, request: TrafficRequest) -> None:
        """Run traffic whose result is thrown away."""

    def measure(self, task: TrialTask) -> TrialRecord:
        """Run one trial."""


MeasureWith = Callable[[Site, Deployment, Generator], Measures]


@dataclass(frozen=True)
class Tools:
    """The measurement, the placement rule, the rule of looks and the clock."""

    measure_with: MeasureWith = Measurement
    classify: Classify = classify
    decide: Decide = decided
    clock: Callable[[], float] = time.monotonic
    """Seconds; for the time limit, the facts and the estimate."""
