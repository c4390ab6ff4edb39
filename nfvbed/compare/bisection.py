"""Which step of an ordered list made it slower: a search that goes back, and fresh rounds that convict.

Every revision that is measured is visited next to the first one (the *anchor*) in each round, so that a drift of the
host is in neither. The search keeps what it knows as a chance for each place of a single step, from a model of all
revisions measured so far: a level before, a level after, each revision's own *noise* (that of a build's layout: it
does not average out by measuring the same build again), and the error of its rounds. It asks next where that chance is
halved (probabilistic bisection; Waeber, Frazier and Henderson, SIAM J. Control Optim. 51, 2013). Later rounds that
contradict move the chance back: nothing that was ruled out once stays so.

Three things stand between a search and blame. The ends must differ: equal ends stop. What was measured must be what one
step explains, and none does not. And the two neighbours of the step are measured against each other in fresh rounds
that the search did not use, with the first of them once more as the reference: only these convict, by the rule of a
gate, of a loss of at least half of the step. Where they contradict the search, it goes back once.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from math import expm1, log1p, sqrt
from typing import Final

import numpy as np
from pydantic import Field

from nfvbed.compare.gating import GatePoint, GateResult, GateRules, GateVerdict, judge_gate
from nfvbed.compare.samples.ranks import LARGEST_LOG, signed_rank
from nfvbed.compare.verdict import Pair
from nfvbed.records import Record

BISECTION_FORMAT: Final = 1
BATCH: Final = 8
"""Rounds of one question of the search."""
SURE: Final = 0.95
"""Chance of one place at which the search ends."""
LEAST_GAIN: Final = 9.0
"""By which one step must explain more than none (a chi-squared of one degree, over all places: 1 in 400 each)."""
MISFIT: Final = 3.3
"""Standard errors by which a revision may lie off the levels of a single step, the worst of all."""
KNOWN: Final = 1 / 6
"""A level is known where its error is at most this part of the step, so that half a step off it is three errors."""
LEAST_ERROR: Final = 0.001
"""The least error of a revision's ratio: rounds that agree by chance are not exact."""
SIGMAS: Final = 1.959964
NEIGHBOUR: Final = "neighbours"


class BisectionVerdict(StrEnum):
    """What a bisection found."""

    STEP = "step"
    """One revision made it slower, and fresh rounds of it and the one before convict it."""
    EQUAL_ENDS = "equal-ends"
    NO_SINGLE_STEP = "no-single-step"
    """The ends differ, and no single step explains what lies between them: several, a ramp, or none that repeats."""
    HOST_MOVED = "host-moved"
    UNDECIDED = "undecided"


class BisectionRules(Record):
    """What a bisection decides by."""

    noise: float = Field(0.0, ge=0, lt=0.5)
    """Part by which each revision may be off by itself, either way: the layout of a build. Options have none."""
    gate: GateRules = GateRules()
    """Rules of the gates between the ends and between neighbours."""
    most_rounds: int = Field(400, ge=BATCH)
    """Rounds that the search may ask for."""


class Level(Record):
    """What is known of one revision."""

    revision: int
    log_ratio: float
    """To the anchor."""
    error: float
    """Standard error, without the noise of its build."""
    rounds: int


class Bisection(Record):
    """The answer, and how it was found."""

    format: int = BISECTION_FORMAT
    verdict: BisectionVerdict
    reason: str
    revision: int | None = None
    """The first slow one, by its place in the list, from 0."""
    ratio: float | None = None
    """Ratio of the step: as the fresh rounds have it, where it was convicted."""
    suspected: int | None = None
    """Where the search ended, convicted or not."""
    asked: tuple[int, ...] = ()
    """The revisions that the search asked about, in order."""
    levels: tuple[Level, ...] = ()
    ends: GateResult
    neighbours: GateResult | None = None
    rules: BisectionRules


class Rounds(Record):
    """Rounds of one revision next to another one, and of that other one next to itself."""

    pairs: tuple[Pair, ...]
    reference: tuple[Pair, ...] = ()


MeasureEnds = Callable[[int, int, GateRules], Rounds]
"""Measures a gate: the revision that is baseline, the one that is candidate, and the rules that end it."""
MeasureLevels = Callable[[Sequence[int], int], Mapping[int, Sequence[float]]]
"""Measures revisions next to the first one in so many rounds; returns the log ratios of each."""


