"""Verdicts: looks, margins, classes, many comparisons, and what lower bounds may and may not say."""

from math import inf, log

import numpy as np
import pytest

from nfvbed.compare.verdict import (
    Bound,
    Bounds,
    Pair,
    Rules,
    Verdict,
    holm,
    judge,
    judge_unpaired,
    not_comparable,
)

RULES = Rules()
DECIDED = (Verdict.HIGHER, Verdict.LOWER)


def pairs(*ratios: float, placement: str = "") -> list[Pair]:
    return [Pair(round=place, log_ratio=log(ratio), placement=placement) for place, ratio in enumerate(ratios, 1)]


def around(center: float, count: int = 12, spread: float = 0.004) -> list[Pair]:
    return pairs(
        *(center * (1 + spread * (place / count - 0.5)) for place in np.random.default_rng(1).permutation(count))
    )


@pytest.mark.parametrize(
    ("ratio", "candidate", "baseline", "verdict", "bound"),
    [
        (1.6, False, False, Verdict.HIGHER, Bound.EXACT),
        (0.6, False, False, Verdict.LOWER, Bound.EXACT),
        (1.0, False, False, Verdict.SAME, Bound.EXACT),
        (1.6, True, False, Verdict.HIGHER, Bound.AT_LEAST),
        (1.0, True, False, Verdict.UNDECIDED, Bound.AT_LEAST),
        (0.6, True, False, Verdict.UNDECIDED, Bound.AT_LEAST),
        (1.6, False, True, Verdict.UNDECIDED, Bound.AT_MOST),
        (1.0, False, True, Verdict.UNDECIDED, Bound.AT_MOST),
        (0.6, False, True, Verdict.LOWER, Bound.AT_MOST),
        (1.6, True, True, Verdict.UNDECIDED, Bound.UNKNOWN),
        (1.0, True, True, Verdict.UNDECIDED, Bound.UNKNOWN),
    ],
)
def test_the_table_of_limits(ratio: float, candidate: bool, baseline: bool, verdict: Verdict, bound: Bound):
    found = judge(around(ratio), RULES, Bounds(candidate=candidate, baseline=baseline))
    assert (found.verdict, found.bound) == (verdict, bound)
    assert found.reason or found.verdict in DECIDED


def test_the_first_look_that_decides_is_final():
    later = [Pair(round=place, log_ratio=log(0.1)) for place in range(9, 13)]
    found = judge([*around(2.0, 8), *later], RULES)
    assert (found.verdict, found.look, found.pairs) == (Verdict.HIGHER, 8, 8 + 4)


def test_rounds_count_in_their_own_order():
    ordered = [Pair(round=place, log_ratio=log(2) if place <= 8 else log(0.01)) for place in range(12, 0, -1)]
    assert judge(ordered, RULES).look == 8


def test_looks_and_their_levels():
    mixed = pairs(*[1.1, 0.93, 1.05, 0.96, 1.15, 0.99, 1.02, 0.95])
    first = judge(mixed, RULES)
    assert (first.verdict, first.look, first.level) == (Verdict.UNDECIDED, 8, 0.0234375)
    assert first.interval is not None and first.interval.level == 1 - 0.0234375
    assert first.reason.endswith("8 of 12 pairs") and first.same_interval is None
    more = [Pair(round=place, log_ratio=log(1.2)) for place in range(9, 13)]
    last = judge([*mixed, *more], RULES)
    assert (last.look, last.level) == (12, 0.02099609375)
    assert last.same_interval is not None and last.same_interval.level >= 0.9
    assert judge([*mixed, *more[:3]], RULES).look == 8, "eleven pairs are looked at as eight"


def test_before_the_first_look_there_is_the_range():
    found = judge(pairs(1.4, 1.5, 1.6), RULES)
    assert (found.verdict, found.reason, found.look) == (Verdict.UNDECIDED, "3 of 8 pairs", 0)
    assert found.ratio == pytest.approx(1.5, rel=0.01)
    assert found.interval is not None and found.interval.is_range
    assert (found.interval.low, found.interval.high) == (pytest.approx(1.4), pytest.approx(1.6))
    assert judge([], RULES).reason == "0 of 8 pairs"


def test_a_certain_difference_within_the_margin_says_so():
    found = judge(around(1.02), RULES)
    assert (found.verdict, found.within_margin) == (Verdict.HIGHER, True)
    assert "within the margin of 5%" in found.reason
    assert not judge(around(1.06), RULES).within_margin


def test_same_is_shown_and_only_at_the_last_look():
    assert judge(around(1.0, 8), RULES).verdict is Verdict.UNDECIDED
    found = judge(around(1.0), RULES)
    assert found.verdict is Verdict.SAME and "lies within the margin" in found.reason
    wide = judge(pairs(*[1.2, 0.8, 1.1, 0.9, 1.3, 0.75, 1.15, 0.88, 1.05, 0.95, 1.4, 0.7]), RULES)
    assert wide.verdict is Verdict.UNDECIDED and "holds 1" in wide.reason


def test_scattered_equal_rates_are_not_called_the_same():
    # Ten per cent apart at a scatter of 7 %: the verdict that preceded this one said `same` in 65 % of these cases.
    rng = np.random.default_rng(3)
    found = [judge(pairs(*np.exp(rng.normal(log(1.1), 0.1, 12))), RULES).verdict for _ in range(300)]
    assert found.count(Verdict.SAME) <= 3


