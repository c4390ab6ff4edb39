"""Exact rank tests with the estimates and intervals that belong to them, for paired and for unpaired sides.

Both count on which side of zero pairwise figures lie: the signed-rank test the averages of all two samples (Walsh
averages), the Mann-Whitney test the differences of all samples of one side to all of the other. The median of the same
figures estimates the shift (Hodges and Lehmann, 1963), and its interval lies between two of them, found by the test's
own distribution. So both agree: the interval leaves out zero exactly where the p-value is at most `attained`. The test
on spread is made in the same way, from how far each side moved between every two rounds.

Figures of zero, and so ties, count against a difference: p-value and interval stay valid and become cautious
(Noether, Journal of the American Statistical Association 62, 1967).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nfvbed.distributions import below_inversions, below_normal
from nfvbed.records import Record

EXACT_PAIRS: Final = 150
"""Up to here the exact distribution is used; above it the normal approximation is as good."""
EXACT_SIDE: Final = 50
"""The same for each of two sides."""
LARGEST_LOG: Final = 100.0
"""Stands for an infinite log ratio: to a side that forwarded nothing, or that did not move at all."""
SLACK: Final = 1e-9
"""Relative; so that a level which is attained exactly is not missed by rounding."""


class Interval(Record):
    """A confidence interval, or the range of samples that are too few for one."""

    low: float
    high: float
    level: float
    """The level that is attained exactly, at least the one asked for; 0 for a range."""
    is_range: bool = False
    """The least and the greatest sample: it shows the scatter and covers at no level."""


class RankResult(Record):
    """What a rank test says of a shift."""

    estimate: float
    """Hodges and Lehmann's."""
    interval: Interval | None
    """None where so few samples cannot reach the level."""
    p_value: float
    """Two-sided."""
    attained: float
    """The two-sided error of the interval: the largest attainable one that is not above the one asked for; 0: none."""

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out zero, which is so exactly where p is at most `attained`."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)


def signed_rank(log_ratios: Sequence[float], alpha: float) -> RankResult:
    """Test paired log ratios against zero by the exact signed-rank test (Wilcoxon, 1945).

    Args:
        log_ratios: at least one, finite; in any order.
        alpha: two-sided error that the interval may have.
    """
    values = np.asarray(log_ratios, dtype=np.float64)
    first, second = _corners(len(values))
    return _judge((values[first] + values[second]) / 2, _below_signed_rank(len(values)), alpha)


def rank_shift(samples: Sequence[float], baseline: Sequence[float], alpha: float) -> RankResult:
    """Test two unpaired sides for a shift by the exact Mann-Whitney test (Mann and Whitney, 1947).

    Args:
        samples: at least one, finite; logarithms where the shift is to be a ratio.
        baseline: likewise.
        alpha: two-sided error that the interval may have.
    """
    upper, lower = np.asarray(samples, dtype=np.float64), np.asarray(baseline, dtype=np.float64)
    return _judge((upper[:, None] - lower[None, :]).ravel(), _below_mann_whitney(len(upper), len(lower)), alpha)


def rank_spread(samples: Sequence[float], baseline: Sequence[float], alpha: float) -> RankResult:
    """Test paired samples for a difference of spread: Pitman and Morgan's test with Kendall's tau.

    Two paired sides spread alike exactly where their sum and their difference are uncorrelated (Pitman, Biometrika 31,
    1939; Morgan, same volume), also where both follow a third thing. Sum and difference of two rounds are concordant
    where the one side moved further between these rounds than the other did. So Kendall's statistic counts the pairs of
    rounds in which it did, and no centre has to be estimated. The ratios of both ways give estimate and interval.
    McCulloch (Communications in Statistics 16, 1987) recommends a rank correlation here where tails are heavy.

    Args:
        samples: at least two, finite; logarithms where spread is to be a part of the rate.
        baseline: those of the same rounds, in the same order.
        alpha: two-sided error that the interval may have.

    Returns:
        The result for the logarithm of the ratio of both spreads.
    """
    first, second = np.triu_indices(len(samples), 1)
    ways = [np.abs(side[first] - side[second]) for side in (np.asarray(samples, float), np.asarray(baseline, float))]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where neither side moved neither moved further: 0 / 0 counts as a tie.
        figures = np.nan_to_num(np.log(ways[0] / ways[1]), nan=0.0, posinf=LARGEST_LOG, neginf=-LARGEST_LOG)
    return _judge(figures, _below_kendall(len(samples)), alpha)


