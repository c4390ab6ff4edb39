"""The overhead of measuring is compared round by round within one placement class."""

import overhead
import pytest

from nfvbed.records import CoreDistance


def round_of(number: int, rates: tuple[float, ...], distance: float = 30.0, pressure: float = 0.0):
    """Return a round: off, stamps, telemetry, both."""
    place = CoreDistance(before=distance, after=distance)
    return [
        overhead.Trial(number, side, rate, place, pressure) for side, rate in zip(overhead.SIDES, rates, strict=True)
    ]


def test_classes_are_kept_apart_and_disturbed_rounds_are_left_out():
    trials = [
        *round_of(0, (10, 9, 10, 8)),
        *round_of(1, (20, 18, 19, 18)),
        *round_of(2, (4, 4, 4, 2), 150),
        *round_of(3, (4, 4, 4, 2), 151),
        *round_of(4, (10, 1, 1, 1), pressure=0.5),
        *round_of(5, (10, 1, 1, 1))[:3],
    ]
    found = {(row.placement, row.side): row for row in overhead.results_of(trials, 0.1)}
    assert found["near", "stamps"].ratios == [0.9, 0.9]
    assert found["near", "both"].ratios == [0.8, 0.9]
    assert found["near", "both"].off_mpps == [10, 20]
    assert found["far", "both"].ratios == [0.5, 0.5]
    assert found["far", "both"].interval is not None
    assert found["far", "both"].interval.low == pytest.approx(0.5)


def test_a_round_that_changed_its_class_counts_for_none():
    moved = round_of(0, (10, 9, 10, 8))[:2] + round_of(0, (10, 9, 10, 8), 150)[2:]
    assert overhead.results_of(moved, 0.1) == []
