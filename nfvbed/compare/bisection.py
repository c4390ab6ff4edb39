"""Which step of an ordered list made it slower: a search that goes back, and fresh rounds that convict.

Every revision that is measured is visited next to the first one (the *anchor*) in each round, so that a drift of the
host is in neither. The search keeps what it knows as a chance for each place of a single step, from a model of all
revisions measured so far: a level before, a level after, each revision's own *noise* (that of a build's layout: it
does not average out by measuring the same build again, and has a bound), and the error of its rounds. It asks next
where that chance is halved (probabilistic bisection; Waeber, Frazier and Henderson, SIAM J. Control Optim. 51, 2013),
and, where a build is known as well as can be, about further ones: how far those of one level lie apart says where the
other begins. Later rounds that contradict move the chance back: nothing that was ruled out once stays so.

Three things stand between a search and blame. The ends must differ: equal ends stop. What was measured must be what one
step explains, and none does not. And the two neighbours of the step are measured against each other in fresh rounds
that the search did not use, with the first of them once more as the reference: only these convict, by the rule of a
gate, of a loss of at least half of the step. Where they contradict the search, it goes back once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import expm1, hypot, log1p
from typing import Final

import numpy as np
from pydantic import Field

from nfvbed.compare.gating import GatePoint, GateResult, GateRules, GateVerdict, judge_gate
from nfvbed.compare.samples.ranks import LARGEST_LOG, signed_rank
from nfvbed.compare.verdict import Pair
from nfvbed.distributions import below_normal
from nfvbed.records import Record

BISECTION_FORMAT: Final = 1
BATCH: Final = 8
"""Rounds of one question of the search."""
SURE: Final = 0.95
"""Chance of one place at which the search ends."""
LEAST_GAIN: Final = 9.0
"""By which one step must explain more than none: twice the difference of log likelihoods (1 in 400 for each place)."""
MISFIT: Final = 3.3
"""Standard errors by which a revision may lie off the levels of a single step, the worst of all."""
KNOWN: Final = 1 / 6
"""A level is known where its error is at most this part of the step, so that half a step off it is three errors."""
ALONG: Final = 15
"""Noisy builds that are measured all along the list."""
RAMPS: Final = np.linspace(-1, 1, 41)
"""Ramps that noisy builds are held against, as parts of the range of their levels."""
BETTER: Final = 2.0
"""Logarithm of the likelihoods' ratio from which two steps, or a ramp, explain noisy builds better than one step."""
SETTLED: Final = 1 / 4
"""A build is known as well as can be where its error is at most this part of the noise of builds."""
GRID: Final = 801
"""Levels among which those of noisy builds are looked for: steps far below any error of rounds."""
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


@dataclass(frozen=True)
class _Fit:
    """How well one step explains the levels that are known: an entry for each place, from 1."""

    likelihoods: np.ndarray
    """Logarithms."""
    before: np.ndarray
    after: np.ndarray
    """Levels of the two sides."""
    none: float
    """Logarithm of the likelihood of no step at all."""

    @property
    def sizes(self) -> np.ndarray:
        """Logarithms of after over before."""
        return np.asarray(self.after - self.before)


