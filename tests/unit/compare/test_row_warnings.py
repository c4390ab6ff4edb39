"""Warnings that only all trials of a row show: scatter over the bound, a class that changed, too few repetitions."""

import dataclasses

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.rows.rowwarnings import spread
from nfvbed.compare.verdict import Rules
from nfvbed.records import QualityWarning
from tests.sample_records import BRIDGE, CEILINGS, OVS, Scenario, build

CELL = "ovs-dpdk/p2p/64"


def kinds(found: Comparison, cell: str = CELL) -> dict[QualityWarning, str]:
    row = next(row for row in found.rows if row.cell == cell)
    return {warning.kind: warning.detail for warning in row.warnings}


def scattered(noise: float, **changes: object) -> Scenario:
    noisy = dataclasses.replace(OVS, noise=noise)
    return Scenario(systems=(BRIDGE, noisy, *CEILINGS), far_rounds=(), changing=(), **changes)


def test_unstable_is_a_spread_over_the_declared_bound():
    data = build(scattered(0.2))
    found = kinds(compare([data]))
    assert "apart, bound 5.0%" in found[QualityWarning.UNSTABLE]
    assert QualityWarning.UNSTABLE not in kinds(compare([data], ComparisonOptions(rules=Rules(max_spread=0.9))))
    assert QualityWarning.UNSTABLE not in kinds(compare([build(scattered(0.01))]))


def test_the_spread_is_the_interquartile_range_over_the_median():
    assert spread([90, 95, 100, 105, 110]) == pytest.approx(0.1)
    assert spread([1, 100]) is None
    assert spread([0, 0, 0]) is None


def test_a_class_that_changed_within_a_trial_is_counted_and_not_used():
    scenario = Scenario(rounds=9, far_rounds=(2, 5), changing=((7, CELL), (8, CELL)))
    found = compare([build(scenario)], ComparisonOptions(placement_class="near"))
    assert kinds(found)[QualityWarning.PLACEMENT_CHANGED] == "2/9, not used"
    assert QualityWarning.PLACEMENT_CHANGED not in kinds(found, "linux-bridge/p2p/64")
    assert QualityWarning.PLACEMENT_CHANGED not in kinds(compare([build(scenario)])), "over all states they are used"


def test_classes_that_differ_are_no_lack_of_stability():
    found = compare([build(Scenario(rounds=9, far_rounds=(1, 3, 5, 7), changing=()))])
    assert QualityWarning.UNSTABLE not in kinds(found)


def test_too_few_repetitions_say_how_many_were_asked_for():
    row = next(row for row in compare([build(scattered(0.01, rounds=3))]).rows if row.cell == CELL)
    (warning,) = (entry for entry in row.warnings if entry.kind is QualityWarning.TOO_FEW_REPETITIONS)
    assert (warning.trials, warning.of) == (3, 8)
