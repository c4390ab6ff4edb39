"""Trials on slowed cores: compared with their like, and never in place of trials at full pace."""

from dataclasses import replace
from math import log

import pytest

from nfvbed.compare.rows.labelling import label_run
from nfvbed.compare.rows.placement import MIXED, SINGLE
from nfvbed.compare.rows.visits import LabelledTrial, Visit, pair, visits_of
from nfvbed.records import CORE_PACE, QualityWarning, TrialRecord
from nfvbed.records.words import ResultKind
from tests.unit.compare.test_visits import trial

QUIET, BUSY = {"0": 1.0, "1": 1.05}, {"0": 1.0, "1": 1.8}
FULL, SLOWED, CHANGED = (QUIET, QUIET), (BUSY, BUSY), (QUIET, BUSY)


def paced(number: int, rate: int, ends: tuple[dict[str, float], dict[str, float]]) -> TrialRecord:
    slowed = BUSY in ends
    return trial(number, SINGLE, rate).trial.model_copy(
        update={
            "switch_counters": {CORE_PACE: {"before": ends[0], "after": ends[1], "waited_ns": 0}},
            "warnings": (QualityWarning.CORE_SLOWED,) if slowed else (),
        }
    )


def visits(*trials: TrialRecord) -> tuple[Visit, ...]:
    classes, labelled = label_run(trials)
    return visits_of(labelled, classes)


def test_a_slowed_trial_is_in_no_class():
    _, labelled = label_run([paced(1, 9000, FULL), paced(1, 5000, SLOWED), paced(1, 7000, CHANGED)])
    assert [entry.label for entry in labelled] == [SINGLE, MIXED, MIXED]


def test_other_tests_keep_the_class_of_their_trials():
    """A search has its own rule for a host that changes; it waits before each trial as well."""
    searched = paced(1, 5000, SLOWED).model_copy(update={"preset": ResultKind.SEARCH})
    assert label_run([searched])[1][0].label == SINGLE


def test_where_both_sides_have_trials_at_full_pace_these_are_compared():
    candidate = visits(paced(1, 9000, FULL), paced(1, 5000, SLOWED), paced(1, 5100, SLOWED))
    baseline = visits(paced(1, 9000, FULL), paced(1, 9100, FULL), paced(1, 5200, CHANGED))
    (found,) = pair(candidate, baseline)
    assert found.placement == SINGLE
    assert found.log_ratio == pytest.approx(log(9000 / 9050), abs=1e-6)


def test_a_slowed_visit_is_levelled_against_one_at_full_pace():
    """What slowed cores do to each variant is read from its own trials."""
    rounds = [(1, FULL, FULL), (2, SLOWED, SLOWED), (3, SLOWED, FULL), (4, FULL, SLOWED)]
    rates = {id(FULL): 9000, id(SLOWED): 5400}
    candidate = visits(*(paced(number, rates[id(own)], own) for number, own, _ in rounds for _ in range(3)))
    baseline = visits(*(paced(number, rates[id(other)], other) for number, _, other in rounds for _ in range(3)))
    found = pair(candidate, baseline)
    assert [entry.levelled for entry in found] == [False, True, True, True]
    assert [entry.log_ratio for entry in found] == [pytest.approx(0, abs=1e-6)] * 4


def test_records_of_before_are_read_as_they_were():
    old = trial(1, SINGLE, 9000)
    assert old.trial.slowed is None
    (visit,) = visits_of([replace(old, ends=(SINGLE, SINGLE))], (SINGLE,))
    assert visit.short_trials[0].ends == (SINGLE, SINGLE)
    assert isinstance(old, LabelledTrial)
