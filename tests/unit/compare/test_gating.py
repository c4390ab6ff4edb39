"""A gate's verdict: both tests, the points, the looks, the reference and limits."""

from math import log

import numpy as np
import pytest

from nfvbed.compare.gating import GatePoint, GateResult, GateRules, GateVerdict, decided_points, judge_gate
from nfvbed.compare.verdict import Bounds, Pair

RULES = GateRules()


def rounds(ratio: float, count: int = 8, noise: float = 0.004, seed: int = 1) -> tuple[Pair, ...]:
    spread = np.random.default_rng(seed).normal(0, noise, count)
    return tuple(Pair(round=place, log_ratio=log(ratio) + float(value)) for place, value in enumerate(spread, 1))


def point(pairs: tuple[Pair, ...], name: str = "p2p/64", reference: float = 1.0, **around: Bounds) -> GatePoint:
    beside = rounds(reference, len(pairs), seed=7)
    return GatePoint(name=name, topology="p2p", frame_size=64, pairs=pairs, reference=beside, **around)


def judged(*points: GatePoint, rules: GateRules = RULES) -> GateResult:
    return judge_gate(points, rules)


def test_equals_pass_at_the_first_look():
    found = judged(point(rounds(1.0, 16)), point(rounds(1.0, 16, seed=2), "p2p/1518"))
    assert (found.verdict, found.look) == (GateVerdict.NOT_SLOWER, 8)
    assert all(entry.lower is not None and entry.lower > 0.97 for entry in found.points)


def test_one_slow_point_is_enough():
    found = judged(point(rounds(1.0)), point(rounds(0.9, seed=2), "p2p/1518"))
    assert found.verdict is GateVerdict.SLOWER and found.reason.startswith("p2p/1518: ")
    assert [entry.verdict for entry in found.points] == [GateVerdict.NOT_SLOWER, GateVerdict.SLOWER]
    assert found.points[1].upper is not None and found.points[1].upper < 1


def test_a_certain_loss_inside_the_margin_passes_and_is_said():
    found = judged(point(rounds(0.985)))
    assert found.verdict is GateVerdict.NOT_SLOWER and found.points[0].certain_loss
    assert "a certain loss inside the margin at p2p/64" in found.reason


def test_a_faster_candidate_passes():
    assert judged(point(rounds(1.4, noise=0.1))).verdict is GateVerdict.NOT_SLOWER


def test_what_scatters_is_undecided_at_every_look():
    found = judged(point(rounds(1.0, 40, noise=0.3)))
    assert (found.verdict, found.look) == (GateVerdict.UNDECIDED, 40)
    assert "does not lie above 0.9700" in found.reason


def test_fewer_rounds_than_the_first_look_decide_nothing():
    found = judged(point(rounds(0.5, 7)))
    assert (found.verdict, found.look) == (GateVerdict.UNDECIDED, 0) and "7 of 8 rounds" in found.reason
    lost = point(()).model_copy(update={"lacking": "candidate/p2p/64 is failed"})
    assert "is failed" in judged(lost).reason


def test_a_reference_that_went_the_same_way_says_that_it_was_the_host():
    slower = judged(point(rounds(0.9), reference=0.93))
    assert slower.verdict is GateVerdict.HOST_MOVED and "installed once more, is ×0.929" in slower.reason
    assert judged(point(rounds(1.0), reference=1.07)).verdict is GateVerdict.HOST_MOVED


def test_a_reference_that_went_the_other_way_or_by_less_than_the_margin_explains_nothing():
    assert judged(point(rounds(0.9), reference=1.07)).verdict is GateVerdict.SLOWER
    assert judged(point(rounds(1.0), reference=0.93)).verdict is GateVerdict.NOT_SLOWER
    assert judged(point(rounds(0.9), reference=0.99)).verdict is GateVerdict.SLOWER


def test_a_point_that_passed_needs_no_further_rounds():
    noisy = point(rounds(1.0, 24, noise=0.03, seed=3), "p2p/1518")
    found = judged(point(rounds(1.0, 8)), noisy)
    assert found.look > 8 and [entry.rounds for entry in found.points] == [8, found.look]
    assert decided_points((point(rounds(1.0, 8)), point(rounds(1.0, 8, noise=0.3), "p2p/1518")), RULES) == {"p2p/64"}
    assert decided_points((point(rounds(1.0, 8)), point(rounds(0.8, 8), "p2p/1518")), RULES) == {"p2p/64", "p2p/1518"}


def test_many_points_are_corrected_for_slower_and_not_for_passing():
    borderline = rounds(0.96, 8, noise=0.028, seed=11)
    alone = judged(point(borderline))
    among = judged(
        *(point(borderline if place == 0 else rounds(1.0, 8, noise=0.3, seed=place), str(place)) for place in range(6))
    )
    assert alone.verdict is GateVerdict.SLOWER and among.verdict is GateVerdict.UNDECIDED
    assert among.points[0].lower == alone.points[0].lower


def test_what_a_limit_hides_passes_no_gate():
    assert judged(point(rounds(1.0), bounds=Bounds(baseline=True))).verdict is GateVerdict.UNDECIDED
    assert judged(point(rounds(0.9), bounds=Bounds(candidate=True))).verdict is GateVerdict.UNDECIDED
    assert judged(point(rounds(1.0), bounds=Bounds(candidate=True))).verdict is GateVerdict.NOT_SLOWER
    assert judged(point(rounds(0.9), bounds=Bounds(baseline=True))).verdict is GateVerdict.SLOWER


def test_a_candidate_that_forwards_nothing_is_slower():
    nothing = tuple(Pair(round=place, log_ratio=-100.0) for place in range(1, 9))
    found = judged(point(nothing))
    assert found.verdict is GateVerdict.SLOWER and "from nothing" in found.reason


def test_the_level_is_spent_over_the_looks_and_no_more_of_it():
    spent = [RULES.spent(look, RULES.alpha) for look in RULES.looks]
    assert sum(spent) == pytest.approx(0.05) and spent[-1] == max(spent)
