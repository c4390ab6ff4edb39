"""What keeps a result from being regular is reported, with the bounds that there are."""

from collections.abc import Iterator
from itertools import cycle, repeat

import pytest
from plain_search import simulated_measurer

from nfvbed.compare.rows.placement import classify
from nfvbed.errors import ConfigurationError, GeneratorError, InternalError, SwitchDiedError
from nfvbed.measure.searching import seen_by_search
from nfvbed.records import CoreDistance, DirectionCounts
from nfvbed.search.measurer import Trial
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import SearchResult
from nfvbed.search.stop import Irregularity
from nfvbed.search.void import DISTURBED_IN_A_ROW
from nfvbed.spec.search import SearchSpec
from nfvbed.spec.searchpresets import NDR, PDR, PRESETS
from nfvbed.units import NS_PER_S
from tests.unit.search.fake_measurer import FAR, NEAR, OVERHEAD_S, FakeMeasurer, distance, find, lossy

RULE = PlacementRule(classify)


@pytest.mark.parametrize("limit", [Irregularity.GENERATOR_LIMITED, Irregularity.MAX_LOAD])
def test_a_goal_reached_at_the_largest_load_is_a_lower_bound_with_what_set_that_load(limit):
    result = find(FakeMeasurer(capacity_pps=5e6), limit=limit, max_load_pps=3_000_000)
    assert not result.regular
    for goal in result.goals:
        assert goal.irregularity is limit
        assert goal.upper_bound is None
        assert goal.conditional_throughput_pps == pytest.approx(3_000_000, abs=1)
        assert "3000000 frames/s" in goal.explanation


def test_one_goal_may_be_regular_and_the_other_not():
    # 5.01 Mpps is too much for NDR and little enough for PDR.
    result = find(FakeMeasurer(capacity_pps=5e6), max_load_pps=5_010_000)
    assert result.of(NDR).regular
    assert result.of(PDR).irregularity is Irregularity.GENERATOR_LIMITED
    assert result.stopped is None


def late(share: float, forwarded: float):
    """Return an answer: a share of the frames is too late to be sent, and of those that are sent so many come back."""

    def answer(load_pps: float, duration_s: float, capacity_pps: float) -> Trial:
        due = int(load_pps * duration_s)
        missed = int(due * share)
        sent = due - missed
        return Trial(duration_s, due, sent, int(sent * forwarded), missed, late=missed)

    return answer


@pytest.mark.parametrize("preset", [name for name in PRESETS if not name.endswith("quick")])
@pytest.mark.parametrize("share", [0.0, 0.0005, 0.01, 0.3])
def test_a_system_that_returns_nothing_is_called_so_whatever_was_late(preset, share):
    result = find(FakeMeasurer(answer=late(share, forwarded=0)), preset)
    assert [goal.irregularity for goal in result.goals] == [Irregularity.NOTHING_CAME_BACK] * len(result.goals)
    assert "sent frames came back" in result.nothing_came
    assert all(goal.conditional_throughput_pps is None for goal in result.goals)


@pytest.mark.parametrize(
    ("forwarded", "irregularity"),
    [(0.5, Irregularity.MIN_LOAD), (1.0, Irregularity.GENERATOR_DISTURBED)],
)
def test_late_frames_are_the_cause_only_where_more_were_late_than_lost(forwarded, irregularity):
    result = find(FakeMeasurer(answer=late(0.001, forwarded)), "rfc2544")
    assert {goal.irregularity for goal in result.goals} == {irregularity}
    assert not result.nothing_came


def test_a_path_that_dies_within_a_search_is_no_slow_one():
    """The first trials came back: what was lost later was lost whole."""
    calls = []

    def answer(load_pps: float, duration_s: float, capacity_pps: float) -> Trial:
        calls.append(load_pps)
        return lossy(load_pps, duration_s, 5e6 if len(calls) < 3 else 0)

    result = find(FakeMeasurer(answer=answer))
    goal = result.of(NDR)
    assert goal.irregularity is Irregularity.NOTHING_CAME_BACK
    assert "at 10000 frames/s" in goal.explanation


