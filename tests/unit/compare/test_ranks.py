"""Exact rank tests against SciPy and against enumeration of everything that could have happened."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from nfvbed.compare.samples.ranks import rank_shift, signed_rank


@pytest.mark.parametrize("count", [2, 5, 8, 12, 20, 40])
def test_signed_rank_agrees_with_scipy(count: int):
    rng = np.random.default_rng(count)
    for _ in range(20):
        values = rng.normal(0.3, 1, count)
        expected = stats.wilcoxon(values, method="exact").pvalue
        assert signed_rank(values.tolist(), 0.05).p_value == pytest.approx(expected)


@pytest.mark.parametrize(("count", "other"), [(1, 4), (4, 4), (5, 9), (12, 8), (30, 30)])
def test_rank_shift_agrees_with_scipy(count: int, other: int):
    rng = np.random.default_rng(100 * count + other)
    for _ in range(20):
        left, right = rng.normal(0.5, 1, count), rng.normal(0, 1, other)
        expected = stats.mannwhitneyu(left, right, method="exact").pvalue
        assert rank_shift(left.tolist(), right.tolist(), 0.05).p_value == pytest.approx(expected)


def test_signed_rank_of_all_signs_enumerated():
    sizes = np.array([0.3, 1.1, 1.7, 2.9, 3.1, 4.6])
    ranks = np.arange(1, 7)
    sums = np.array([ranks[np.array(signs)].sum() for signs in product((False, True), repeat=6)])
    for signs in product((-1, 1), repeat=6):
        positive = ranks[np.array(signs) > 0].sum()
        expected = min(1.0, 2 * np.mean(sums <= min(positive, ranks.sum() - positive)))
        assert signed_rank((sizes * signs).tolist(), 0.05).p_value == pytest.approx(expected)


def test_rank_shift_of_all_orders_enumerated():
    values = np.array([0.2, 0.9, 1.4, 2.2, 3.7, 5.1, 5.8])
    counts = []
    for own in combinations(range(7), 3):
        rest = [place for place in range(7) if place not in own]
        counts.append((own, rest, sum(values[a] > values[b] for a in own for b in rest)))
    every = np.array([above for _, _, above in counts])
    for own, rest, above in counts:
        expected = min(1.0, 2 * np.mean(every <= min(above, 12 - above)))
        found = rank_shift(values[list(own)].tolist(), values[rest].tolist(), 0.05)
        assert found.p_value == pytest.approx(expected)


@pytest.mark.parametrize(("count", "attained"), [(7, 0.015625), (8, 0.0234375), (12, 0.02099609375)])
def test_levels_that_looks_attain(count: int, attained: float):
    found = signed_rank([float(value) for value in range(1, count + 1)], 0.025)
    assert found.attained == attained
    assert found.interval is not None and found.interval.level == 1 - attained


def test_so_few_pairs_have_no_interval():
    found = signed_rank([1.0, 2.0, 3.0, 4.0, 5.0], 0.05)
    assert (found.interval, found.attained, found.decided) == (None, 0.0, False)
    assert found.p_value == pytest.approx(2 / 32)
    assert rank_shift([1, 2, 3], [4, 5, 6], 0.05).interval is None
    assert rank_shift([1, 2, 3, 4], [5, 6, 7, 8], 0.05).attained == pytest.approx(2 / 70)


@pytest.mark.parametrize("grid", [None, 1.0, 0.25])
def test_test_and_interval_agree_with_ties_and_zeros_as_well(grid: float | None):
    rng = np.random.default_rng(7)
    for _ in range(300):
        paired, left, right = rng.normal(0.5, 1, 9), rng.normal(0.8, 1, 6), rng.normal(0, 1, 7)
        if grid:
            paired, left, right = (np.round(values / grid) * grid for values in (paired, left, right))
        for found in (signed_rank(paired.tolist(), 0.05), rank_shift(left.tolist(), right.tolist(), 0.05)):
            assert found.decided is (found.p_value <= found.attained)


def test_ties_and_zeros_are_cautious():
    assert signed_rank([0.0] * 8, 0.05).p_value == 1.0
    assert rank_shift([5, 5, 5, 5], [5, 5, 5, 5], 0.05).p_value == 1.0
    assert (
        signed_rank([0.0, 1, 1, 1, 1, 1, 1, 1], 0.05).p_value >= signed_rank([0.1, 1, 2, 3, 4, 5, 6, 7], 0.05).p_value
    )


def test_estimates_are_hodges_and_lehmanns():
    assert signed_rank([1.0, 2.0, 4.0], 0.05).estimate == np.median([1, 1.5, 2, 2.5, 3, 4])
    assert rank_shift([1.0, 5.0], [0.0, 1.0], 0.05).estimate == np.median([1, 0, 5, 4])


@pytest.mark.parametrize("count", [8, 12])
def test_paired_intervals_cover_at_their_level(count: int):
    rng = np.random.default_rng(11)
    found = [signed_rank(values, 0.025) for values in (0.4 + rng.standard_t(3, (3_000, count))).tolist()]
    held = [entry.interval is not None and entry.interval.low <= 0.4 <= entry.interval.high for entry in found]
    assert np.mean(held) == pytest.approx(1 - found[0].attained, abs=0.011)


def test_shift_intervals_cover_at_their_level():
    rng = np.random.default_rng(13)
    found = [
        rank_shift(left.tolist(), right.tolist(), 0.05)
        for left, right in zip(0.4 + rng.standard_t(3, (2_000, 6)), rng.standard_t(3, (2_000, 8)), strict=True)
    ]
    held = [entry.interval is not None and entry.interval.low <= 0.4 <= entry.interval.high for entry in found]
    assert np.mean(held) == pytest.approx(1 - found[0].attained, abs=0.02)


def test_many_samples_use_the_approximation():
    rng = np.random.default_rng(17)
    values = rng.normal(0.1, 1, 200)
    assert signed_rank(values.tolist(), 0.05).p_value == pytest.approx(
        stats.wilcoxon(values, correction=True, method="asymptotic").pvalue, rel=1e-6
    )
    left, right = rng.normal(0.2, 1, 60), rng.normal(0, 1, 80)
    assert rank_shift(left.tolist(), right.tolist(), 0.05).p_value == pytest.approx(
        stats.mannwhitneyu(left, right, method="asymptotic").pvalue, rel=1e-6
    )
