"""The placement rule against simulated hosts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfvbed.compare.rows.placement import FAR, MIXED, NEAR, SINGLE, analyse, classify
from nfvbed.records import CoreDistance
from nfvbed.records.results import Reference

Pairs = list[CoreDistance | None]


def pairs(values: np.ndarray) -> Pairs:
    return [CoreDistance(before=float(a), after=float(b)) for a, b in values]


def test_the_one_class_has_its_name_in_results_of_earlier_versions_too():
    stored = {"of": "mrr", "load_pps": 1, "regular": True}
    found = [Reference(**stored, placement_class=name).placement_class for name in ("only", FAR)]
    assert found == [SINGLE, FAR]


def test_nothing_measured_is_one_class():
    assert classify([None, None]) == [SINGLE, SINGLE]
    assert classify([]) == []


def test_two_modes_of_the_host_it_was_found_on():
    near = [CoreDistance(before=25, after=31), CoreDistance(before=44, after=39), CoreDistance(before=30, after=28)]
    far = [CoreDistance(before=141, after=174)] * 3
    change = [CoreDistance(before=33, after=150)]
    found = analyse([*near, *far, *change, None])
    assert found.labels == (*[NEAR] * 3, *[FAR] * 3, MIXED, SINGLE)
    assert found.ends[-2:] == ((NEAR, FAR), None)


NANOSECONDS = {NEAR: st.floats(25, 45), FAR: st.floats(140, 175)}
ENDS = st.tuples(st.sampled_from((NEAR, FAR)), st.sampled_from((NEAR, FAR)))
SEEN_OFTEN = [(NEAR, NEAR), (FAR, FAR)] * 3


@given(st.lists(ENDS, max_size=30).flatmap(lambda more: st.permutations(SEEN_OFTEN + more)), st.data())
@settings(deadline=None)
def test_two_states_are_told_apart_in_any_order_and_share_and_on_hosts_of_any_speed(ends, data):
    scale = data.draw(st.floats(0.05, 50))
    distances = [[scale * data.draw(NANOSECONDS[state]) for state in pair] for pair in ends]
    found = analyse([CoreDistance(before=before, after=after) for before, after in distances])
    assert found.classes == (NEAR, FAR)
    assert found.labels == tuple(one if one == other else MIXED for one, other in ends)
    assert found.ends == tuple(ends)
    (boundary_ns,) = found.boundaries_ns
    assert 45 * scale < boundary_ns < 140 * scale


@pytest.mark.parametrize("spread", [0.03, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("trials", [2, 3, 5, 10, 60])
def test_a_noisy_single_mode_is_not_split(spread: float, trials: int):
    rng = np.random.default_rng(11)
    hosts = 300
    split = sum(len(analyse(pairs(60 * np.exp(rng.normal(0, spread, (trials, 2))))).classes) > 1 for _ in range(hosts))
    assert split <= (0.03 if spread >= 0.3 else 0.005) * hosts


def test_a_uniform_single_mode_is_not_split():
    rng = np.random.default_rng(13)
    assert all(analyse(pairs(rng.uniform(25, 45, (12, 2)))).boundaries_ns == () for _ in range(300))


def test_an_interrupted_ping_pong_makes_no_class():
    rng = np.random.default_rng(17)
    values = rng.uniform(25, 45, (30, 2))
    values[3, 0], values[9, 1], values[20, 1] = 5_000, 210, 90
    labels = classify(pairs(values))
    assert [index for index, label in enumerate(labels) if label != SINGLE] == [3, 9, 20]
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
    assert classify(values) == [SINGLE] * 6 + [MIXED]


@pytest.mark.parametrize("trials", [6, 12, 40])
def test_states_that_scatter_from_trial_to_trial_are_one_class(trials: int):
    rng = np.random.default_rng(23)
    hosts = 1_000
    values = (rng.normal(0, 0.25, (trials, 1)) + rng.normal(0, 0.03, (trials, 2)) for _ in range(hosts))
    assert sum(len(analyse(pairs(60 * np.exp(value))).classes) > 1 for value in values) <= 0.01 * hosts


@pytest.mark.parametrize("centers", [(25, 60, 140), (8, 25, 150), (25, 90, 200), (25, 60, 140, 320)])
@pytest.mark.parametrize("trials", [15, 40, 120])
def test_three_hidden_states_and_more_are_distinguished(centers: tuple[float, ...], trials: int):
    rng = np.random.default_rng(29)
    names = (NEAR, FAR, "far-2", "far-3")[: len(centers)]
    right = 0
    for _ in range(50):
        state = rng.integers(0, len(centers), trials)
        state[: 3 * len(centers)] = np.repeat(range(len(centers)), 3)
        found = analyse(pairs(np.array(centers)[state][:, None] * np.exp(rng.normal(0, 0.08, (trials, 2)))))
        right += found.classes == names and found.labels == tuple(names[place] for place in state)
    assert right >= 48
    assert len(found.boundaries_ns) == len(centers) - 1
    assert found.medians_ns == pytest.approx(centers, rel=0.1)


def test_a_change_between_three_states_is_mixed_and_keeps_its_ends():
    states = [CoreDistance(before=center, after=center * 1.1) for center in (25, 60, 140) for _ in range(3)]
    found = analyse([*states, CoreDistance(before=61, after=26), CoreDistance(before=24, after=150)])
    assert found.labels[-2:] == (MIXED, MIXED)
    assert found.ends[-2:] == ((FAR, NEAR), (NEAR, "far-2"))


def test_a_state_seen_in_two_trials_is_no_class_and_its_trials_are_in_none():
    near, far = CoreDistance(before=30, after=31), CoreDistance(before=150, after=160)
    found = analyse([near] * 5 + [far] * 2)
    assert (found.classes, found.labels) == ((SINGLE,), (*[SINGLE] * 5, MIXED, MIXED))
    assert found.medians_ns == (pytest.approx(30.5, rel=0.02),)


def test_a_class_comes_from_two_rounds():
    near, far = CoreDistance(before=30, after=31), CoreDistance(before=150, after=160)
    distances = [near] * 5 + [far] * 3
    assert analyse(distances, [1, 1, 2, 2, 3, 2, 2, 2]).classes == (SINGLE,)
    assert analyse(distances, [1, 1, 2, 2, 3, 2, 2, 3]).classes == (NEAR, FAR)
    assert analyse(distances, [None] * 8).classes == (NEAR, FAR)


def test_before_any_state_was_seen_often_the_first_of_those_seen_most_is_the_class():
    near, far = CoreDistance(before=30, after=31), CoreDistance(before=150, after=160)
    assert classify([far, near]) == [SINGLE, MIXED]
    assert classify([near, far, far]) == [MIXED, SINGLE, SINGLE]
