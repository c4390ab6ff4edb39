"""The distributions that are written out, against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from nfvbed import distributions as own


def test_the_normal_distribution_and_its_quantiles():
    values = np.linspace(-8, 8, 161)
    assert own.below_normal(values) == pytest.approx(stats.norm.cdf(values), rel=1e-13, abs=1e-300)
    chances = np.linspace(0.001, 0.999, 333)
    assert own.normal_quantiles(chances) == pytest.approx(stats.norm.ppf(chances), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("freedom", [*range(1, 12), 49, 50, 999, 5000])
def test_student_s_distribution_and_its_quantiles(freedom):
    for value in (0.0, 0.1, 1.0, 2.53, 9.0, 40.0):
        assert own.within_student(value, freedom) == pytest.approx(2 * stats.t.cdf(value, freedom) - 1, abs=1e-12)
    for level in (0.0, 0.5, 0.95, 0.99, 0.999):
        expected = stats.t.ppf((1 + level) / 2, freedom)
        assert own.student_half_width(level, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_equal_values_have_the_mean_of_their_ranks():
    values = np.random.default_rng(1).integers(0, 20, 60)
    assert own.average_ranks(values).tolist() == stats.rankdata(values).tolist()


def test_fisher_s_test():
    rng = np.random.default_rng(2)
    for top in (1, 3, 12, 400):
        for _ in range(60):
            first, second = (tuple(int(x) for x in rng.integers(0, top + 1, 2)) for _ in range(2))
            expected = stats.fisher_exact([list(first), list(second)])[1]
            assert own.fisher_exact(first, second) == pytest.approx(expected, rel=1e-9), (first, second)


@pytest.mark.parametrize("count", [2, 3, 8, 33, 34, 120])
@pytest.mark.parametrize("steps", [None, 3])
@pytest.mark.parametrize("slope", [0.0, 0.2, -0.5])
def test_kendall_s_test_of_a_trend(count, steps, slope):
    rng = np.random.default_rng(count)
    for _ in range(20):
        values = rng.normal(0, 1, count) + slope * np.arange(count)
        values = values if steps is None else np.round(values * steps)
        found, expected = own.trend(values.tolist()), stats.kendalltau(np.arange(count), values).pvalue
        assert found == pytest.approx(expected, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(("hits", "tries"), [(0, 10), (3, 10), (10, 10), (29, 1000), (0, 1000)])
def test_clopper_and_pearson_s_interval_of_a_chance(hits, tries):
    expected = stats.binomtest(hits, tries).proportion_ci(0.95, "exact")
    assert own.binomial_bounds(hits, tries) == pytest.approx((expected.low, expected.high), abs=1e-9)