def test_a_search_out_of_time_gives_the_bounds_that_it_has_and_keeps_within_its_limit():
    measurer = FakeMeasurer()
    begun = measurer.now_s()
    result = find(measurer, SearchSpec(preset="csit", time_limit_s=30).resolved())
    assert measurer.now_s() - begun <= 30
    assert result.stopped is Irregularity.TIME_LIMIT
    assert "30 s" in result.explanation
    assert any(goal.lower_bound or goal.upper_bound for goal in result.goals)
    assert {goal.irregularity for goal in result.goals} <= {None, Irregularity.TIME_LIMIT}
    assert result.duration_s == pytest.approx(measurer.now_s() - begun)


def test_no_trial_is_begun_that_would_end_after_the_limit():
    measurer = FakeMeasurer()
    result = find(measurer, SearchSpec(preset="rfc2544", time_limit_s=61).resolved())
    assert result.stopped is Irregularity.TIME_LIMIT
    assert result.duration_s <= 61
    assert all(duration < 60 for _, duration in measurer.calls)


def test_the_time_that_a_trial_takes_beside_its_traffic_is_learnt():
    slow = FakeMeasurer()
    what = SearchSpec(preset="csit", time_limit_s=20, trial_overhead_s=5).resolved()
    result = find(slow, what)
    assert 20 - result.duration_s < 1 + OVERHEAD_S


def test_an_upper_bound_of_the_generators_making_is_no_result():
    def unsent(load: float, duration: float, capacity: float) -> Trial:
        intended = int(load * duration)
        sent = min(intended, int(capacity * duration))
        return Trial(duration, intended, sent, sent, intended - sent, late=intended - sent)

    result = find(FakeMeasurer(answer=unsent))
    assert result.void is not None
    assert result.void.generator_trials >= DISTURBED_IN_A_ROW
    for goal in result.goals:
        assert goal.irregularity is Irregularity.GENERATOR_DISTURBED
        assert f"{DISTURBED_IN_A_ROW} trials in a row are void" in goal.explanation


@pytest.mark.parametrize("late_ratio", [0.0, 0.01])
def test_what_a_disturbed_generator_leaves_out_is_not_lost_and_not_claimed(late_ratio):
    """The system is asked for less, within the limit: its bounds are found, and the reported throughput is lower."""

    def late(load: float, duration: float, capacity: float) -> Trial:
        intended = int(load * duration)
        left_out = int(intended * late_ratio)
        sent = min(intended - left_out, int(capacity * duration))
        unsent = intended - sent
        return Trial(duration, intended, sent, sent, unsent, late=left_out, back_pressure=unsent > left_out)

    result = find(FakeMeasurer(answer=late))
    assert result.regular
    for goal in result.goals:
        assert goal.conditional_throughput_pps == pytest.approx(5e6, rel=0.01)
        assert goal.conditional_throughput_pps <= 5e6
        assert goal.lower_bound.late_ratio == pytest.approx(late_ratio, abs=1e-5)


def test_a_single_disturbed_trial_is_measured_again():
    seen = []

    def once(load: float, duration: float, capacity: float) -> Trial:
        seen.append(load)
        trial = lossy(load, duration, capacity)
        if len(seen) != 5 or load > capacity:
            return trial
        left_out = trial.intended // 2
        sent = trial.intended - left_out
        return Trial(duration, trial.intended, sent, sent, left_out, late=left_out)

    result = find(FakeMeasurer(answer=once))
    assert result.regular
    assert result.void is not None
    assert result.void.generator_trials == (seen[4] <= 5e6)


def robbed(load: float, duration: float, capacity: float, stall_s: float) -> Trial:
    """What comes of a stall of the system: frames that are due in it are refused, beside what is above capacity."""
    intended = int(load * duration)
    sent = min(int(load * (duration - stall_s)), int(capacity * (duration - stall_s)))
    return Trial(duration, intended, sent, sent, intended - sent, back_pressure=True, stolen_s=stall_s, held_s=stall_s)


@pytest.mark.parametrize("factor", [2.0, 0.0])
def test_what_is_lost_while_the_system_had_no_core_is_not_the_systems_loss_by_the_former_rule(factor):
    """Two seconds of three are robbed of 15 ms: above the loss ratio of PDR, and more often than its exceed ratio."""
    stalls = cycle([0.015, 0.0, 0.015])
    measurer = FakeMeasurer(answer=lambda load, duration, capacity: robbed(load, duration, capacity, next(stalls)))
    result = find(measurer, SearchSpec(preset="csit", trials="all", stolen_factor=factor).resolved())
    if factor:
        assert result.regular
        assert result.of(NDR).conditional_throughput_pps == pytest.approx(5e6, rel=0.01)
        assert result.of(PDR).conditional_throughput_pps == pytest.approx(5e6, rel=0.01)
        assert result.stolen_trials > 10
    else:
        assert result.of(NDR).conditional_throughput_pps is None
        assert result.stolen_trials == 0


