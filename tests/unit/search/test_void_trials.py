"""Trials are void by what the host did to them, never by what they lost; and so many that there is no result."""

from itertools import count, cycle, repeat

import pytest
from plain_search import simulated_measurer

from nfvbed.compare.rows.placement import classify
from nfvbed.records import CoreDistance
from nfvbed.search.measurer import Trial
from nfvbed.search.placement import PlacementKeeper, PlacementRule
from nfvbed.search.result import SearchResult
from nfvbed.search.stop import Irregularity, SearchStopped
from nfvbed.search.void import against, differs, why_void
from nfvbed.search.voidsummary import VoidSummary
from nfvbed.spec.search import SearchSpec
from nfvbed.spec.searchpresets import NDR, PDR
from tests.unit.search.fake_measurer import FakeMeasurer, find, lossy

CAPACITY_PPS = 5e6
CLEAN = SearchSpec(preset="csit").resolved()


def of(**changed: object) -> Trial:
    return Trial(**{"duration_s": 1.0, "intended": 1000, "sent": 1000, "received": 1000, "unsent": 0, **changed})


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({}, None),
        ({"gap_s": 0.0002}, Irregularity.GENERATOR_DISTURBED),
        ({"held_s": 0.0002}, Irregularity.SYSTEM_DISTURBED),
        ({"gap_s": 0.00005, "held_s": 0.00005, "stolen_s": 0.01}, None),
        ({"sent": 900, "received": 900, "unsent": 100, "late": 100}, Irregularity.GENERATOR_DISTURBED),
        ({"sent": 900, "received": 900, "unsent": 100, "late": 100, "generator_full": True}, None),
        ({"sent": 900, "received": 900, "unsent": 100, "late": 100, "gap_s": 0.00005}, None),
    ],
)
@pytest.mark.parametrize("received", [1.0, 0.5])
def test_the_rule_does_not_look_at_loss(changed, why, received):
    trial = of(**changed)
    trial = of(**{**changed, "received": int(trial.received * received)})
    assert why_void(trial, CLEAN) is why


def test_late_frames_without_a_gap_are_missing_and_named_the_generators():
    """Its loop went on: it is too slow for the load, which no repetition changes."""

    def slow(load: float, duration: float, capacity: float) -> Trial:
        intended = int(load * duration)
        sent = min(intended, int(capacity * duration))
        return Trial(duration, intended, sent, sent, intended - sent, late=intended - sent, gap_s=0.00005)

    result = find(FakeMeasurer(answer=slow))
    assert result.void is not None
    assert result.void.void_trials == 0
    for goal in result.goals:
        assert goal.irregularity is Irregularity.GENERATOR_DISTURBED
        assert goal.upper_bound is not None


def test_void_trials_in_the_class_do_not_lose_it():
    keeper = PlacementKeeper(PlacementRule(classify), wait_s=30, final_duration_s=1, since_s=0)
    keeper.pass_over(of(core_distance_ns=CoreDistance(before=25, after=25)), now_s=40)
    keeper.check_patience(now_s=60)
    with pytest.raises(SearchStopped, match="no trial within placement class"):
        keeper.check_patience(now_s=71)


def stalled(load: float, duration: float, capacity: float, held_s: float) -> Trial:
    """A stall in which everything is refused."""
    intended = int(load * duration)
    sent = min(int(load * (duration - held_s)), int(capacity * (duration - held_s)))
    return Trial(duration, intended, sent, sent, intended - sent, back_pressure=True, stolen_s=held_s, held_s=held_s)


def test_every_third_trial_void_moves_no_result_and_is_in_the_label():
    stalls = cycle([0.0, 0.015, 0.0])
    result = find(FakeMeasurer(answer=lambda *asked: stalled(*asked, next(stalls))))
    assert result.regular
    for goal in result.goals:
        assert goal.conditional_throughput_pps == pytest.approx(CAPACITY_PPS, rel=0.006)
    assert result.void is not None
    assert result.void.share == pytest.approx(1 / 3, abs=0.03)
    assert result.void.system_trials == result.void.void_trials
    assert result.label == f"csit (clean 1 s trials, {result.void.share * 100:.0f} % void)"


def test_a_stall_without_a_loss_voids_a_trial_as_well():
    stalls = cycle([0.0, 0.0, 0.0005])

    def bridged(load: float, duration: float, capacity: float) -> Trial:
        trial = lossy(load, duration, capacity)
        return Trial(duration, trial.intended, trial.sent, trial.received, 0, held_s=next(stalls))

    result = find(FakeMeasurer(answer=bridged))
    assert result.void is not None
    assert result.void.share == pytest.approx(1 / 3, abs=0.03)


def test_more_than_half_void_is_no_result():
    stalls = cycle([0.01, 0.01, 0.0])
    result = find(FakeMeasurer(answer=lambda *asked: stalled(*asked, next(stalls))))
    assert {goal.irregularity for goal in result.goals} == {Irregularity.VOID_TRIALS}
    assert "the rest is the exception" in result.goals[0].explanation


def test_stalls_that_overload_causes_are_found_by_the_bounds():
    turn = count()

    def by_overload(load: float, duration: float, capacity: float) -> Trial:
        held = 0.01 if load > capacity and next(turn) % 2 else 0.0
        return stalled(load, duration, capacity, held)

    result = find(FakeMeasurer(answer=by_overload))
    assert Irregularity.VOID_TRIALS in {goal.irregularity for goal in result.goals}
    assert any("goes with the load" in goal.explanation for goal in result.goals)


def test_fishers_test_sees_no_difference_in_small_counts():
    assert differs((1, 20), (3, 20)) == ""
    assert "Fisher" in differs((0, 20), (12, 20))