def bisect(revisions: int, gate: MeasureEnds, ask: MeasureLevels, rules: BisectionRules) -> Bisection:
    """Find the step among revisions that are in order.

    Args:
        revisions: their number, at least two.
        gate: measures two of them as a gate does, in rounds of its own each time.
        ask: measures some of them next to the first.
    """
    last = revisions - 1
    ends = judge_gate([_point("ends", gate(0, last, rules.gate))], rules.gate)
    found = Bisection(verdict=BisectionVerdict.UNDECIDED, reason=ends.reason, ends=ends, rules=rules)
    if ends.verdict is not GateVerdict.SLOWER:
        verdict = {
            GateVerdict.NOT_SLOWER: BisectionVerdict.EQUAL_ENDS,
            GateVerdict.HOST_MOVED: BisectionVerdict.HOST_MOVED,
        }.get(ends.verdict, BisectionVerdict.UNDECIDED)
        return found.model_copy(update={"verdict": verdict})
    search = _Search(revisions, rules)
    for last_try in (False, True):
        while not search.ended:
            for revision, logs in ask(search.question, BATCH).items():
                search.learn(revision, logs)
        step = search.best
        seen = {"asked": tuple(search.asked), "levels": tuple(search.levels()), "suspected": step.place}
        found = found.model_copy(update=seen)
        if reason := step.contradiction:
            return found.model_copy(update={"verdict": BisectionVerdict.NO_SINGLE_STEP, "reason": reason})
        found = _convict(found, step, gate)
        if found.verdict is not BisectionVerdict.NO_SINGLE_STEP or last_try:
            break
        # Fresh rounds contradict what the search had of these two: it goes back, and asks about them again.
        search.forget(step.place - 1, step.place)
    return found


def _convict(found: Bisection, step: "Step", gate: MeasureEnds) -> Bisection:
    """Measure the neighbours of a suspected step in fresh rounds, and return what these say."""
    convicting = _convicting(found.rules.gate, step)
    judged = judge_gate([_point(NEIGHBOUR, gate(step.place - 1, step.place, convicting))], convicting)
    ratio = judged.points[0].ratio
    update: dict[str, object] = {"neighbours": judged, "ratio": ratio}
    if judged.verdict is GateVerdict.SLOWER:
        update |= {"verdict": BisectionVerdict.STEP, "revision": step.place, "reason": _convicted(step, ratio, judged)}
    elif judged.verdict is GateVerdict.HOST_MOVED:
        update |= {"verdict": BisectionVerdict.HOST_MOVED, "reason": judged.reason}
    elif judged.verdict is GateVerdict.NOT_SLOWER:
        reason = f"revision {step.place} was suspected of {_percent(step.size)}, and fresh rounds do not show it"
        update |= {"verdict": BisectionVerdict.NO_SINGLE_STEP, "reason": reason}
    else:
        reason = f"revision {step.place} is suspected of {_percent(step.size)}; fresh rounds of it are undecided"
        update |= {"verdict": BisectionVerdict.UNDECIDED, "reason": reason}
    return found.model_copy(update=update)


class Step(Record):
    """A single step as the search sees it."""

    place: int
    """The first slow revision."""
    size: float
    """Logarithm of after over before."""
    chance: float
    """Among all places, if there is a single step."""
    contradiction: str = ""
    """Why it is not one step; empty: it may be."""


