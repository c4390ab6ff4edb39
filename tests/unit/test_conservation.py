"""The laws of conservation of one direction, and what is made of stored counts that break them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nfvbed.conservation import COUNTS, balance, conserved, fault_of
from nfvbed.records import DirectionCounts, Engine, Preset, QualityWarning, TrialRecord
from tests.sample_records import RUN

SECOND = 1_000_000_000
GOOD = {"intended": 100, "sent": 90, "received": 80, "lost": 10, "unsent": 10, "late": 4}
STORED = st.dictionaries(st.sampled_from(COUNTS), st.integers(-(10**6), 10**6))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lost": -1, "received": 91}, "negative: lost -1"),
        ({"refused": -1}, "negative: refused -1"),
        ({"received": 81}, "received 81 and lost 10 are not the 90 sent"),
        ({"intended": 101}, "sent 90 and unsent 10 are not the 101 intended"),
        ({"late": 11}, "late 11 of 10 unsent"),
        ({"surplus": 1}, "a surplus of 1 with 0 duplicated"),
        ({"received_in_time": 81}, "received in time 81 of 80"),
    ],
)
def test_counts_that_break_a_law_are_no_value(change, said):
    DirectionCounts(**GOOD)
    with pytest.raises(ValidationError, match=said):
        DirectionCounts(**GOOD | change)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_of_two_counts_nothing_is_lost_and_nothing_is_made(sent, counted):
    found = balance(sent, counted)
    assert found.received + found.lost == sent and found.received + found.surplus == counted
    assert not (found.lost and found.surplus)


@given(STORED)
def test_stored_counts_are_read_as_they_can_be(stored):
    found = conserved(stored)
    assert fault_of(dict.fromkeys(COUNTS, 0) | found) == ""
    assert conserved(found) == found


def test_stored_counts_that_keep_the_laws_are_as_they_were():
    assert conserved(GOOD) == GOOD


def stored(**changes):
    """Return a trial as a former version stored it, in two directions."""
    ways = [{"intended": 1000, "sent": 1000, "received": 900, "lost": 100}, {"intended": 1000, "sent": 1000} | changes]
    return {
        "run": RUN, "cell": "c", "sequence": 1, "round": 1, "preset": "mrr", "started_at": "2026-01-01T00:00:00",
        "intended_load_pps": None, "offered_load_pps": 2000, "forwarded_rate_pps": 900 + changes["received"],
        "directions": ways, "duration_ns": SECOND, "engine": {"name": "trex-stl", "version": "1"},
        "warnings": ["frames-unchecked"],
    }  # fmt: skip


def test_an_old_trial_that_received_more_than_it_sent_says_so():
    trial = TrialRecord.model_validate(stored(received=1100, lost=-100))
    assert [(way.received, way.lost, way.duplicated) for way in trial.directions] == [(900, 100, 0), (1000, 0, 100)]
    assert (trial.loss_ratio, trial.forwarded_rate_pps, trial.has_surplus) == (0.05, 1900, True)
    assert trial.warnings == (
        QualityWarning.FRAMES_UNCHECKED,
        QualityWarning.DUPLICATED,
        QualityWarning.LOSS_AT_LEAST,
    )
    assert TrialRecord.model_validate_json(trial.model_dump_json()) == trial


def test_an_old_trial_that_keeps_the_laws_is_as_it_was():
    trial = TrialRecord.model_validate(stored(received=1000, lost=0))
    assert (trial.forwarded_rate_pps, trial.warnings, trial.has_surplus) == (1900, ("frames-unchecked",), False)
    assert "surplus" not in trial.model_dump_json()


def test_a_trial_is_made_of_counts_that_can_be():
    with pytest.raises(ValueError, match="no count is negative"):
        DirectionCounts.counted(10, -1)
    way = DirectionCounts.counted(10, 13, duplicated=2)
    trial = TrialRecord(
        run=RUN, cell="c", sequence=1, round=1, preset=Preset.MRR, started_at="", intended_load_pps=None,
        offered_load_pps=10, forwarded_rate_pps=10, directions=(way,), duration_ns=SECOND,
        engine=Engine(name="n", version="1"),
    )  # fmt: skip
    assert (way.duplicated, way.surplus, trial.has_surplus) == (5, 3, True)