def test_steps_of_stolen_time_make_trials_longer_and_count_what_they_may_hide():
    def in_steps(load: float, duration: float, capacity: float) -> Trial:
        trial = lossy(load, duration, capacity)
        return Trial(duration, trial.intended, trial.sent, trial.received, 0, steal_step_s=0.01)

    result = find(FakeMeasurer(answer=in_steps), "csit-quick")
    assert result.search.final_trial_duration_s == 1.0
    assert result.label.startswith("csit-quick (clean 1 s trials")
    cold = find(FakeMeasurer(answer=in_steps), SearchSpec(preset="csit-quick", warmup_s=0).resolved())
    assert cold.search.final_trial_duration_s == 1.0
    summary = VoidSummary(
        limit_s=0.0001,
        trials=60,
        void_trials=1,
        generator_trials=0,
        system_trials=1,
        steal_step_s=0.01,
        share_at_most=0.66,
    )
    assert "counted in steps of 10 ms" in against(summary)


def test_twenty_void_trials_in_a_row_end_the_search():
    stalls = repeat(0.01)
    result = find(FakeMeasurer(answer=lambda *asked: stalled(*asked, next(stalls))))
    assert result.stopped is Irregularity.SYSTEM_DISTURBED
    assert "20 trials in a row are void" in result.explanation


def test_late_frames_are_missing_frames_under_the_names_of_documents():
    """A tenth of a per mille late in every trial: no load passes, and the generator is named."""

    def late(load: float, duration: float, capacity: float) -> Trial:
        intended = int(load * duration)
        left_out = max(1, intended // 10_000)
        sent = min(intended - left_out, int(capacity * duration))
        unsent = intended - sent
        # The system itself refuses a frame now and then as well: the late ones alone are too many all the same.
        return Trial(duration, intended, sent, sent - 1, unsent, late=left_out, back_pressure=unsent > left_out)

    for preset in ("rfc2544", "tst009"):
        measurer = FakeMeasurer(answer=late)
        result = find(measurer, preset)
        (goal,) = result.goals
        assert goal.irregularity is Irregularity.GENERATOR_DISTURBED
        assert "no load passes" in goal.explanation
        assert goal.conditional_throughput_pps is None
        assert result.disturbed_trials == 0
        assert measurer.waited_s == pytest.approx(5 * (len(measurer.calls) - 1))
    clean = find(FakeMeasurer(answer=late), SearchSpec(preset="csit", goals=[{"name": "PDR"}]).resolved())
    assert clean.regular


def simulated(offset: int, trials: str, **steal: object) -> SearchResult:
    measurer = simulated_measurer(offset, noise=0.0, **steal)
    what = SearchSpec.model_validate({"preset": "csit", "trials": trials}).resolved()
    return find(measurer, what, rule=PlacementRule(classify))


@pytest.mark.parametrize("by", ["host", "load"])
@pytest.mark.parametrize("share", [0.0, 0.0005, 0.002, 0.01, 0.1, 0.4])
@pytest.mark.parametrize("stall_s", [0.0005, 0.003, 0.01])
def test_clean_trials_are_within_a_percent_of_the_truth_or_say_that_they_are_not(by, share, stall_s):
    for offset in range(2):
        result = simulated(offset, "clean", stolen_share=share, stall_s=stall_s, stolen_by=by)
        for goal in result.goals:
            if goal.regular:
                assert goal.conditional_throughput_pps == pytest.approx(CAPACITY_PPS, rel=0.01)
        assert result.regular or share


def test_some_stolen_time_leaves_a_regular_result_of_clean_trials():
    found = [simulated(offset, "clean", stolen_share=0.0005, stall_s=0.003) for offset in range(4)]
    assert sum(result.regular for result in found) >= 3
    assert any(result.void and result.void.void_trials for result in found)


@pytest.mark.parametrize("by", ["host", "load"])
@pytest.mark.parametrize("share", [0.0005, 0.005, 0.1, 0.4])
def test_stolen_time_in_steps_of_a_tick_is_not_taken_for_none(by, share):
    for offset in range(2):
        for stall_s in (0.0005, 0.003):
            steal = {"stolen_share": share, "stall_s": stall_s, "stolen_by": by, "steal_step_s": 0.01}
            result = simulated(offset, "clean", **steal)
            for goal in result.goals:
                if goal.regular:
                    assert goal.conditional_throughput_pps == pytest.approx(CAPACITY_PPS, rel=0.01)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.4])
def test_as_delivered_counts_what_is_stolen(share):
    """With an allowed loss far above the rings, what is delivered is the capacity less what is stolen of it."""
    goal = {"name": "half", "loss_ratio": min(0.9, 0.02 + share), "exceed_ratio": 0.5}
    for offset in range(3):
        measurer = simulated_measurer(offset, noise=0.0, stolen_share=share, stall_s=0.003)
        what = SearchSpec.model_validate({"preset": "csit", "trials": "all", "goals": [goal]}).resolved()
        result = find(measurer, what, rule=PlacementRule(classify))
        assert result.label.startswith("csit (as delivered")
        assert result.excludes == ()
        assert result.void is None
        found = result.of("half").conditional_throughput_pps or 0
        assert found == pytest.approx(CAPACITY_PPS * (1 - share), rel=0.03 + share / 10)


def test_both_goals_have_their_void_trials_with_their_bounds():
    stalls = cycle([0.0, 0.0, 0.015])
    result = find(FakeMeasurer(answer=lambda *asked: stalled(*asked, next(stalls))))
    assert all(result.of(name).lower_bound is not None for name in (NDR, PDR))
    assert sum(bound.void_trials for name in (NDR, PDR) if (bound := result.of(name).lower_bound)) > 0
