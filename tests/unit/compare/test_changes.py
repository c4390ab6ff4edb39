"""How many trials that look whole are not: against simulated hosts."""

import numpy as np
import pytest

from nfvbed.compare.changes import Ends, find_changes

TRIALS = 200


def simulate(rates: tuple[float, float], duration_s: float, seed: int) -> tuple[list[Ends], float]:
    """Return the ends of trials of a host that leaves near and far at these rates, and the part that hid a change."""
    rng = np.random.default_rng(seed)
    ends, whole, hidden = [], 0, 0
    for _ in range(TRIALS):
        state = first = int(rng.random() < rates[0] / sum(rates))
        left_s, changes = duration_s, 0
        while (stay_s := rng.exponential(1 / rates[state])) < left_s:
            state, left_s, changes = 1 - state, left_s - stay_s, changes + 1
        ends.append((("near", "far")[first], ("near", "far")[state]))
        whole += first == state
        hidden += first == state and changes > 0
    return ends, hidden / whole


@pytest.mark.parametrize(("rates", "tolerance"), [((0.1, 0.1), 0.002), ((0.5, 0.5), 0.01), ((1.5, 1.5), 0.05)])
def test_hidden_changes_are_estimated(rates: tuple[float, float], tolerance: float):
    found = [(find_changes(ends, [0.3] * TRIALS), true) for ends, true in (simulate(rates, 0.3, s) for s in range(20))]
    assert np.mean([fit.hidden for fit, _ in found]) == pytest.approx(
        np.mean([true for _, true in found]), abs=tolerance
    )
    assert np.mean([fit.per_s for fit, _ in found]) == pytest.approx(2 * rates[0] * rates[1] / sum(rates), rel=0.15)


def test_a_rare_state_is_left_faster_than_entered():
    found = [find_changes(simulate((0.05, 1.0), 0.3, seed)[0], [0.3] * TRIALS) for seed in range(20)]
    # One rate for both ways would take the visits of the rare state for changes at its own speed: 0.5 a second.
    assert np.mean([fit.per_s for fit in found]) == pytest.approx(0.095, rel=0.4)


def test_durations_may_differ_and_what_was_not_measured_is_passed_over():
    ends: list[Ends | None] = [
        ("near", "near"),
        ("near", "far"),
        ("far", "far"),
        None,
        ("far", "near"),
        ("near", "near"),
    ]
    assert 0 < find_changes(ends, [0.3, 1.0, 0.3, 1.0, 2.0, 0.3]).hidden < 1


def test_a_quiet_host_hides_nothing():
    assert find_changes([("only", "only")] * 5, [0.3] * 5) == (0.0, 0.0)
    assert find_changes([], []) == (0.0, 0.0)
    assert find_changes([None], [0.3]) == (0.0, 0.0)
