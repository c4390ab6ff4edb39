"""Searches of systems with a known answer find it."""

from statistics import median

import pytest
from plain_search import simulated_measurer
from search import find_csit, find_plain, ratio_of

from nfvbed.compare.rows.placement import classify
from nfvbed.search.measurer import Trial
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import SearchResult
from nfvbed.spec.searchpresets import NDR, PDR
from tests.unit.search.fake_measurer import FakeMeasurer, find, lossy

RULE = PlacementRule(classify)


def simulated(preset: str, offset: int = 0, **options: object) -> SearchResult:
    return find(simulated_measurer(offset, **{"noise": 0.0, **options}), preset, rule=RULE)


def errors(result: SearchResult, capacity_pps: float) -> list[float]:
    return [abs((goal.conditional_throughput_pps or 0) / capacity_pps - 1) for goal in result.goals]


def test_csit_is_within_one_percent_of_the_truth_in_less_than_half_the_time_of_plain_searches():
    ours = [find_csit(offset, "csit", noise=0.0) for offset in range(10)]
    plain = [find_plain(offset, noise=0.0) for offset in range(10)]
    assert all(found.regular for found in ours)
    assert max(found.error(name) for found in ours for name in (NDR, PDR)) < 0.01
    assert ratio_of(ours, plain) < 0.5
    assert median(found.error(NDR) for found in plain) > 0.1, "rare bursts lead one long trial a load astray"


@pytest.mark.parametrize("offset", range(3))
def test_csit_holds_against_noise(offset):
    result = simulated("csit", offset, noise=0.005, burst_probability_per_s=0.1)
    assert result.regular
    assert max(errors(result, 5e6)) < 0.01


@pytest.mark.parametrize("preset", ["rfc2544", "tst009", "csit", "rfc2544-quick", "tst009-quick", "csit-quick"])
@pytest.mark.parametrize("capacity", [5e6, 12_345_678.0, 60_000.0])
def test_every_preset_finds_a_plain_capacity(preset, capacity):
    result = simulated(preset, capacity_pps=capacity)
    assert result.regular
    for goal in result.goals:
        assert goal.relative_width is not None
        assert goal.relative_width <= goal.goal.relative_width + 1e-4
        lower, upper = goal.lower_bound, goal.upper_bound
        assert lower is not None
        assert upper is not None
        # The load at which just the goal's ratio is lost lies between the bounds.
        assert lower.load_pps <= capacity / (1 - goal.goal.loss_ratio) * 1.001
        assert upper.load_pps >= capacity / (1 - goal.goal.loss_ratio) * 0.999
    assert max(errors(result, capacity)) < (0.01 if preset.endswith("-quick") else 0.005) + 1e-3


def test_sixty_seconds_without_loss_are_not_found_where_bursts_come_every_ten():
    for preset in ("rfc2544", "tst009"):
        result = simulated(preset, burst_probability_per_s=0.1)
        assert not result.regular
        assert result.goals[0].conditional_throughput_pps is None


def test_tst009_forgives_one_lossy_trial_where_rfc2544_does_not():
    def lose_in_the_first_long_trial(load: float, duration: float, capacity: float) -> Trial:
        trial = lossy(load, duration, capacity)
        nonlocal first
        if duration == 60 and load < capacity and first:
            first = False
            return Trial(duration, trial.intended, trial.sent, trial.received - 10, 0)
        return trial

    found = {}
    for preset in ("rfc2544", "tst009"):
        first = True
        found[preset] = find(FakeMeasurer(answer=lose_in_the_first_long_trial), preset).of(NDR)
    assert found["tst009"].conditional_throughput_pps == pytest.approx(5e6, rel=0.006)
    assert found["tst009"].lower_bound is not None
    assert found["tst009"].lower_bound.bad_s == 60
    assert found["rfc2544"].upper_bound is not None
    assert found["rfc2544"].upper_bound.load_pps < 5e6


def test_long_trials_last_what_their_preset_says():
    for preset, final_s in (("rfc2544", 60.0), ("tst009", 60.0), ("csit", 1.0)):
        measurer = FakeMeasurer()
        result = find(measurer, preset)
        lower = result.of(NDR).lower_bound
        assert lower is not None
        assert max(duration for _, duration in measurer.calls) == final_s
        assert lower.good_s >= final_s


def test_warm_up_is_over_before_the_search_begins():
    cold = {"warm_up_s": 0.9, "cold_share": 0.4}
    assert max(errors(simulated("csit", **cold), 5e6)) < 0.01


def test_with_hysteresis_the_result_lies_between_the_capacity_and_what_an_overload_leaves_of_it():
    result = simulated("csit", hysteresis=0.04, recovery_s=1.5)
    assert result.regular
    for goal in result.goals:
        assert 0.99 * 0.96 * 5e6 <= (goal.conditional_throughput_pps or 0) <= 5e6


def test_a_search_stays_in_one_of_two_hidden_states():
    seen = set()
    for offset in range(6):
        result = simulated("csit", offset, far_capacity_pps=2e6, state_change_per_s=0.03)
        if result.regular:
            truth = 5e6 if (result.goals[0].conditional_throughput_pps or 0) > 3.5e6 else 2e6
            assert max(errors(result, truth)) < 0.01
            seen.add(truth)
            assert "+" not in result.placement.label
    assert seen == {5e6, 2e6}


def test_unsent_frames_count_as_lost():
    def unsent(load: float, duration: float, capacity: float) -> Trial:
        intended = int(load * duration)
        sent = min(intended, int(capacity * duration))
        return Trial(duration, intended, sent, sent, intended - sent, back_pressure=sent < intended)

    result = find(FakeMeasurer(answer=unsent))
    assert result.regular
    assert max(errors(result, 5e6)) < 0.01
    upper = result.of(NDR).upper_bound
    assert upper is not None
    assert (upper.lost_frames, upper.generator_trials) == (0, 0)
    assert upper.unsent_frames > 0
    assert upper.back_pressure_trials == upper.trials