def test_a_loss_that_stolen_time_does_not_explain_is_the_systems():
    measurer = FakeMeasurer(answer=lambda load, duration, capacity: robbed(load, duration, capacity, 0.002))
    result = find(measurer, SearchSpec(preset="csit", trials="all", stolen_factor=2).resolved())
    # All trials near the bounds lose what 2 ms explain; above, the overload is more than that.
    assert result.stopped is Irregularity.SYSTEM_DISTURBED
    assert result.stolen_trials >= DISTURBED_IN_A_ROW
    for goal in result.goals:
        assert goal.upper_bound is None or goal.upper_bound.load_pps > 5e6


def test_a_generator_that_cannot_send_even_the_smallest_load_is_not_the_systems_fault():
    def starved(load: float, duration: float, capacity: float) -> Trial:
        intended = int(load * duration)
        sent = int(0.8 * intended)
        return Trial(duration, intended, sent, sent, intended - sent, late=intended - sent)

    for goal in find(FakeMeasurer(answer=starved)).goals:
        assert goal.irregularity is Irregularity.GENERATOR_DISTURBED
        assert goal.lower_bound is None


def test_a_full_generator_is_reported_from_a_full_system():
    def full(load: float, duration: float, capacity: float) -> Trial:
        trial = lossy(load, duration, capacity)
        return Trial(duration, trial.intended, trial.sent, trial.received, 0, generator_limited=load > capacity)

    assert {g.irregularity for g in find(FakeMeasurer(answer=full)).goals} == {Irregularity.GENERATOR_LIMITED}


def fast(preset: str, offset: int, changes_per_s: float) -> SearchResult:
    measurer = simulated_measurer(offset, noise=0.0, far_capacity_pps=2e6, state_change_per_s=changes_per_s)
    return find(measurer, preset, rule=RULE)


@pytest.mark.parametrize(
    ("preset", "changes_per_s"), [("csit", 2), ("csit", 20), ("csit-quick", 20), ("rfc2544", 0.1), ("tst009", 0.1)]
)
@pytest.mark.parametrize("offset", range(4))
def test_classes_that_change_faster_than_trials_last_end_the_search_within_a_bound(preset, changes_per_s, offset):
    result = fast(preset, offset, changes_per_s)
    assert not result.regular
    assert result.stopped in (Irregularity.PLACEMENT_UNSTABLE, Irregularity.PLACEMENT_LOST)
    assert "placement class" in result.explanation
    assert {goal.irregularity for goal in result.goals} == {result.stopped}
    assert result.duration_s <= PRESETS[preset].time_limit_s
    assert result.placement.rejected_trials > 0


def test_a_class_that_does_not_come_back_ends_the_search():
    def leaves_after(trials: int) -> Iterator[CoreDistance]:
        yield from repeat(distance(NEAR), trials)
        yield from repeat(distance(FAR))

    measurer = FakeMeasurer(distances=leaves_after(8))
    result = find(measurer, rule=RULE)
    assert result.stopped is Irregularity.PLACEMENT_LOST
    assert "near" in result.explanation
    assert result.duration_s < PRESETS["csit"].placement_wait_s + 20
    assert result.placement.label == "near"
    # Goals that were not reached say so; what was found of them stays.
    assert any(goal.irregularity is Irregularity.PLACEMENT_LOST for goal in result.goals)


def test_trials_of_the_other_class_are_measured_again_and_not_used():
    # Three near, one far, one that changes, over and over: slow in the far state.
    places = cycle([distance(NEAR)] * 8 + [distance(FAR)] * 2)
    seen = []

    def by_place(load: float, duration: float, capacity: float) -> Trial:
        near = len(seen) % 10 < 8
        seen.append(near)
        return lossy(load, duration, capacity if near else 1e6)

    result = find(FakeMeasurer(answer=by_place, distances=places), rule=RULE)
    assert result.regular
    assert result.placement.label == "near"
    assert result.placement.rejected_trials == seen[1:].count(False)
    assert result.of(NDR).conditional_throughput_pps == pytest.approx(5e6, rel=0.006)