def _judge(figures: NDArray[np.float64], below: NDArray[np.float64], alpha: float) -> RankResult:
    """Return test, estimate and interval from pairwise figures.

    Args:
        figures: Walsh averages, differences, or log ratios of ways.
        below: at index k the chance, without a shift, that at most k of them are above zero.
        alpha: two-sided error.
    """
    figures = np.sort(figures)
    not_above = int(figures.searchsorted(0.0, side="right"))
    not_below = len(figures) - int(figures.searchsorted(0.0, side="left"))
    p_value = min(1.0, 2 * float(below[min(not_above, not_below)]))
    # The number of figures that may lie outside on each side.
    outside = int(np.searchsorted(2 * below, alpha * (1 + SLACK), side="right"))
    interval, attained = None, 0.0
    if outside:
        attained = 2 * float(below[outside - 1])
        interval = Interval(low=float(figures[outside - 1]), high=float(figures[-outside]), level=1 - attained)
    return RankResult(estimate=_middle(figures), interval=interval, p_value=p_value, attained=attained)


def _middle(ordered: NDArray[np.float64]) -> float:
    """Return the median of figures in order, which NumPy would order again."""
    half = len(ordered) // 2
    return float(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)


@lru_cache(maxsize=64)
def _corners(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    first, second = np.triu_indices(count)
    return first, second


@lru_cache(maxsize=64)
def _below_signed_rank(count: int) -> NDArray[np.float64]:
    """Return the distribution function of the sum of the ranks 1 to n of which each counts with the chance one half."""
    largest = count * (count + 1) // 2
    if count > EXACT_PAIRS:
        return _below_normal(largest, sqrt(count * (count + 1) * (2 * count + 1) / 24))
    chances = np.zeros(largest + 1)
    chances[0] = 1.0
    for rank in range(1, count + 1):
        chances[rank:] = (chances[rank:] + chances[:-rank]) / 2
        chances[:rank] /= 2
    return np.cumsum(chances)


@lru_cache(maxsize=64)
def _below_mann_whitney(count: int, baseline_count: int) -> NDArray[np.float64]:
    """Return the distribution function of the number of pairs in which the one side is above the other."""
    largest = count * baseline_count
    if max(count, baseline_count) > EXACT_SIDE:
        return _below_normal(largest, sqrt(largest * (count + baseline_count + 1) / 12))
    # Ways to pick so many of the ranks 0 to m + n - 1 with such a sum.
    ways = np.zeros((count + 1, (count + baseline_count) * count + 1))
    ways[0, 0] = 1.0
    for rank in range(count + baseline_count):
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    least = count * (count - 1) // 2
    of_all = ways[count, least : least + largest + 1]
    return np.asarray(np.cumsum(of_all) / of_all.sum())


@lru_cache(maxsize=64)
def _below_kendall(count: int) -> NDArray[np.float64]:
    """Return the distribution function of the concordant pairs of n samples: inversions of a random order."""
    largest = count * (count - 1) // 2
    if count > EXACT_PAIRS:
        return _below_normal(largest, sqrt(count * (count - 1) * (2 * count + 5) / 72))
    return below_inversions(count)


def _below_normal(largest: int, deviation: float) -> NDArray[np.float64]:
    """Approximate the distribution function of a count between 0 and the largest, with the correction of a half."""
    return below_normal((np.arange(largest + 1) + 0.5 - largest / 2) / deviation)
