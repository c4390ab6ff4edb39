"""The placement rule against simulated hosts."""

import numpy as np
import pytest

from nfvbed.compare.placement import FAR, MIXED, NEAR, ONLY, analyse, classify
from nfvbed.records import CoreDistance

Pairs = list[CoreDistance | None]


def pairs(values: np.ndarray) -> Pairs:
    return [CoreDistance(before=float(a), after=float(b)) for a, b in values]


def test_nothing_measured_is_one_class():
    assert classify([None, None]) == [ONLY, ONLY]
    assert classify([]) == []


def test_two_modes_of_the_host_it_was_found_on():
    near = [CoreDistance(before=25, after=31), CoreDistance(before=44, after=39)]
    far = [CoreDistance(before=141, after=174)]
    change = [CoreDistance(before=33, after=150)]
    assert classify([*near, *far, *change, None]) == [NEAR, NEAR, FAR, MIXED, ONLY]


@pytest.mark.parametrize("scale", [0.2, 1.0, 20.0])
def test_the_rule_knows_no_fixed_threshold(scale: float):
    found = analyse(
        [CoreDistance(before=30 * scale, after=32 * scale), CoreDistance(before=150 * scale, after=155 * scale)]
    )
    assert found.labels == (NEAR, FAR)
    assert found.boundary_ns is not None and 32 * scale < found.boundary_ns < 150 * scale


@pytest.mark.parametrize("near_share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("trials", [20, 100])
def test_simulated_hosts_with_two_states_are_split_without_error(near_share: float, trials: int):
    rng = np.random.default_rng(7)
    for _ in range(50):
        is_near = rng.random(trials) < near_share
        is_near[:2] = [True, False]
        low, high = rng.uniform(25, 45, (trials, 2)), rng.uniform(140, 175, (trials, 2))
        labels = classify(pairs(np.where(is_near[:, None], low, high)))
        assert labels == [NEAR if state else FAR for state in is_near]


@pytest.mark.parametrize("spread", [0.03, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("trials", [2, 3, 5, 10, 60])
def test_a_noisy_single_mode_is_not_split(spread: float, trials: int):
    rng = np.random.default_rng(11)
    hosts = 300
    split = sum(
        analyse(pairs(60 * np.exp(rng.normal(0, spread, (trials, 2))))).boundary_ns is not None for _ in range(hosts)
    )
    assert split <= (0.03 if spread >= 0.3 else 0.005) * hosts


def test_a_uniform_single_mode_is_not_split():
    rng = np.random.default_rng(13)
    assert all(analyse(pairs(rng.uniform(25, 45, (12, 2)))).boundary_ns is None for _ in range(300))


def test_an_interrupted_ping_pong_makes_no_class():
    rng = np.random.default_rng(17)
    values = rng.uniform(25, 45, (30, 2))
    values[3, 0], values[9, 1], values[20, 1] = 5_000, 210, 90
    labels = classify(pairs(values))
    assert [index for index, label in enumerate(labels) if label != ONLY] == [3, 9, 20]
    assert {labels[3], labels[9], labels[20]} == {MIXED}


def test_strays_do_not_hide_two_classes():
    rng = np.random.default_rng(19)
    for _ in range(100):
        values = np.concatenate([rng.uniform(25, 45, (15, 2)), rng.uniform(140, 175, (15, 2))])
        values[2, 0], values[8, 1], values[22, 0] = 70, 100, 900_000
        labels = classify(pairs(values))
        plain = [index for index in range(30) if index not in (2, 8, 22)]
        assert [labels[i] for i in plain] == [NEAR if i < 15 else FAR for i in plain]


def test_a_state_seen_at_the_end_of_one_trial_only_marks_that_trial():
    values = [CoreDistance(before=30, after=33)] * 6 + [CoreDistance(before=31, after=160)]
    assert classify(values) == [ONLY] * 6 + [MIXED]
