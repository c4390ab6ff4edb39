"""A throughput search as a test."""

from math import log2
from typing import Literal, Self

from pydantic import model_validator

from nfvbed.spec.search import Search, SearchSpec
from nfvbed.spec.testkinds.base import NamedTest

EXPECTED_FINAL_LOADS = 2.5
"""Loads that a search classifies with its whole duration sum, as an estimate: two bounds, and a doubtful one."""
EXPECTED_COARSE_STEP = 1.5
"""Trials for each halving of the range of loads, as an estimate."""
RANGE = 100
"""Largest over smallest load worth trying, for that estimate."""


class SearchTest(NamedTest, SearchSpec):
    """A throughput search: NDR and PDR together, or other goals (RFC 2544 section 26.1, RFC 9971)."""

    kind: Literal["search"]

    @model_validator(mode="after")
    def its_quick_form_is_possible(self) -> Self:
        self.resolved(quick=True)
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials, of its ordinary form."""
        return expected_search(self.resolved())


def expected_search(search: Search) -> tuple[float, int]:
    """Estimate the seconds of traffic of a search as it is run, and its trials."""
    seconds, trials = search.warmup_s, 1.0
    for goal in search.goals:
        steps = EXPECTED_COARSE_STEP * (log2(RANGE) + log2(1 / goal.relative_width)) / 2
        seconds += EXPECTED_FINAL_LOADS * goal.duration_sum_s + steps * goal.initial_trial_duration_s
        trials += EXPECTED_FINAL_LOADS * goal.duration_sum_s / goal.final_trial_duration_s + steps
    return min(seconds, search.time_limit_s), round(trials)
