"""The distributions behind tests and intervals: normal, Student's, Fisher's and Kendall's.

They are few, and are written out here: with SciPy the viewer of a store would be half as large again. The tests hold
each against SciPy's.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import atan2, comb, cos, erfc, exp, lgamma, log, log1p, pi, sin, sqrt
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

EXACT_TREND: Final = 33
"""Up to so many samples without ties Kendall's tau has its exact distribution."""


def below_normal(values: ArrayLike) -> NDArray[np.float64]:
    """Return the chance that a standard normal value is at most each of these."""
    return np.array([erfc(-value / sqrt(2)) / 2 for value in np.asarray(values, dtype=np.float64).tolist()])


def normal_quantiles(chances: ArrayLike) -> NDArray[np.float64]:
    """Return the standard normal quantiles of probabilities, each between 0 and 1."""
    quantile = NormalDist().inv_cdf
    return np.array([quantile(chance) for chance in np.asarray(chances, dtype=np.float64).tolist()])


def within_student(value: float, freedom: int) -> float:
    """Return the chance that Student's t is between minus the value and the value (Abramowitz and Stegun, 26.7.3/4).

    Args:
        value: not negative.
        freedom: whole degrees of freedom, at least one.
    """
    angle = atan2(value, sqrt(freedom))
    odd = freedom % 2
    term = sin(angle) * (cos(angle) if odd else 1.0)
    total = 0.0
    for place in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (place - 1) / place
    return 2 / pi * (angle + total) if odd else total


@lru_cache(maxsize=256)
def student_half_width(level: float, freedom: int) -> float:
    """Return the t for which Student's distribution has a given probability between -t and t.

    Args:
        level: the probability, at least 0, below 1.
        freedom: whole degrees of freedom, at least one.
    """
    low, high = 0.0, 1.0
    while within_student(high, freedom) < level:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if within_student(middle, freedom) < level else (low, middle)
    return high


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return the ranks from 1 on; equal values have the mean of theirs."""
    _, place, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def fisher_exact(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided p-value of Fisher's test on two pairs of counts: all tables that are not likelier."""
    row, column = sum(first), first[0] + second[0]
    other = sum(second)
    weights = {
        count: comb(row, count) * comb(other, column - count)
        for count in range(max(0, column - other), min(row, column) + 1)
    }
    seen = weights[first[0]]
    return sum(weight for weight in weights.values() if weight <= seen) / sum(weights.values())


def trend(values: Sequence[float]) -> float:
    """Return the two-sided p-value of Kendall's tau between values and their places; a small one means that they trend.

    Exact for few values without ties, otherwise by the normal approximation with its correction for ties.

    Args:
        values: at least two, in order.
    """
    ordered = np.asarray(values, dtype=np.float64)
    count = len(ordered)
    first, second = np.triu_indices(count, 1)
    signs = np.sign(ordered[second] - ordered[first])
    falling = int((signs < 0).sum())
    ties = np.unique(ordered, return_counts=True)[1]
    if count == 1 or len(ties) == 1:
        return float("nan")
    fewer = min(falling, len(signs) - falling)
    if len(ties) == count and (count <= EXACT_TREND or fewer <= 1):
        return min(1.0, 2 * float(below_inversions(count)[fewer]))
    pairs = count * (count - 1)
    variance = (pairs * (2 * count + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    return erfc(abs(float(signs.sum())) / sqrt(variance) / sqrt(2))


@lru_cache(maxsize=64)
def below_inversions(count: int) -> NDArray[np.float64]:
    """Return the distribution function of the number of inversions in a random order."""
    largest = count * (count - 1) // 2
    chances = np.zeros(largest + 1)
    chances[0] = 1.0
    for placed in range(2, count + 1):
        # The next one is inverted with 0 to all of those that are placed, each as likely.
        chances = np.convolve(chances, np.full(placed, 1 / placed))[: largest + 1]
    return np.cumsum(chances)


def binomial_bounds(hits: int, tries: int, level: float = 0.95) -> tuple[float, float]:
    """Return the two-sided exact interval of a chance from counts (Clopper and Pearson, Biometrika 26, 1934)."""
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _where_binomial(hits - 1, tries, 1 - tail)
    high = 1.0 if hits == tries else _where_binomial(hits, tries, tail)
    return low, high


def _where_binomial(most: int, tries: int, chance: float) -> float:
    """Return the chance of a hit at which at most so many hits come with the chance given, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _below_binomial(most, tries, middle) > chance:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _below_binomial(most: int, tries: int, chance: float) -> float:
    if not 0 < chance < 1:
        return 1.0 if chance <= 0 or most >= tries else 0.0
    ways = (lgamma(tries + 1) - lgamma(k + 1) - lgamma(tries - k + 1) for k in range(most + 1))
    return sum(exp(w + k * log(chance) + (tries - k) * log1p(-chance)) for k, w in enumerate(ways))
