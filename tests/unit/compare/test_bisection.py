"""A bisection: ends, a search that goes back, what contradicts a single step, and fresh rounds that convict."""

from collections.abc import Mapping, Sequence
from math import log

import numpy as np
import pytest

from nfvbed.compare.bisection import Bisection, BisectionRules, BisectionVerdict, Rounds, bisect
from nfvbed.compare.gating import GateRules
from nfvbed.compare.verdict import Pair

NUMBER = 16


class Host:
    """Measures revisions whose truth is known."""

    def __init__(self, levels: Sequence[float], noise: float = 0.01, reference: float = 0.0, seed: int = 5) -> None:
        self._levels = levels
        self._noise = noise
        self._reference = reference
        self._rng = np.random.default_rng(seed)
        self.gates: list[tuple[int, int]] = []
        self.lies: dict[int, float] = {}
        """What the first batch of a revision is off by."""

    def gate(self, baseline: int, candidate: int, rules: GateRules) -> Rounds:
        self.gates.append((baseline, candidate))
        ratio = self._levels[candidate] - self._levels[baseline] + self._reference
        return Rounds(pairs=self._pairs(ratio, rules), reference=self._pairs(self._reference, rules))

    def ask(self, revisions: Sequence[int], rounds: int) -> Mapping[int, Sequence[float]]:
        return {m: self._logs(self._levels[m] + self.lies.pop(m, 0.0), rounds) for m in revisions}

    def _pairs(self, ratio: float, rules: GateRules) -> tuple[Pair, ...]:
        logs = self._logs(ratio, rules.looks[-1])
        return tuple(Pair(round=place, log_ratio=value) for place, value in enumerate(logs, 1))

    def _logs(self, ratio: float, count: int) -> list[float]:
        return [ratio + float(value) for value in self._rng.normal(0, self._noise, count)]


def steps(*places: tuple[int, float]) -> list[float]:
    return [sum(log(ratio) for at, ratio in places if place >= at) for place in range(NUMBER)]


def found(host: Host, noise: float = 0.0) -> Bisection:
    return bisect(NUMBER, host.gate, host.ask, BisectionRules(noise=noise))


@pytest.mark.parametrize("place", [1, 2, 9, 15])
def test_a_step_is_found_and_convicted_by_its_neighbours_in_rounds_of_their_own(place):
    host = Host(steps((place, 0.95)))
    result = found(host)
    assert (result.verdict, result.revision) == (BisectionVerdict.STEP, place)
    assert result.ratio == pytest.approx(0.95, abs=0.01)
    assert host.gates == [(0, NUMBER - 1), (place - 1, place)]
    assert len(set(result.asked)) < NUMBER - 2


def test_equal_ends_stop():
    host = Host(steps((5, 0.95), (10, 1 / 0.95)))
    result = found(host)
    assert result.verdict is BisectionVerdict.EQUAL_ENDS and result.asked == () and len(host.gates) == 1


def test_it_goes_back_when_later_rounds_contradict():
    host = Host(steps((12, 0.95)))
    host.lies = {8: log(0.95)}
    result = found(host)
    assert (result.verdict, result.revision) == (BisectionVerdict.STEP, 12)
    assert host.gates == [(0, 15), (7, 8), (11, 12)]


@pytest.mark.parametrize(
    "levels", [steps((4, 0.95), (11, 0.95)), [log(0.9) * place / (NUMBER - 1) for place in range(NUMBER)]]
)
def test_several_steps_and_a_ramp_are_no_single_step(levels):
    result = found(Host(levels))
    assert result.verdict is BisectionVerdict.NO_SINGLE_STEP and result.revision is None
    assert "more than one step, or a ramp" in result.reason


def test_builds_that_are_off_by_themselves_are_not_blamed():
    offsets = list(np.random.default_rng(3).uniform(-0.02, 0.02, NUMBER))
    assert found(Host(offsets), noise=0.02).revision is None
    slowed = [offset + step for offset, step in zip(offsets, steps((6, 0.85)), strict=True)]
    assert found(Host(slowed), noise=0.02).revision == 6


@pytest.mark.parametrize("seed", range(4))
def test_a_step_is_found_among_builds_whose_own_noise_is_nearly_as_large(seed):
    offsets = np.random.default_rng(seed).uniform(-0.015, 0.015, NUMBER)
    slowed = [float(offset) + step for offset, step in zip(offsets, steps((6, 0.95)), strict=True)]
    result = found(Host(slowed, seed=seed), noise=0.02)
    assert (result.verdict, result.revision) == (BisectionVerdict.STEP, 6), result.reason


@pytest.mark.parametrize(
    "levels", [steps((4, 0.95), (11, 0.95)), [log(0.9) * place / (NUMBER - 1) for place in range(NUMBER)]]
)
@pytest.mark.parametrize("seed", range(3))
def test_several_steps_and_a_ramp_of_noisy_builds_are_no_single_step(levels, seed):
    offsets = np.random.default_rng(seed).uniform(-0.02, 0.02, NUMBER)
    result = found(Host([float(offset) + level for offset, level in zip(offsets, levels, strict=True)]), noise=0.02)
    assert (result.verdict, result.revision) == (BisectionVerdict.NO_SINGLE_STEP, None)


def test_a_host_that_slows_what_comes_second_is_the_host():
    assert found(Host(steps(), reference=log(0.94))).verdict is BisectionVerdict.HOST_MOVED


def test_ends_that_scatter_too_much_are_undecided():
    result = found(Host(steps(), noise=0.3, seed=6))
    assert result.verdict is BisectionVerdict.UNDECIDED and result.asked == ()


def test_a_step_that_fresh_rounds_do_not_show_is_none():
    host = Host(steps((8, 0.9)))
    honest = host.gate

    def gate(baseline: int, candidate: int, rules: GateRules) -> Rounds:
        return honest(0, 0, rules) if baseline else honest(baseline, candidate, rules)

    result = bisect(NUMBER, gate, host.ask, BisectionRules())
    assert (result.verdict, result.suspected) == (BisectionVerdict.NO_SINGLE_STEP, 8)
    assert "fresh rounds do not show it" in result.reason
