"""A result states what RFC 9971 asks for, and survives being stored."""

import json

from nfvbed.records import GeneratorPlace
from nfvbed.search.measurer import Trial
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import SearchResult
from nfvbed.spec.conformance import conformance, deviations
from nfvbed.spec.search import SearchSpec
from nfvbed.spec.searchpresets import NDR, PDR, Goal
from tests.unit.search.fake_measurer import FakeMeasurer, find


def test_a_result_is_the_same_after_a_store():
    result = find(FakeMeasurer(), "csit-quick")
    assert SearchResult.model_validate_json(result.model_dump_json()) == result


def test_everything_that_a_report_must_state_is_in_it():
    result = find(FakeMeasurer(), "csit-quick")
    document = json.loads(result.model_dump_json())
    assert document["label"] == "csit-quick (clean 0.05 s trials, 0 % void)"
    assert document["search"]["trials"] == "clean"
    assert len(document["excludes"]) == 2
    assert document["unit"] == "frames/s"
    assert document["directions"] == 2
    assert [set(goal["goal"]) for goal in document["goals"]] == [set(Goal.model_fields)] * 2
    for goal in document["goals"]:
        assert {"conditional_throughput_pps", "lower_bound", "upper_bound", "irregularity"} <= set(goal)
    assert document["trials"] > 10
    assert document["trial_time_s"] < document["duration_s"]
    assert document["loads"]["max_load_pps"] == 15_000_000


def test_what_it_conforms_to_is_derived_and_stated_whoever_says_otherwise():
    result = find(FakeMeasurer(), SearchSpec(preset="rfc2544-quick").resolved())
    (goal,) = result.goals
    assert (goal.regular, goal.conformance) == (True, conformance(result.search, goal.goal))
    assert result.deviations == deviations(result.search, GeneratorPlace.NOT_KNOWN, 2)
    # Of a version that did not say, or said something else.
    document = json.loads(result.model_dump_json())
    document["goals"][0]["conformance"], document["deviations"] = [], ["nothing at all"]
    del document["generator_place"]
    assert SearchResult.model_validate(document) == result
    assert find(FakeMeasurer(capacity_pps=0), SearchSpec(preset="rfc2544-quick").resolved()).goals[0].conformance != (
        goal.conformance
    )


def test_the_warm_up_does_not_count_and_comes_first():
    measurer = FakeMeasurer()
    result = find(measurer)
    assert measurer.calls[0] == (15_000_000, 1.0)
    assert result.trials == len(measurer.calls) - 1
    cold = FakeMeasurer()
    assert find(cold, SearchSpec(warmup_s=0).resolved()).trials == len(cold.calls)


def test_bounds_tell_their_trials():
    result = find(FakeMeasurer())
    lower, upper = result.of(NDR).lower_bound, result.of(NDR).upper_bound
    assert lower is not None
    assert upper is not None
    assert lower.bad_trials == 0
    assert lower.good_s >= 10.5, "more than half of the duration sum"
    assert upper.bad_s >= 10.5
    assert upper.lost_frames > 0
    assert result.of(PDR).goal.loss_ratio == 0.005


def test_a_trial_counts_lost_and_unsent_on_the_intended_load():
    trial = Trial(1.0, intended=1000, sent=900, received=890, unsent=100)
    assert trial.missing == 110
    assert trial.loss_ratio == 0.11
    assert trial.loss_ratio_of_sent == 10 / 900
    # Frames of a later count can be one more than intended; that is no loss.
    assert Trial(1.0, intended=1000, sent=1001, received=1001, unsent=0).loss_ratio == 0
    assert Trial(1.0, intended=0, sent=0, received=0, unsent=0).loss_ratio == 0


def test_without_a_rule_a_host_has_one_class():
    assert find(FakeMeasurer(), rule=PlacementRule()).placement.label == "single"
