"""How many trials that look whole are not: against simulated hosts."""

import numpy as np
import pytest

from nfvbed.compare.rows.changes import ChangesOfHost, Ends, find_changes

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
    assert find_changes([("single", "single")] * 5, [0.3] * 5) == (0.0, 0.0)
    assert find_changes([], []) == (0.0, 0.0)
    assert find_changes([None], [0.3]) == (0.0, 0.0)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("duration_s", [0.3, 1.0, 5.0])
def test_hidden_changes_of_some_trials_are_bounded(rate: float, duration_s: float):
    """The host is known from 200 trials of 0.3 s; what other trials of it hide, is mostly below the bound."""
    held, estimates, truths = 0, [], []
    for seed in range(40):
        host = ChangesOfHost(simulate((rate, rate), 0.3, seed)[0], [0.3] * TRIALS)
        ends, truth = simulate((rate, rate), duration_s, 1000 + seed)
        part = host.hidden_in([(first, duration_s) for first, last in ends if first == last])
        assert 0 <= part.estimated <= part.at_most <= 1
        held += truth <= part.at_most + 2 / TRIALS
        estimates.append(part.estimated)
        truths.append(truth)
    assert held >= 34
    assert np.mean(estimates) == pytest.approx(np.mean(truths), abs=0.08)


def test_of_a_host_with_one_class_nothing_is_hidden_and_of_a_quiet_one_with_two_little_may_be():
    assert ChangesOfHost([("single", "single")] * 5, [0.3] * 5).hidden_in([("single", 5.0)]) == (0.0, 0.0)
    quiet: list[Ends | None] = [("near", "near")] * 100 + [("far", "far")] * 100
    part = ChangesOfHost(quiet, [0.3] * 200).hidden_in([("near", 0.3)] * 10)
    assert part.estimated == 0
    assert 0 < part.at_most < 0.02
    assert ChangesOfHost(quiet, [0.3] * 200).hidden_in([("near", 60.0)]).at_most > part.at_most