class _Search:
    """What is known of the revisions, and what to ask next."""

    def __init__(self, revisions: int, rules: BisectionRules) -> None:
        self._rules = rules
        self._logs: dict[int, list[float]] = {}
        self._last = revisions - 1
        # A part that is drawn evenly from either side has this standard deviation.
        self._noise = log1p(rules.noise) / sqrt(3)
        self.asked: list[int] = []
        self._fit: tuple[np.ndarray, np.ndarray] | None = None

    def learn(self, revision: int, logs: Sequence[float]) -> None:
        """Take in rounds of a revision."""
        self._logs.setdefault(revision, []).extend(max(-LARGEST_LOG, min(LARGEST_LOG, value)) for value in logs)
        self.asked.append(revision)
        self._fit = None

    def forget(self, *revisions: int) -> None:
        """Drop the rounds of revisions that fresh ones contradict; the last one is asked about first, if it is one."""
        for revision in revisions:
            self._logs.pop(revision, None)
        self._fit = None

    def levels(self) -> list[Level]:
        """Return what is known of each revision; the anchor is 1 by definition, but for its build's noise."""
        found = [Level(revision=0, log_ratio=0.0, error=0.0, rounds=0)]
        for revision in sorted(self._logs):
            logs = self._logs[revision]
            result = signed_rank(logs, 0.05)
            width = result.interval.high - result.interval.low if result.interval else np.inf
            error = max(LEAST_ERROR, width / 2 / SIGMAS)
            found.append(Level(revision=revision, log_ratio=result.estimate, error=error, rounds=len(logs)))
        return found

    @property
    def _rounds(self) -> int:
        return sum(map(len, self._logs.values()))

    def _fits(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for each place of a step, from 1, the misfit of all levels, and the step's size."""
        if self._fit is None:
            levels = self.levels()
            places = np.array([level.revision for level in levels])
            values = np.array([level.log_ratio for level in levels])
            weights = 1 / np.array([self._variance(level) for level in levels])
            results = [_fit(values, weights, places >= place) for place in range(1, self._last + 1)]
            self._fit = np.array([entry[0] for entry in results]), np.array([entry[1] for entry in results])
        return self._fit

    def _variance(self, level: Level) -> float:
        return level.error**2 + self._noise**2 + LEAST_ERROR**2

    @property
    def chances(self) -> np.ndarray:
        """The chance of each place, from 1; of a step down alone."""
        misfits, sizes = self._fits()
        misfits = np.where(sizes < 0, misfits, np.inf)
        if not np.isfinite(misfits).any():
            return np.full(self._last, 1 / self._last)
        chances = np.exp(-(misfits - misfits.min()) / 2)
        return np.asarray(chances / chances.sum())

    @property
    def question(self) -> list[int]:
        """The revisions to measure next: the last one first, then where the chance is halved."""
        if self._last not in self._logs:
            return [self._last]
        chances = self.chances
        # A step at k is between k - 1 and k: revision m tells places up to m from those above it.
        below = np.cumsum(chances)[:-1]
        if not len(below):
            return [self._last]
        gains = np.minimum(below, 1 - below) / np.sqrt([1 + self._asked_of(m) for m in range(1, self._last)])
        if gains.max() > (1 - SURE) / 4:
            return [int(np.argmax(gains)) + 1]
        return [max(self._needed(), key=self._error_of)]

    def _asked_of(self, revision: int) -> int:
        return len(self._logs.get(revision, ())) // BATCH

    def _needed(self) -> list[int]:
        """Return what must be known before one step is believed: its sides, and one revision within each level.

        With noise those next to the sides as well, as no build's own level is known better than by its noise.
        """
        place, reach = int(np.argmax(self.chances)) + 1, 3 if self._noise else 1
        found = {*range(place - reach, place + reach), place // 2, (place + self._last + 1) // 2, self._last}
        return sorted(m for m in found if 0 < m <= self._last)

    def _error_of(self, revision: int) -> float:
        """Return the error of a revision's level; of one that was not measured as large as can be."""
        found = (level.error for level in self.levels() if level.revision == revision)
        return next(found, LARGEST_LOG)

    @property
    def ended(self) -> bool:
        """Whether one place is sure and its sides are known, or there are no rounds left."""
        if self._last not in self._logs:
            return False
        if self._rounds >= self._rules.most_rounds:
            return True
        chances, (_, sizes) = self.chances, self._fits()
        known = KNOWN * abs(float(sizes[int(np.argmax(chances))])) or LARGEST_LOG
        return bool(chances.max() >= SURE) and all(self._error_of(m) <= known for m in self._needed())

    @property
    def best(self) -> Step:
        """The likeliest single step, with what contradicts it."""
        chances, (misfits, sizes) = self.chances, self._fits()
        place = int(np.argmax(chances)) + 1
        size = float(sizes[place - 1])
        step = Step(place=place, size=size, chance=float(chances[place - 1]))
        return step.model_copy(update={"contradiction": self._contradiction(step, float(misfits[place - 1]))})

    def _contradiction(self, step: Step, misfit: float) -> str:
        levels = self.levels()
        values = np.array([level.log_ratio for level in levels])
        weights = 1 / np.array([self._variance(level) for level in levels])
        none = float((weights * (values - np.average(values, weights=weights)) ** 2).sum())
        if step.size >= 0 or none - misfit < LEAST_GAIN:
            return "no step explains what lies between the ends better than none does"
        if step.chance < SURE:
            return f"no place of a single step is sure: revision {step.place} has a chance of {step.chance:.0%}"
        after = np.array([level.revision >= step.place for level in levels])
        fitted = np.where(after, np.average(values[after], weights=weights[after]), 0.0)
        fitted = np.where(after, fitted, np.average(values[~after], weights=weights[~after]))
        off = np.abs(values - fitted) * np.sqrt(weights)
        worst = int(np.argmax(off))
        if off[worst] > MISFIT:
            level = levels[worst]
            side = "after" if after[worst] else "before"
            return (
                f"revision {level.revision}, {side} the likeliest step at {step.place}, is "
                f"{_percent(level.log_ratio - float(fitted[worst]))} off its level: more than one step, or a ramp"
            )
        return ""


def _fit(values: np.ndarray, weights: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """Return the misfit of two levels, and the second less the first."""
    levels = [float(np.average(values[side], weights=weights[side])) if side.any() else 0.0 for side in (~after, after)]
    fitted = np.where(after, levels[1], levels[0])
    return float((weights * (values - fitted) ** 2).sum()), levels[1] - levels[0]


def _convicting(rules: GateRules, step: Step) -> GateRules:
    """Return the rules of the fresh rounds: half of the step is asked for, so that the noise of builds is none.

    Less than three quarters of it, certainly, is not the step. The level is halved, as there may be two such gates.
    """
    size = -expm1(step.size)
    return rules.model_copy(update={"least_loss": size / 2, "margin": size / 4, "alpha": rules.alpha / 2})


def _point(name: str, rounds: Rounds) -> GatePoint:
    return GatePoint(name=name, topology="", frame_size=64, pairs=rounds.pairs, reference=rounds.reference)


def _convicted(step: Step, ratio: float | None, judged: GateResult) -> str:
    size = "all of it" if ratio is None else f"{ratio - 1:+.1%}"
    return f"revision {step.place} against {step.place - 1}: {size} in {judged.look} fresh rounds"


def _percent(log_ratio: float) -> str:
    return f"{expm1(log_ratio):+.1%}"
