"""Medians, intervals and tests on the raw samples of a cell.

Trials of one placement class scatter by 1-5 % with a tail of disturbed ones, so medians and rank tests are
used; means appear only beside published figures that are means. Every random step is seeded: the same
records always give the same numbers.
"""

from collections.abc import Sequence
from math import comb, pi, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from nfvbed.records import Record

LEVEL: Final = 0.95
RESAMPLES: Final = 2_000
SEED: Final = 20_240_229
"""Any constant will do; it is part of the method so that reports are reproducible."""
POWER: Final = 0.8
EXACT_SAMPLES: Final = 25
"""Up to here a side the exact distribution of U is used; above it the normal approximation is as good."""


class Interval(Record):
    """A confidence interval."""

    low: float
    high: float
    level: float = LEVEL


def _array(samples: Sequence[float]) -> NDArray[np.float64]:
    return np.asarray(samples, dtype=np.float64)


def median(samples: Sequence[float]) -> float:
    """Give the median; the samples must not be empty."""
    return float(np.median(_array(samples)))


def interquartile_range(samples: Sequence[float]) -> float:
    """Give the distance between the quartiles (linear interpolation, as NumPy's default)."""
    low, high = np.quantile(_array(samples), [0.25, 0.75])
    return float(high - low)


def _bootstrap_medians(samples: Sequence[float], rng: np.random.Generator) -> NDArray[np.float64]:
    values = _array(samples)
    picked = rng.integers(0, len(values), (RESAMPLES, len(values)))
    medians: NDArray[np.float64] = np.median(values[picked], axis=1)
    return medians


def _percentile_interval(statistic: NDArray[np.float64], level: float) -> Interval:
    tail = (1 - level) / 2
    low, high = np.quantile(statistic, [tail, 1 - tail])
    return Interval(low=float(low), high=float(high), level=level)


def median_interval(samples: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Give the percentile-bootstrap interval of the median, or None below two samples.

    The percentile method (Efron and Tibshirani, 1993, chapter 13) is used rather than BCa: BCa's acceleration
    is a jackknife, which is not consistent for a median.
    """
    if len(samples) < 2:
        return None
    return _percentile_interval(_bootstrap_medians(samples, np.random.default_rng(SEED)), level)


def ratio_interval(samples: Sequence[float], baseline: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Give the percentile-bootstrap interval of the ratio of medians, sides resampled on their own.

    Returns:
        None below two samples a side, or where a baseline of zero occurs.
    """
    if min(len(samples), len(baseline)) < 2:
        return None
    rng = np.random.default_rng(SEED)
    upper, lower = _bootstrap_medians(samples, rng), _bootstrap_medians(baseline, rng)
    if (lower <= 0).any():
        return None
    return _percentile_interval(upper / lower, level)


def mean_interval(samples: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Give Student's interval of the mean, for figures that are published as means; None below two samples."""
    if len(samples) < 2:
        return None
    values = _array(samples)
    half = float(stats.t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / sqrt(len(values)))
    return Interval(low=float(values.mean()) - half, high=float(values.mean()) + half, level=level)


def rank_test(samples: Sequence[float], baseline: Sequence[float]) -> float:
    """Give the two-sided p-value of the Mann-Whitney U test that both sides come from one distribution.

    Exact for small sides; with ties a permutation test, since the exact tables assume that there are none.
    """
    left, right = _array(samples), _array(baseline)
    joined = np.concatenate([left, right])
    if np.ptp(joined) == 0:
        return 1.0
    if max(len(left), len(right)) > EXACT_SAMPLES:
        method: object = "asymptotic"
    elif len(np.unique(joined)) == len(joined):
        method = "exact"
    else:
        method = stats.PermutationMethod(n_resamples=9_999, rng=np.random.default_rng(SEED))
    return float(stats.mannwhitneyu(left, right, alternative="two-sided", method=method).pvalue)


def smallest_p_value(count: int, baseline_count: int) -> float:
    """Give the p-value of two sides that do not overlap at all: what so few samples can reach at best."""
    return 2 / comb(count + baseline_count, count) if count and baseline_count else 1.0


def detectable_difference(samples: Sequence[float], baseline: Sequence[float], alpha: float) -> float | None:
    """Give the relative difference that these samples would have shown with 80 % power.

    Normal approximation of the two-sided test with the pooled relative spread that was seen, and the rank
    test's asymptotic relative efficiency of 3/pi.

    Returns:
        A fraction of the baseline's median (0.02: two per cent); None where the spread is unknown.
    """
    sides = [_array(samples), _array(baseline)]
    if min(len(side) for side in sides) < 2 or min(float(np.median(side)) for side in sides) <= 0:
        return None
    freedom = sum(len(side) - 1 for side in sides)
    squares = sum(float((((side - side.mean()) / np.median(side)) ** 2).sum()) for side in sides)
    spread = sqrt(squares / freedom)
    quantiles = float(stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(POWER))
    return quantiles * spread * sqrt(sum(1 / len(side) for side in sides)) * sqrt(pi / 3)
