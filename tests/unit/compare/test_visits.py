"""Visits are rounds of one cell, and pairs rounds of two: matched by class where both sides have one."""

from dataclasses import replace
from math import exp, inf, isfinite

import pytest

from nfvbed.compare.visits import LabelledTrial, pair, visits_of
from nfvbed.records import DirectionCounts, Engine, Preset, Renewed, Status, TrialRecord
from tests.sample_records import RUN

NS = 1_000_000_000
CLASSES = ("near", "middle", "far")


def trial(number: int, label: str, rate: int, status: Status = Status.OK, duration_s: float = 0.5) -> LabelledTrial:
    received = int(rate * duration_s)
    way = DirectionCounts(intended=received, sent=received, received=received, lost=0)
    record = TrialRecord(
        run=RUN,
        cell="c",
        sequence=number,
        round=number,
        preset=Preset.MRR,
        renewed=Renewed.DEPLOYMENT,
        started_at="",
        intended_load_pps=None,
        offered_load_pps=rate,
        forwarded_rate_pps=rate,
        directions=(way,),
        duration_ns=int(duration_s * NS),
        engine=Engine(name="e", version="1"),
        status=status,
    )
    return LabelledTrial(trial=record, label=label)


def test_the_rate_of_a_visit_is_that_of_all_its_trials_together():
    (visit,) = visits_of([trial(1, "near", 4000, duration_s=1), trial(1, "far", 1000, duration_s=0.5)], CLASSES)
    assert (visit.round, visit.trials, visit.renewed) == (1, 2, Renewed.DEPLOYMENT)
    assert visit.rate_pps == pytest.approx(4500 / 1.5)
    assert {name: (seen.trials, seen.rate_pps) for name, seen in visit.by_class.items()} == {
        "near": (1, 4000),
        "far": (1, 1000),
    }
    assert list(visit.by_class) == ["near", "far"], "nearest first"


def test_trials_that_changed_their_class_count_in_the_rate_alone():
    (visit,) = visits_of([trial(1, "mixed", 2000), trial(1, "near", 4000)], CLASSES)
    assert visit.trials == 2 and list(visit.by_class) == ["near"]


def test_failed_trials_and_other_presets_are_in_no_visit():
    paced = trial(2, "near", 10)
    paced = replace(paced, trial=paced.trial.model_copy(update={"preset": Preset.PACED}))
    assert visits_of([trial(1, "near", 1, Status.FAILED), paced], CLASSES) == ()


def test_rounds_that_both_have_are_paired_in_order():
    left = visits_of([trial(number, "near", 2000) for number in (3, 1, 2)], CLASSES)
    right = visits_of([trial(number, "near", 1000) for number in (2, 3, 4)], CLASSES)
    pairs = pair(left, right)
    assert [entry.round for entry in pairs] == [2, 3]
    assert [exp(entry.log_ratio) for entry in pairs] == pytest.approx([2, 2])


def test_a_round_is_matched_in_the_class_of_which_the_poorer_side_has_most():
    left = visits_of([*[trial(1, "near", 8000)] * 2, *[trial(1, "far", 2000)] * 2], CLASSES)
    right = visits_of([trial(1, "near", 4000), *[trial(1, "far", 4000)] * 2], CLASSES)
    (found,) = pair(left, right)
    assert (found.placement, exp(found.log_ratio)) == ("far", pytest.approx(0.5))


def test_of_equals_the_nearest_class_is_matched():
    left = visits_of([trial(1, "far", 2000), trial(1, "near", 8000)], CLASSES)
    right = visits_of([trial(1, "near", 4000), trial(1, "far", 4000)], CLASSES)
    (found,) = pair(left, right)
    assert (found.placement, exp(found.log_ratio)) == ("near", pytest.approx(2))


def test_sides_without_a_common_class_are_compared_over_all_states():
    left, right = visits_of([trial(1, "near", 8000)], CLASSES), visits_of([trial(1, "far", 2000)], CLASSES)
    (found,) = pair(left, right)
    assert (found.placement, exp(found.log_ratio)) == ("", pytest.approx(4))


def test_a_side_that_forwarded_nothing_is_far_behind_and_no_infinity():
    nothing, some = visits_of([trial(1, "near", 0)], CLASSES), visits_of([trial(1, "near", 10)], CLASSES)
    (ahead,), (behind,), (neither,) = pair(some, nothing), pair(nothing, some), pair(nothing, nothing)
    assert ahead.log_ratio == -behind.log_ratio > 50 and isfinite(ahead.log_ratio) and ahead.log_ratio < inf
    assert neither.log_ratio == 0
