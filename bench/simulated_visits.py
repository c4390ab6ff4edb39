"""A simulated host that two variants are compared on, round by round; what is true of it is known.

The host's cores lie near to or far from each other in two or three states, which change at random moments (a telegraph
process) and slow both variants. Other machines rob some trials of part of their time. What comes out are the visits
that `nfvbed.compare` makes of trials, with placement classes found from the simulated distances by the real rule.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nfvbed.compare.rows.placement import MIXED, analyse
from nfvbed.compare.rows.visits import ClassVisit, ShortTrial, Visit
from nfvbed.compare.samples.statistics import median
from nfvbed.records import CoreDistance

Floats = NDArray[np.float64]

NEAREST_NS: Final = 30.0
DISTANCE_STEP: Final = 2.8
"""Between the distances of neighbouring states."""
DISTANCE_SCATTER: Final = 0.06
RATE_PPS: Final = 5e6
BETWEEN_VISITS_S: Final = 3.5
"""Time to deploy, and to warm up."""
BETWEEN_TRIALS_S: Final = 0.05


@dataclass(frozen=True)
class Host:
    """What is true."""

    ratio: float = 1.0
    """Ratio of the candidate to the baseline."""
    states: int = 2
    state_factor: float = 2.5
    """Factor by which a state is slower than the one before."""
    candidate_factor: float | None = None
    """Factor of the candidate's states; None: as the baseline's."""
    changes_per_s: float = 0.9
    scatter: float = 0.05
    """Standard deviation of a trial's logarithm."""
    robbed: float = 0.3
    """Part of the trials that lose between nothing and 70 % of their time."""
    together: bool = False
    """Both variants are deployed, and their trials alternate."""
    trials: int = 3
    """Trials of a visit."""
    trial_s: float = 0.3


class Simulation:
    """Rounds of one comparison on one host."""

    def __init__(self, host: Host, rounds: int, rng: np.random.Generator) -> None:
        self.host = host
        self._rng = rng
        begins, self._rounds, self._sides = _timetable(host, rounds)
        ends = begins + host.trial_s
        speed, distances = self._states(begins, ends, self._sides == 0)
        noise = np.exp(rng.normal(0, host.scatter, len(begins)))
        robbed = rng.random(len(begins)) < host.robbed
        left = np.where(robbed, rng.uniform(0.3, 1, len(begins)), 1.0)
        self._rates = RATE_PPS * np.where(self._sides == 0, host.ratio, 1.0) * speed * noise * left
        self._labels = self._label(distances)

    def visits(self) -> tuple[list[Visit], list[Visit]]:
        """Return the visits of the candidate and of the baseline."""
        candidate, baseline = (self._visits_of(side) for side in (0, 1))
        return candidate, baseline

    def _visits_of(self, side: int) -> list[Visit]:
        found = []
        for number in range(1, int(self._rounds[-1]) + 1):
            own = np.flatnonzero((self._rounds == number) & (self._sides == side))
            by_class: dict[str, list[float]] = {}
            for place in own:
                if self._labels[place] != MIXED:
                    by_class.setdefault(self._labels[place], []).append(float(self._rates[place]))
            found.append(
                Visit(
                    round=number,
                    rate_pps=float(self._rates[own].mean()),
                    by_class={
                        name: ClassVisit(trials=len(by_class[name]), rate_pps=median(by_class[name]))
                        for name in self._classes
                        if name in by_class
                    },
                    trials=len(own),
                    short_trials=tuple(
                        ShortTrial(rate_pps=float(self._rates[place]), ends=self._ends[place]) for place in own
                    ),
                )
            )
        return found

    def _states(self, begins: Floats, ends: Floats, of_candidate: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the mean speed of each trial and the distances at its ends."""
        host, rng = self.host, self._rng
        number = rng.poisson(host.changes_per_s * ends[-1]) if host.states > 1 else 0
        times = np.concatenate([[0.0], np.sort(rng.uniform(0, ends[-1], number)), [ends[-1] + 1]])
        # From one state to any other: the state moves on by 1 to states - 1 places in a ring.
        steps = rng.integers(1, max(2, host.states), number)
        state = (rng.integers(host.states) + np.concatenate([[0], np.cumsum(steps)])) % host.states * 1.0
        factors = host.state_factor, host.candidate_factor or host.state_factor
        own, other = (_mean_speed(np.exp(-np.log(factor) * state), times, begins, ends) for factor in factors)
        mean_speed = np.where(of_candidate, other, own)
        at_ends = state[np.searchsorted(times, np.stack([begins, ends], axis=1), side="right") - 1]
        noise = rng.normal(0, DISTANCE_SCATTER, at_ends.shape)
        return mean_speed, NEAREST_NS * np.exp(np.log(DISTANCE_STEP) * at_ends + noise)

    def _label(self, distances: Floats) -> tuple[str, ...]:
        measured = [CoreDistance(before=before, after=after) for before, after in distances.tolist()]
        placement = analyse(measured, self._rounds.tolist())
        self._classes, self._ends = placement.classes, placement.ends
        return placement.labels


def _mean_speed(speed: Floats, times: Floats, begins: Floats, ends: Floats) -> Floats:
    """Return the mean of a speed that changes at `times` over each trial."""
    done = np.concatenate([[0.0], np.cumsum(speed * np.diff(times))])
    return np.asarray((np.interp(ends, times, done) - np.interp(begins, times, done)) / (ends - begins))


def _timetable(host: Host, rounds: int) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Return the start of each trial, its round from 1 on, and its side; who comes first alternates."""
    begins, numbers, sides = [], [], []
    now_s = 0.0
    for number in range(1, rounds + 1):
        first = number % 2
        order = [first] * host.trials + [1 - first] * host.trials
        if host.together:
            order = [first, 1 - first] * host.trials
        for place, side in enumerate(order):
            now_s += (
                BETWEEN_VISITS_S if place == 0 or (place == host.trials and not host.together) else BETWEEN_TRIALS_S
            )
            begins.append(now_s)
            numbers.append(number)
            sides.append(side)
            now_s += host.trial_s
    return np.array(begins), np.array(numbers), np.array(sides)