def test_a_search_whose_first_trial_was_not_what_it_seemed_restarts():
    # The first counted trial straddles both states, which only later ones show; one trial far makes no class of it.
    places = [distance(NEAR), distance(NEAR * 1.9, FAR), *repeat(distance(NEAR * 1.05), 3), distance(FAR)]
    measurer = FakeMeasurer(distances=places)
    result = find(measurer, rule=RULE)
    assert result.regular
    assert result.placement.label == "single"
    assert len(measurer.calls) == 1 + result.trials + result.placement.rejected_trials
    assert result.placement.rejected_trials == 2, "the mixed one, which no class was known for, and the far one"


def test_a_wanted_class_is_waited_for_without_trials():
    measurer = FakeMeasurer()
    begun = measurer.now_s()
    measurer.probe = lambda now_s: FAR if now_s - begun < 30 else NEAR
    history = (distance(NEAR), distance(FAR)) * 3
    result = find(measurer, rule=PlacementRule(classify, history, wanted="near"))
    assert result.regular
    assert result.placement.label == "near"
    assert measurer.waited_s == pytest.approx(30, abs=2)
    assert result.placement.rejected_trials == 0


def test_waiting_for_a_wanted_class_has_a_bound():
    measurer = FakeMeasurer(distances=repeat(distance(FAR)))
    measurer.probe = lambda now_s: FAR
    history = (distance(NEAR), distance(FAR)) * 3
    result = find(measurer, rule=PlacementRule(classify, history, wanted="near"))
    assert result.stopped is Irregularity.PLACEMENT_LOST
    assert "class near" in result.explanation
    assert len(measurer.calls) == 1, "the warm-up alone"
    assert all(goal.lower_bound is None and goal.upper_bound is None for goal in result.goals)


def test_a_range_without_loads_is_refused():
    with pytest.raises(ConfigurationError, match="no loads"):
        find(FakeMeasurer(), max_load_pps=10_000)


def test_a_trial_that_ends_early_is_a_failure_and_no_loss():
    def short(load: float, duration: float, capacity: float) -> Trial:
        return lossy(load, duration / 2, capacity)

    with pytest.raises(GeneratorError, match="ended early"):
        find(FakeMeasurer(answer=short))


def test_what_a_trial_raises_comes_through():
    def dies(load: float, duration: float, capacity: float) -> Trial:
        raise SwitchDiedError("the switch died")

    with pytest.raises(SwitchDiedError):
        find(FakeMeasurer(answer=dies))


def test_a_fault_of_the_library_is_reported_as_ours(monkeypatch):
    from nfvbed.search import controller

    def inconsistent(*_: object, **__: object) -> None:
        raise RuntimeError("no clo nor chi")

    monkeypatch.setattr(controller.MultipleLossRatioSearch, "run_initial_trials", inconsistent)
    with pytest.raises(InternalError, match="cannot be"):
        find(FakeMeasurer())


def doubled(forward, back):
    """Answer with these parts of what was sent, one way and the other; what is above it came twice."""

    def answer(load_pps, duration_s, capacity_pps):
        sent = round(load_pps * duration_s / 2)
        passed = min(1.0, capacity_pps / load_pps)
        ways = [DirectionCounts.counted(sent, round(sent * part * passed)) for part in (forward, back)]
        return seen_by_search(ways, round(duration_s * NS_PER_S), None, False)

    return answer


@pytest.mark.parametrize(("forward", "back"), [(0.9, 1.1), (1.0, 1.000_01), (2.0, 2.0)])
def test_frames_that_came_twice_make_no_regular_result(forward, back):
    result = find(FakeMeasurer(answer=doubled(forward, back)))
    for goal in result.goals:
        assert goal.irregularity is Irregularity.LOSS_AT_LEAST
        assert "counted more frames back than were sent" in goal.explanation
        # A tenth lost one way is a twentieth of all, whatever came twice the other way.
        assert (goal.lower_bound is None) is (forward == 0.9)
    assert 0 < result.surplus_trials <= result.trials


def test_a_search_without_them_says_nothing_of_them():
    result = find(FakeMeasurer(answer=doubled(1.0, 1.0)))
    assert result.regular and "surplus_trials" not in result.model_dump_json()