class _Search:
    """What is known of the revisions, and what to ask next."""

    def __init__(self, revisions: int, rules: BisectionRules) -> None:
        self._rules = rules
        self._logs: dict[int, list[float]] = {}
        self._last = revisions - 1
        self._noise = log1p(rules.noise)
        self.asked: list[int] = []
        self._fitted: _Fit | None = None

    def learn(self, revision: int, logs: Sequence[float]) -> None:
        """Take in rounds of a revision."""
        self._logs.setdefault(revision, []).extend(max(-LARGEST_LOG, min(LARGEST_LOG, value)) for value in logs)
        self.asked.append(revision)
        self._fitted = None

    def forget(self, *revisions: int) -> None:
        """Drop the rounds of revisions that fresh ones contradict; the last one is asked about first, if it is one."""
        for revision in revisions:
            self._logs.pop(revision, None)
        self._fitted = None

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

    @property
    def _fit(self) -> _Fit:
        if self._fitted is None:
            levels = self.levels()
            if builds := self._builds(levels):
                self._fitted = builds.fit()
            else:
                after = np.array([[level.revision >= place for level in levels] for place in range(1, self._last + 1)])
                self._fitted = _fit_levels(_values(levels), _errors(levels), after)
        return self._fitted

    def _builds(self, levels: Sequence[Level]) -> "_NoisyBuilds | None":
        return _NoisyBuilds(levels, self._last, self._noise) if self._noise else None

    @property
    def chances(self) -> np.ndarray:
        """The chance of each place, from 1; of a step down alone."""
        fit = self._fit
        likelihoods = np.where(fit.sizes < 0, fit.likelihoods, -np.inf)
        if not np.isfinite(likelihoods).any():
            return np.full(self._last, 1 / self._last)
        chances = np.exp(likelihoods - likelihoods.max())
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
        asked = np.array([self._asked_of(m) for m in range(1, self._last)])
        settled = np.array([self._is_settled(m) for m in range(1, self._last)])
        gains = np.where(settled, 0, np.minimum(below, 1 - below) / np.sqrt(1 + asked))
        if gains.max() > (1 - SURE) / 4:
            return [int(np.argmax(gains)) + 1]
        needed = max(self._needed(), key=self._error_of)
        if self._noise and self._error_of(needed) <= self._known and (unknown := self._unsettled()):
            place = int(np.argmax(chances)) + 0.5
            return [min(unknown, key=lambda m: abs(m - place))]
        return [needed]

    def _asked_of(self, revision: int) -> int:
        return len(self._logs.get(revision, ())) // BATCH

    def _is_settled(self, revision: int) -> bool:
        """Whether a build is known as well as can be; without noise each further round tells something."""
        return self._noise > 0 and self._error_of(revision) <= SETTLED * self._noise

    def _unsettled(self) -> list[int]:
        return [m for m in range(1, self._last + 1) if not self._is_settled(m)]

    def _needed(self) -> list[int]:
        """Return what must be known before one step is believed: its sides, and one revision within each level.

        With noise those next to the sides as well, and some all along: a build of each level says nothing of where it
        ends, and of several steps or a ramp the less, the wider they may lie.
        """
        place, reach = int(np.argmax(self.chances)) + 1, 3 if self._noise else 1
        found = {*range(place - reach, place + reach), place // 2, (place + self._last + 1) // 2, self._last}
        if self._noise:
            found |= {int(m) for m in np.linspace(1, self._last, ALONG).round()}
        return sorted(m for m in found if 0 < m <= self._last)

    def _error_of(self, revision: int) -> float:
        """Return the error of a revision's level; of one that was not measured as large as can be."""
        found = (level.error for level in self.levels() if level.revision == revision)
        return next(found, LARGEST_LOG)

    @property
    def _known(self) -> float:
        """The error at which a level is known, by the size of the likeliest step."""
        return KNOWN * abs(float(self._fit.sizes[int(np.argmax(self.chances))])) or LARGEST_LOG

    @property
    def ended(self) -> bool:
        """Whether one place is sure and its sides are known, or there is nothing left to learn, or no round."""
        if self._last not in self._logs:
            return False
        if self._rounds >= self._rules.most_rounds or (self._noise and not self._unsettled()):
            return True
        return bool(self.chances.max() >= SURE) and all(self._error_of(m) <= self._known for m in self._needed())

    @property
    def best(self) -> Step:
        """The likeliest single step, with what contradicts it."""
        chances, fit = self.chances, self._fit
        place = int(np.argmax(chances)) + 1
        step = Step(place=place, size=float(fit.sizes[place - 1]), chance=float(chances[place - 1]))
        return step.model_copy(update={"contradiction": self._contradiction(step)})

    def _contradiction(self, step: Step) -> str:
        fit, levels = self._fit, self.levels()
        if step.size >= 0 or 2 * (fit.likelihoods[step.place - 1] - fit.none) < LEAST_GAIN:
            return "no step explains what lies between the ends better than none does"
        builds = self._builds(levels)
        if builds and builds.others() - _log_mean(fit.likelihoods) > BETTER:
            return f"two steps, or a ramp, explain the builds better than one step at {step.place} does"
        if step.chance < SURE:
            return f"no place of a single step is sure: revision {step.place} has a chance of {step.chance:.0%}"
        after = np.array([level.revision >= step.place for level in levels])
        fitted = np.where(after, fit.after[step.place - 1], fit.before[step.place - 1])
        off = np.maximum(np.abs(_values(levels) - fitted) - self._noise, 0) / _errors(levels)
        worst = int(np.argmax(off))
        if off[worst] > MISFIT:
            level = levels[worst]
            side = "after" if after[worst] else "before"
            return (
                f"revision {level.revision}, {side} the likeliest step at {step.place}, is "
                f"{_percent(level.log_ratio - float(fitted[worst]))} off its level: more than one step, or a ramp"
            )
        return ""


def _fit_levels(values: np.ndarray, errors: np.ndarray, after: np.ndarray) -> _Fit:
    """Fit levels with normal errors.

    Args:
        values: log ratios of the revisions that were measured.
        errors: their standard errors.
        after: for each place of a step which of them come after it; each side has one at least.
    """
    weights = 1 / errors**2

    def level(side: np.ndarray) -> float:
        return float(np.average(values, weights=weights * side))

    before, behind = np.array([level(~row) for row in after]), np.array([level(row) for row in after])
    fitted = np.where(after, behind[:, None], before[:, None])
    misfits = (weights * (values - fitted) ** 2).sum(axis=1)
    none = (weights * (values - level(np.ones_like(values, dtype=bool))) ** 2).sum()
    return _Fit(likelihoods=-misfits / 2, before=before, after=behind, none=-float(none) / 2)


class _NoisyBuilds:
    """Revisions that are off by themselves, evenly up to a bound, either way.

    A level may be anywhere, evenly, and is integrated over: what lies within twice the bound is one level, and what
    does not is none, however many revisions there are.
    """

    def __init__(self, levels: Sequence[Level], last: int, noise: float) -> None:
        """Take the levels of those that were measured, in order, and the last revision of the list."""
        self._values, self._errors = _values(levels), _errors(levels)
        self._places, self._last, self._noise = np.array([level.revision for level in levels]), last, noise
        self._grid = np.linspace(self._values.min() - 2 * noise, self._values.max() + 2 * noise, GRID)
        self._until = np.vstack([np.zeros(GRID), np.cumsum(self._logs(self._grid), axis=0)])
        self._begins = np.searchsorted(self._places, np.arange(1, last + 1)).tolist()
        self._known: dict[tuple[int, int], tuple[float, float]] = {}

    def fit(self) -> _Fit:
        """Fit a single step at each place."""
        end = len(self._values)
        sides = [(self._level(0, begin), self._level(begin, end)) for begin in self._begins]
        return _Fit(
            likelihoods=np.array([before[0] + after[0] for before, after in sides]),
            before=np.array([before[1] for before, _ in sides]),
            after=np.array([after[1] for _, after in sides]),
            none=self._level(0, end)[0],
        )

    def others(self) -> float:
        """Return the logarithm of the likelihood of two steps or of a ramp, whichever is larger."""
        end, begins = len(self._values), sorted(set(self._begins))
        two = [
            self._level(0, one)[0] + self._level(one, other)[0] + self._level(other, end)[0]
            for one, other in combinations(begins, 2)
        ]
        along = (self._places / self._last - 0.5)[:, None]
        slopes = (self._grid[-1] - self._grid[0]) * RAMPS
        ramps = [_log_mean(self._logs(self._grid + slope * along).sum(axis=0)) for slope in slopes]
        return max(_log_mean(np.array(two or [-np.inf])), _log_mean(np.array(ramps)))

    def _logs(self, levels: np.ndarray) -> np.ndarray:
        """Return the logarithm of each revision's likelihood at each of some levels, or at its own row of them."""
        off = self._values[:, None] - levels
        upper, lower = (
            below_normal(((off + part) / self._errors[:, None]).ravel()) for part in (self._noise, -self._noise)
        )
        return np.log(np.maximum((upper - lower) / (2 * self._noise), np.finfo(float).tiny)).reshape(off.shape)

    def _level(self, begin: int, end: int) -> tuple[float, float]:
        """Return the likelihood of one level from one measured revision to before another, and where it is."""
        if (begin, end) not in self._known:
            summed = self._until[end] - self._until[begin]
            mean = float(np.average(self._grid, weights=np.exp(summed - summed.max())))
            self._known[begin, end] = _log_mean(summed), mean
        return self._known[begin, end]


def _values(levels: Sequence[Level]) -> np.ndarray:
    return np.array([level.log_ratio for level in levels])


def _errors(levels: Sequence[Level]) -> np.ndarray:
    return np.array([hypot(level.error, LEAST_ERROR) for level in levels])


def _log_mean(logs: np.ndarray) -> float:
    """Return the logarithm of the mean of what these are logarithms of."""
    if not np.isfinite(logs.max()):
        return -np.inf
    return float(logs.max() + np.log(np.exp(logs - logs.max()).mean()))


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
