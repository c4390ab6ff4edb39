"""Intervals against truth: known distributions and published values."""

import numpy as np
import pytest
from scipy import stats

from nfvbed.compare.samples.statistics import (
    interquartile_range,
    mean_interval,
    mean_with_intervals,
    median,
    median_interval,
    ratio_interval,
)


@pytest.mark.parametrize("count", range(6, 13))
def test_median_interval_covers_at_the_level_that_it_names(count: int):
    rng = np.random.default_rng(count)
    true = float(np.exp(0.3))
    found = [median_interval(values) for values in rng.lognormal(0.3, 1, (2_000, count)).tolist()]
    levels = {entry.level for entry in found if entry is not None}
    assert len(levels) == 1 and min(levels) >= 0.95
    held = [entry is not None and entry.low <= true <= entry.high for entry in found]
    assert np.mean(held) == pytest.approx(levels.pop(), abs=0.015)


@pytest.mark.parametrize(("count", "place"), [(6, 0), (8, 0), (9, 1), (12, 2), (20, 5)])
def test_median_interval_lies_between_the_samples_of_the_tables(count: int, place: int):
    # Ranks of the 95 % interval of a median: Conover, Practical Nonparametric Statistics, 1999, table A3.
    interval = median_interval([float(value) for value in range(count)])
    assert interval is not None
    assert (interval.low, interval.high) == (place, count - 1 - place)
    assert interval.level == pytest.approx(1 - 2 * stats.binom.cdf(place, count, 0.5))


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_below_six_samples_there_is_the_range(count: int):
    interval = median_interval([3.0, 1.0, 7.0, 5.0, 4.0][:count])
    assert interval is not None and interval.is_range and interval.level == 0
    assert (interval.low, interval.high) == (1, 7 if count > 2 else 3)


def test_a_higher_level_takes_more_samples():
    found = median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.99)
    assert found is not None and found.is_range
    found = median_interval([float(value) for value in range(8)], 0.99)
    assert found is not None and not found.is_range and found.level >= 0.99


def test_intervals_need_samples():
    assert median_interval([1.0]) is None
    assert mean_interval([1.0]) is None
    assert ratio_interval([1.0], [1.0, 2.0]) is None
    assert ratio_interval([1.0, 2.0], [0.0, 0.0]) is None


def test_ratio_interval_covers_the_truth():
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(500):
        interval = ratio_interval(rng.normal(103, 1.5, 10).tolist(), rng.normal(100, 1.5, 10).tolist())
        assert interval is not None and 0.95 <= interval.level < 0.97
        covered += interval.low <= 1.03 <= interval.high
    assert covered / 500 >= 0.93


def test_a_ratio_of_so_few_is_the_range_of_the_extremes():
    interval = ratio_interval([4.0, 6.0], [1.0, 2.0])
    assert interval is not None and interval.is_range
    assert (interval.low, interval.high) == (2, 6)


def test_student_interval_of_a_textbook_example():
    interval = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert interval is not None
    assert interval.low == pytest.approx(1.0367, abs=1e-4)
    assert interval.high == pytest.approx(4.9633, abs=1e-4)


def test_means_come_with_the_intervals_that_papers_give():
    found = mean_with_intervals([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found.mean == 3
    assert [interval.level for interval in found.intervals] == [0.95, 0.99]
    assert found.intervals[1].high == pytest.approx(3 + 4.6041 * np.sqrt(0.5), abs=1e-4)
    assert mean_with_intervals([1.0]).intervals == ()


def test_plain_statistics():
    assert median([3, 1, 2]) == 2
    assert interquartile_range([1, 2, 3, 4, 5]) == 2


@pytest.mark.parametrize("count", [1, 2, 3, 4, 11, 12, 100, 101])
def test_quartiles_are_those_of_numpy(count: int):
    samples = np.random.default_rng(count).normal(1e6, 1e4, count)
    low, high = np.quantile(samples, [0.25, 0.75])
    assert interquartile_range(samples.tolist()) == pytest.approx(high - low, rel=1e-9, abs=1e-9)
