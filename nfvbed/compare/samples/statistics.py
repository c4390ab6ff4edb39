"""Medians, means and their intervals on samples: the rates of visits, or of trials.

Rates scatter with a tail of disturbed ones, so medians are used; means appear only beside published figures that are
means. Intervals are exact and need no random numbers: the same records always give the same ones. How two sides are
compared is in `ranks`.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, exp, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nfvbed.compare.samples.ranks import Interval, rank_shift
from nfvbed.distributions import student_half_width
from nfvbed.records import Record

__all__ = [
    "LEVEL",
    "LEVELS_OF_MEANS",
    "Interval",
    "MeanAndIntervals",
    "interquartile_range",
    "mean_interval",
    "mean_with_intervals",
    "median",
    "median_interval",
    "ratio_interval",
]

LEVEL: Final = 0.95
LEVELS_OF_MEANS: Final = (0.95, 0.99)
"""What published means are given with."""


class MeanAndIntervals(Record):
    """A mean as papers give it."""

    mean: float
    intervals: tuple[Interval, ...]
    """Student's, at each of `LEVELS_OF_MEANS`; empty below two samples."""


FEW: Final = 100
"""Samples of which a median is found sooner without an array; a comparison has thousands of such medians."""


def _array(samples: Sequence[float]) -> NDArray[np.float64]:
    return np.asarray(samples, dtype=np.float64)


def median(samples: Sequence[float]) -> float:
    """Return the median; the samples must not be empty."""
    if len(samples) > FEW:
        return float(np.median(_array(samples)))
    ordered, half = sorted(samples), len(samples) // 2
    return float(ordered[half] if len(samples) % 2 else (ordered[half - 1] + ordered[half]) / 2)


def interquartile_range(samples: Sequence[float]) -> float:
    """Return the distance between the quartiles (linear interpolation, as NumPy's default)."""
    if len(samples) > FEW:
        low, high = np.quantile(_array(samples), [0.25, 0.75])
        return float(high - low)
    ordered = sorted(samples)
    return float(_quantile(ordered, 0.75) - _quantile(ordered, 0.25))


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median_interval(samples: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Return the interval of the median between two order statistics, which covers for every distribution.

    The k-th least and k-th greatest of n samples enclose the median unless fewer than k lie on one side of it. That is
    binomial (David and Nagaraja, Order Statistics, 2003, section 7.1). At 95 % it takes six samples.

    Returns:
        The narrowest interval of at least the level, with the level it attains; the range (`is_range`) where the
        samples are too few for the level; None below two samples.
    """
    if len(samples) < 2:
        return None
    values = np.sort(_array(samples))
    rank = _rank_of_bound(len(values), level)
    if rank == 0:
        return Interval(low=float(values[0]), high=float(values[-1]), level=0.0, is_range=True)
    outside = 2 * sum(comb(len(values), below) for below in range(rank)) / 2 ** len(values)
    return Interval(low=float(values[rank - 1]), high=float(values[-rank]), level=1 - outside)


@lru_cache(maxsize=256)
def _rank_of_bound(count: int, level: float) -> int:
    """Return the largest k at which the k-th least and greatest sample enclose the median at the level; 0: none."""
    # A little slack, so that a level which is attained exactly is not missed by rounding.
    allowed = (1 - level) / 2 * 2**count * (1 + 1e-9)
    rank = total = 0
    while (total := total + comb(count, rank)) <= allowed:
        rank += 1
    return rank


def ratio_interval(samples: Sequence[float], baseline: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Return the interval of the ratio of two sides that are not paired: the Hodges-Lehmann shift of their logarithms.

    Returns:
        The range of the extreme ratios (`is_range`) where there are too few samples for the level; None below two
        samples a side, or where a side has a rate that is not positive.
    """
    if min(len(samples), len(baseline)) < 2 or min(*samples, *baseline) <= 0:
        return None
    found = rank_shift([log(value) for value in samples], [log(value) for value in baseline], 1 - level)
    if found.interval is None:
        low, high = min(samples) / max(baseline), max(samples) / min(baseline)
        return Interval(low=low, high=high, level=0.0, is_range=True)
    return Interval(low=exp(found.interval.low), high=exp(found.interval.high), level=found.interval.level)


def mean_interval(samples: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Return Student's interval of the mean, for figures that are published as means; None below two samples."""
    if len(samples) < 2:
        return None
    values = _array(samples)
    half = student_half_width(level, len(values) - 1) * float(values.std(ddof=1)) / sqrt(len(values))
    return Interval(low=float(values.mean()) - half, high=float(values.mean()) + half, level=level)


def mean_with_intervals(samples: Sequence[float]) -> MeanAndIntervals:
    """Return the mean with its intervals at the levels that papers use; the samples must not be empty."""
    found = (mean_interval(samples, level) for level in LEVELS_OF_MEANS)
    return MeanAndIntervals(
        mean=float(_array(samples).mean()), intervals=tuple(interval for interval in found if interval)
    )
