"""The time left follows the pace that a run shows, and the plan where it has shown none."""

import pytest

from nfvbed.plan.estimate import PRIOR_S
from nfvbed.run.runclock import RunClock


def test_the_plan_counts_first_and_the_pace_more_and_more():
    now = [0.0]
    pace = RunClock(lambda: now[0])
    assert pace.left_s(300, 0) == 300
    now[0] = 2 * PRIOR_S
    assert pace.left_s(300, PRIOR_S) == pytest.approx(300 * 1.5)
    now[0] = 2000
    assert pace.left_s(300, 1000) == pytest.approx(600, rel=0.02)
