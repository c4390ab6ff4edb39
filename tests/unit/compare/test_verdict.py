"""Verdicts, above all what lower bounds may and may not say."""

import pytest

from nfvbed.compare.verdict import Bound, Rules, Samples, Verdict, judge, not_comparable

RULES = Rules()


def around(center: float, *, limited: bool = False, count: int = 6) -> Samples:
    return Samples(values=tuple(center * (1 + 0.002 * (i - count / 2)) for i in range(count)), limited=limited)


@pytest.mark.parametrize(
    ("candidate", "baseline", "verdict", "bound"),
    [
        (around(5.0), around(3.0), Verdict.HIGHER, Bound.EXACT),
        (around(3.0), around(5.0), Verdict.LOWER, Bound.EXACT),
        (around(5.0), around(5.001), Verdict.SAME, Bound.EXACT),
        (around(5.0, limited=True), around(3.0), Verdict.HIGHER, Bound.AT_LEAST),
        (around(5.0, limited=True), around(5.1), Verdict.UNDECIDED, Bound.AT_LEAST),
        (around(5.0, limited=True), around(9.0), Verdict.UNDECIDED, Bound.AT_LEAST),
        (around(5.0), around(3.0, limited=True), Verdict.UNDECIDED, Bound.AT_MOST),
        (around(3.0), around(5.0, limited=True), Verdict.LOWER, Bound.AT_MOST),
        (around(5.0, limited=True), around(3.0, limited=True), Verdict.UNDECIDED, Bound.UNKNOWN),
        (around(5.0, limited=True), around(5.0, limited=True), Verdict.UNDECIDED, Bound.UNKNOWN),
    ],
)
def test_the_table_of_limits(candidate: Samples, baseline: Samples, verdict: Verdict, bound: Bound):
    found = judge(candidate, baseline, RULES)
    assert (found.verdict, found.bound) == (verdict, bound)
    assert found.reason or found.verdict in (Verdict.HIGHER, Verdict.LOWER)


def test_a_significant_but_tiny_difference_is_the_same():
    base = Samples(values=tuple(1000 + i * 0.01 for i in range(10)))
    candidate = Samples(values=tuple(1005 + i * 0.01 for i in range(10)))
    found = judge(candidate, base, RULES)
    assert found.verdict is Verdict.SAME
    assert found.p_value is not None and found.p_value < 0.05
    assert judge(candidate, base, Rules(resolution=0.001)).verdict is Verdict.HIGHER


def test_too_few_samples_are_undecided_and_say_so():
    found = judge(around(5, count=3), around(3, count=3), RULES)
    assert found.verdict is Verdict.UNDECIDED
    assert "3 against 3" in found.reason
    assert judge(around(5, count=0), around(3), RULES).verdict is Verdict.UNDECIDED


def test_noise_that_hides_everything_is_undecided():
    wild = Samples(values=(1.0, 5.0, 2.0, 9.0, 4.0))
    found = judge(wild, Samples(values=(1.1, 5.1, 2.1, 8.0, 3.0)), RULES)
    assert found.verdict is Verdict.UNDECIDED
    assert found.detectable is not None and found.detectable > 0.25


def test_same_names_what_would_have_been_seen():
    found = judge(around(5), around(5), RULES)
    assert found.detectable is not None and found.detectable >= RULES.resolution
    assert "would have been" in found.reason


def test_a_baseline_that_forwards_nothing_has_no_ratio():
    found = judge(around(5), Samples(values=(0.0, 0.0, 0.0, 0.0, 0.0)), RULES)
    assert found.verdict is Verdict.HIGHER
    assert found.ratio is None


def test_not_comparable_keeps_its_reason():
    assert not_comparable("hosts differ").reason == "hosts differ"
