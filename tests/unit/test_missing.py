"""Missing frames are those that were lost or refused, of those that were asked for."""

import pytest

from nfvbed.records import DirectionCounts, TrialRecord
from nfvbed.records.missing import missing_of, missing_ratio
from nfvbed.records.quality import QualityWarning
from tests.sample_records import OVS, Scenario, build


def test_late_frames_count_on_neither_side():
    assert missing_ratio(lost=10, unsent=40, late=20, intended=1020) == pytest.approx(0.03)
    assert missing_ratio(lost=0, unsent=0, late=0, intended=0) is None
    assert missing_ratio(lost=0, unsent=5, late=5, intended=5) is None, "nothing was asked for"


def with_counts(counts: DirectionCounts, *warnings: QualityWarning) -> TrialRecord:
    trial = build(Scenario(systems=(OVS,), rounds=1)).trials[1]
    return trial.model_copy(update={"directions": (counts, counts), "warnings": warnings})


def test_a_refusal_is_missing_as_a_loss_is():
    """A bridge refuses what it cannot take: 0.0006 % were lost of the sent ones, and 3 % of the intended missed."""
    counts = DirectionCounts(intended=1_000_000, sent=970_006, received=970_000, lost=6, unsent=29_994)
    assert missing_of([with_counts(counts)]) == pytest.approx(0.03)


def test_a_generator_that_is_too_slow_has_no_late_frames_to_excuse():
    counts = DirectionCounts(intended=1000, sent=900, received=900, lost=0, unsent=100, late=100)
    assert missing_of([with_counts(counts)]) == 0
    assert missing_of([with_counts(counts, QualityWarning.GENERATOR_LIMITED)]) == pytest.approx(0.1)
    assert missing_of([]) is None
