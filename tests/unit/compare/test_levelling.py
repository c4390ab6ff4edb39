"""Pairs of visits that met different states of the host are brought to one, without a look at who is ahead."""

from math import log

import pytest

from nfvbed.compare.rows.visits import ClassVisit, ShortTrial, Visit, class_effects, pair

NEAR, FAR, CHANGED = ("near", "near"), ("far", "far"), ("near", "far")


def visit(number: int, *trials: tuple[float, tuple[str, str] | None]) -> Visit:
    by_class = {
        name: ClassVisit(trials=len(rates), rate_pps=sorted(rates)[len(rates) // 2])
        for name in ("near", "far")
        if (rates := [rate for rate, ends in trials if ends == (name, name)])
    }
    return Visit(
        round=number,
        rate_pps=sum(rate for rate, _ in trials) / len(trials),
        by_class=by_class,
        trials=len(trials),
        short_trials=tuple(ShortTrial(rate_pps=rate, ends=ends) for rate, ends in trials),
    )


def alternating(rates: dict[tuple[str, str], float], first: tuple[str, str]) -> list[Visit]:
    """Visits of three trials each, all in one state, which changes from round to round."""
    other = FAR if first == NEAR else NEAR
    return [visit(number, *[(rates[ends], ends)] * 3) for number, ends in enumerate([first, other] * 4, 1)]


def test_a_host_that_is_never_in_one_state_for_both():
    candidate = alternating({NEAR: 8.0, FAR: 2.0}, NEAR)
    baseline = alternating({NEAR: 4.0, FAR: 1.0}, FAR)
    found = pair(candidate, baseline)
    assert all(entry.levelled and entry.placement == "" for entry in found)
    assert [entry.log_ratio for entry in found] == [pytest.approx(log(2))] * 8


def test_where_classes_do_not_do_the_same_to_both_it_is_the_mean_of_the_ratios():
    candidate = alternating({NEAR: 8.0, FAR: 1.0}, NEAR)
    baseline = alternating({NEAR: 4.0, FAR: 2.0}, FAR)
    assert [entry.log_ratio for entry in pair(candidate, baseline)] == [pytest.approx(0)] * 8


def test_matched_trials_are_compared_as_they_are():
    candidate = [*alternating({NEAR: 8.0, FAR: 1.0}, NEAR)[:7], visit(8, (9.0, NEAR), (1.0, FAR), (1.0, FAR))]
    baseline = [*alternating({NEAR: 4.0, FAR: 2.0}, FAR)[:7], visit(8, (3.0, NEAR), (3.0, NEAR), (3.0, NEAR))]
    last = pair(candidate, baseline)[-1]
    assert (last.placement, last.levelled, last.log_ratio) == ("near", False, pytest.approx(log(3)))


def test_a_trial_that_changed_its_class_counts_as_half_in_each():
    candidate = [*alternating({NEAR: 8.0, FAR: 2.0}, NEAR)[:7], visit(8, (5.0, CHANGED))]
    baseline = alternating({NEAR: 4.0, FAR: 1.0}, FAR)
    assert pair(candidate, baseline)[-1].log_ratio == pytest.approx(log(2))


def test_who_is_called_the_candidate_changes_nothing_but_the_sign():
    candidate, baseline = alternating({NEAR: 8.0, FAR: 1.5}, NEAR), alternating({NEAR: 4.0, FAR: 1.0}, FAR)
    one, other = pair(candidate, baseline), pair(baseline, candidate)
    assert [entry.log_ratio for entry in one] == [pytest.approx(-entry.log_ratio) for entry in other]


def test_without_a_class_that_both_were_seen_in_nothing_is_levelled():
    candidate, baseline = [visit(1, (8.0, NEAR), (8.0, NEAR))], [visit(1, (1.0, FAR), (1.0, FAR))]
    assert class_effects(candidate, baseline) == {}
    (found,) = pair(candidate, baseline)
    assert (found.levelled, found.log_ratio) == (False, pytest.approx(log(8)))


def test_one_trial_in_a_class_tells_nothing_of_it():
    candidate = [visit(1, (8.0, NEAR), (8.0, NEAR), (2.0, FAR))]
    assert class_effects(candidate, candidate) == {"near": 0.0}


def test_a_visit_that_forwarded_nothing_is_not_levelled():
    candidate = [*alternating({NEAR: 8.0, FAR: 2.0}, NEAR)[:7], visit(8, (0.0, FAR), (0.0, FAR))]
    baseline = alternating({NEAR: 4.0, FAR: 1.0}, FAR)
    last = pair(candidate, baseline)[-1]
    assert not last.levelled and last.log_ratio < -50
