"""Visits are rounds of one cell, and pairs rounds of two: matched by class where both sides have one."""

from dataclasses import replace
from math import exp, inf, isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfvbed.compare.rows.placement import MIXED
from nfvbed.compare.rows.visits import LabelledTrial, pair, visits_of
from nfvbed.records import DirectionCounts, Engine, Preset, RenewedPart, Status, TrialRecord
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
        renewed=RenewedPart.DEPLOYMENT,
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
    assert (visit.round, visit.trials, visit.renewed) == (1, 2, RenewedPart.DEPLOYMENT)
    assert visit.rate_pps == pytest.approx(4500 / 1.5)
    assert {name: (seen.trials, seen.rate_pps) for name, seen in visit.by_class.items()} == {
        "near": (1, 4000),
        "far": (1, 1000),
    }
    assert list(visit.by_class) == ["near", "far"], "nearest first"


def test_what_came_only_in_the_drain_is_in_no_rate_of_a_visit():
    entry = trial(1, "near", 4000, duration_s=1)
    (way,) = entry.trial.directions
    drained = way.model_copy(update={"sent": 12_000, "received": 12_000, "received_in_time": 4000})
    entry = replace(entry, trial=entry.trial.model_copy(update={"directions": (drained,)}))
    (visit,) = visits_of([entry], CLASSES)
    assert visit.rate_pps == visit.by_class["near"].rate_pps == visit.short_trials[0].rate_pps == 4000


def test_trials_that_changed_their_class_count_in_the_rate_alone():
    (visit,) = visits_of([trial(1, "mixed", 2000), trial(1, "near", 4000)], CLASSES)
    assert visit.trials == 2 and list(visit.by_class) == ["near"]


def test_failed_trials_and_other_presets_are_in_no_visit():
    paced = trial(2, "near", 10)
    paced = replace(paced, trial=paced.trial.model_copy(update={"preset": Preset.PACED}))
    assert visits_of([trial(1, "near", 1, Status.FAILED), paced], CLASSES) == ()


TRIALS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from((*CLASSES, MIXED)), st.integers(1, 9)), max_size=40)


def class_matched(left, right):
    """Return the class of which the poorer side has most trials, of equals the nearest; empty where none is in both."""
    counts = {name: min(left.count(name), right.count(name)) for name in CLASSES}
    most = max(counts.values())
    return next(name for name in CLASSES if counts[name] == most) if most else ""


@given(TRIALS, TRIALS)
@settings(deadline=None)
def test_rounds_that_both_have_are_paired_in_order_in_the_class_that_fits_best(left, right):
    sides = [visits_of([trial(at, label, 1000 * rate) for at, label, rate in side], CLASSES) for side in (left, right)]
    pairs, swapped = pair(*sides), pair(*reversed(sides))
    labels = [
        {number: [label for at, label, _ in side if at == number] for number, *_ in side} for side in (left, right)
    ]
    assert [entry.round for entry in pairs] == sorted(labels[0].keys() & labels[1].keys())
    for entry, other in zip(pairs, swapped, strict=True):
        assert entry.placement == class_matched(*(side[entry.round] for side in labels))
        assert (other.round, other.placement) == (entry.round, entry.placement)
        assert other.log_ratio == pytest.approx(-entry.log_ratio), "neither side is favoured"


def test_a_round_is_compared_by_the_medians_of_its_class():
    left = visits_of([trial(1, "near", 8000), *(trial(1, "far", rate) for rate in (1000, 2000, 9000))], CLASSES)
    right = visits_of([trial(1, "near", 4000), *[trial(1, "far", 4000)] * 2], CLASSES)
    (found,) = pair(left, right)
    assert (found.placement, exp(found.log_ratio)) == ("far", pytest.approx(0.5))


def test_sides_without_a_common_class_are_compared_over_all_states():
    left, right = visits_of([trial(1, "near", 8000)], CLASSES), visits_of([trial(1, "far", 2000)], CLASSES)
    (found,) = pair(left, right)
    assert (found.placement, exp(found.log_ratio)) == ("", pytest.approx(4))


def test_a_side_that_forwarded_nothing_is_far_behind_and_no_infinity():
    nothing, some = visits_of([trial(1, "near", 0)], CLASSES), visits_of([trial(1, "near", 10)], CLASSES)
    (ahead,), (behind,), (neither,) = pair(some, nothing), pair(nothing, some), pair(nothing, nothing)
    assert ahead.log_ratio == -behind.log_ratio > 50 and isfinite(ahead.log_ratio) and ahead.log_ratio < inf
    assert neither.log_ratio == 0
