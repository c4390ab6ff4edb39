"""Statistics against truth: known distributions, published values, and the rates of wrong verdicts."""

import numpy as np
import pytest
from scipy import stats

from nfvbed.compare.statistics import (
    detectable_difference,
    interquartile_range,
    mean_interval,
    median,
    median_interval,
    rank_test,
    ratio_interval,
    smallest_p_value,
)
from nfvbed.compare.verdict import Rules, Samples, Verdict, judge

PAIRS = 1_000
NOISE = 0.015
REPETITIONS = 10


def verdicts(true_ratio: float, seed: int) -> list[Verdict]:
    rng = np.random.default_rng(seed)
    base = 5e6 * (1 + rng.normal(0, NOISE, (PAIRS, REPETITIONS)))
    candidate = 5e6 * true_ratio * (1 + rng.normal(0, NOISE, (PAIRS, REPETITIONS)))
    rules = Rules()
    return [
        judge(Samples(values=tuple(a)), Samples(values=tuple(b)), rules).verdict
        for a, b in zip(candidate.tolist(), base.tolist(), strict=True)
    ]


def test_equal_systems_are_rarely_judged_different():
    found = verdicts(1.0, seed=1)
    assert sum(v in (Verdict.HIGHER, Verdict.LOWER) for v in found) <= 0.065 * PAIRS
    assert found.count(Verdict.SAME) >= 0.9 * PAIRS


@pytest.mark.parametrize(("ratio", "right"), [(1.03, Verdict.HIGHER), (0.97, Verdict.LOWER)])
def test_a_true_difference_of_three_per_cent_is_seen(ratio: float, right: Verdict):
    assert verdicts(ratio, seed=2).count(right) >= 0.95 * PAIRS


def test_the_test_alone_keeps_its_level():
    rng = np.random.default_rng(3)
    left, right = rng.normal(0, 1, (2, 5_000, REPETITIONS))
    p_values = stats.mannwhitneyu(left, right, axis=1, method="exact").pvalue
    assert np.mean(p_values <= 0.05) < 0.055


def test_rank_test_agrees_with_the_tables():
    assert rank_test([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 70)
    assert smallest_p_value(4, 4) == pytest.approx(2 / 70)
    assert smallest_p_value(3, 3) == pytest.approx(0.1)
    assert rank_test([5, 5, 5, 5], [5, 5, 5, 5]) == 1.0


def test_ties_go_to_a_permutation_test():
    assert rank_test([1, 1, 2, 2], [3, 3, 4, 4]) == pytest.approx(2 / 70)


def test_many_samples_use_the_approximation():
    rng = np.random.default_rng(4)
    left, right = rng.normal(0, 1, 30), rng.normal(0.2, 1, 30)
    assert rank_test(left.tolist(), right.tolist()) == pytest.approx(
        stats.mannwhitneyu(left, right, method="asymptotic").pvalue
    )


def test_student_interval_of_a_textbook_example():
    interval = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert interval is not None
    assert interval.low == pytest.approx(1.0367, abs=1e-4)
    assert interval.high == pytest.approx(4.9633, abs=1e-4)


def test_median_interval_covers_the_truth():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        interval = median_interval(rng.normal(100, 2, 10).tolist())
        assert interval is not None
        covered += interval.low <= 100 <= interval.high
    assert covered / 400 >= 0.90


def test_ratio_interval_covers_the_truth():
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(300):
        interval = ratio_interval(rng.normal(103, 1.5, 10).tolist(), rng.normal(100, 1.5, 10).tolist())
        assert interval is not None
        covered += interval.low <= 1.03 <= interval.high
    assert covered / 300 >= 0.92


def test_intervals_are_reproducible_and_need_samples():
    assert median_interval([1.0, 2.0, 4.0]) == median_interval([1.0, 2.0, 4.0])
    assert median_interval([1.0]) is None
    assert mean_interval([1.0]) is None
    assert ratio_interval([1.0, 2.0], [0.0, 0.0]) is None


def test_detectable_difference_matches_simulation():
    rng = np.random.default_rng(8)
    base = 100 * (1 + rng.normal(0, NOISE, 200))
    size = detectable_difference(base[:100].tolist(), base[100:].tolist(), 0.05)
    assert size is not None
    left = rng.normal(0, NOISE, (2_000, 100))
    right = rng.normal(size, NOISE, (2_000, 100))
    power = np.mean(stats.mannwhitneyu(left, right, axis=1, method="asymptotic").pvalue <= 0.05)
    assert power == pytest.approx(0.8, abs=0.12)
    assert detectable_difference([1.0], [1.0], 0.05) is None
    assert detectable_difference([0.0, 0.0], [1.0, 2.0], 0.05) is None


def test_plain_statistics():
    assert median([3, 1, 2]) == 2
    assert interquartile_range([1, 2, 3, 4, 5]) == 2