def test_a_class_that_points_the_other_way():
    ahead = [Pair(round=place, log_ratio=log(2)) for place in range(1, 13)]
    behind = [Pair(round=place, log_ratio=log(0.8), placement="far") for place in (2, 5, 7)]
    found = judge([*(pair for pair in ahead if pair.round not in (2, 5, 7)), *behind], RULES)
    assert found.verdict is Verdict.DEPENDS_ON_PLACEMENT
    assert found.reason == "higher over all pairs, the other way round in class far"
    (far,) = found.by_class
    assert (far.name, far.pairs, far.opposes) == ("far", 3, True)
    assert far.ratio == pytest.approx(0.8)


def test_two_pairs_or_a_divided_class_oppose_nothing():
    ahead = [Pair(round=place, log_ratio=log(2)) for place in range(1, 13)]
    two = [Pair(round=place, log_ratio=log(0.8), placement="far") for place in (2, 5)]
    assert judge([*(pair for pair in ahead if pair.round not in (2, 5)), *two], RULES).verdict is Verdict.HIGHER
    divided = [*two, Pair(round=7, log_ratio=log(1.5), placement="far")]
    assert judge([*(pair for pair in ahead if pair.round not in (2, 5, 7)), *divided], RULES).verdict is Verdict.HIGHER


def test_matched_and_levelled_pairs_are_counted():
    found = judge([*around(2.0, 7), Pair(round=8, log_ratio=0.7, placement="near")], RULES)
    assert (found.matched, found.levelled) == (1, 0)
    assert [entry.name for entry in found.by_class] == ["near"]
    assert judge([*around(2.0, 7), Pair(round=8, log_ratio=0.7, levelled=True)], RULES).levelled == 1


def test_a_side_that_forwards_nothing_has_no_ratio():
    found = judge([Pair(round=place, log_ratio=inf) for place in range(1, 9)], RULES)
    assert (found.verdict, found.ratio) == (Verdict.HIGHER, None)


def test_a_survey_shows_ranges():
    found = judge(around(2.0), Rules(purpose="survey"))
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, "a survey shows ranges")
    assert found.interval is not None and found.interval.is_range


def test_unpaired_visits_are_judged_by_ranks():
    found = judge_unpaired([5.0, 5.1, 5.2, 5.3, 5.4], [3.0, 3.1, 3.2, 3.3, 3.4], RULES)
    assert (found.verdict, found.unpaired) == (Verdict.HIGHER, True)
    assert found.ratio == pytest.approx(1.62, abs=0.01)
    assert judge_unpaired([3.0, 3.1, 3.2, 3.3], [5.0, 5.1, 5.2, 5.3], RULES).verdict is Verdict.LOWER
    assert judge_unpaired([5.0, 5.01, 5.02, 5.03, 5.04], [5.005, 5.015, 5.025, 5.035], RULES).verdict is Verdict.SAME
    assert judge_unpaired([5.0] * 5, [3.0] * 5, RULES, Bounds(baseline=True)).verdict is Verdict.UNDECIDED


def test_too_few_unpaired_visits_are_undecided_and_say_so():
    found = judge_unpaired([5.0, 5.1, 5.2], [3.0, 3.1, 3.2], RULES)
    assert found.verdict is Verdict.UNDECIDED and "3 against 3" in found.reason
    assert found.interval is not None and found.interval.is_range
    assert judge_unpaired([], [3.0], RULES).reason == "one side has no visit"
    found = judge_unpaired([5.0] * 5, [0.0] * 5, RULES)
    assert (found.verdict, found.ratio) == (Verdict.HIGHER, None)


def test_many_comparisons_have_one_look_and_are_corrected():
    alone = judge(around(2.0, 8), RULES, comparisons=4)
    assert (alone.verdict, alone.reason) == (Verdict.UNDECIDED, "8 of 12 pairs")
    weak = pairs(*[1.2, 1.3, 1.1, 1.25, 1.15, 1.4, 1.05, 1.35, 1.18, 0.8, 0.85, 1.22])
    many = [judge(weak, RULES, comparisons=6) for _ in range(5)]
    assert all(entry.verdict is Verdict.HIGHER and entry.level <= 0.05 for entry in many)
    found = holm([*many, judge(around(2.0), RULES, comparisons=6)], RULES)
    assert [entry.verdict for entry in found] == [Verdict.UNDECIDED] * 5 + [Verdict.HIGHER]
    assert found[-1].adjusted_p == pytest.approx(6 * 2 / 2**12)


def test_holms_verdicts_intervals_and_p_values_agree():
    rng = np.random.default_rng(5)
    for _ in range(40):
        shifts = rng.choice([0, 0.1, 0.5], 6)
        judged = [judge(pairs(*np.exp(rng.normal(s, 0.15, 12))), RULES, comparisons=6) for s in shifts]
        for entry in holm(judged, RULES):
            assert entry.adjusted_p is not None and entry.interval is not None
            leaves_out = entry.interval.low > 1 or entry.interval.high < 1
            assert (entry.verdict in DECIDED) == leaves_out == (entry.adjusted_p <= RULES.alpha)


def test_holm_keeps_the_level_of_all_comparisons_together():
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(400):
        judged = [judge(pairs(*np.exp(rng.normal(0, 0.1, 12))), RULES, comparisons=5) for _ in range(5)]
        wrong += any(entry.verdict in DECIDED for entry in holm(judged, RULES))
    assert wrong / 400 <= 0.08


def test_holm_passes_what_was_not_looked_at():
    given = (not_comparable("hosts differ"), judge(around(2.0, 3), RULES, comparisons=5))
    assert holm(given, RULES) == given


def test_not_comparable_keeps_its_reason():
    assert not_comparable("hosts differ").reason == "hosts differ"
