"""Placement classes: which hidden state of the host a trial ran in.

In a virtual machine the hypervisor moves cores near to or far from each other, and that decides the
result. The trial's record keeps the raw core distances; the class is derived when it is read, by the
versioned rule below, so that a better rule changes no stored row.

The rule (version 2) looks at all distances of one host, in logarithms, because noise and the steps
between cache levels are both multiplicative:

1. Every gap between neighbouring sorted distances of 15 % or more may be a split, where at least one trial has
   *both* its distances on each side of it. A state of the host outlasts a trial; one ping-pong delayed by an interrupt
   does not, and so makes no state.
2. Splits are tried from the widest gap on. Each side is first split itself by the same rule; then the two states that
   meet at the gap are compared. (Comparing whole sides, as version 1 did, hides a third state: it pulls the side's
   median away and makes the gap look narrow.)
3. They are two states when their medians differ at least twofold, and the gap (between the 90th percentile below and
   the 10th above, so that strays do not hide it) takes at least 0.55 of the way between the medians: a broad single
   mode, cut anywhere, has no such gap.
4. A state is a *class* when three whole trials lie in it, of at least two rounds where rounds are known. Trials of a
   state that was seen more rarely are in no class. Where no state was seen so often, the one seen most is the class.

One class is called `single`; of two the names are `near` and `far`; further ones are `far-2`, `far-3`, nearest first.
"""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from nfvbed.records import CoreDistance

PLACEMENT_RULE: Final = 2
"""Version of the rule, shown with every comparison."""

SINGLE: Final = "single"
NEAR: Final = "near"
FAR: Final = "far"
MIXED: Final = "mixed"
"""In no class: the state changed within the trial, or was seen too rarely. Kept; class by class never used."""

MIN_MEDIAN_RATIO: Final = 2.0
"""States closer than this are one class: within a class distances vary by less than twofold (25-45 ns seen)."""
MIN_STEP: Final = 1.15
"""Ratio of two neighbouring distances between which a split may lie."""
MIN_GAP_SHARE: Final = 0.55
"""Part of the way between the medians that must be empty; the halves of a uniform distribution leave 0.2."""
STRAY_SHARE: Final = 0.1
"""Part of each state that may lie in the gap."""
WHOLE_TRIALS: Final = 3
"""Trials with both ends in a state that make it a class."""
ROUNDS: Final = 2
"""Rounds that these must come from, where rounds are known: a class is a state that comes back."""

NOWHERE: Final = ""
"""The class of a distance in a state that is none."""


@dataclass(frozen=True)
class Placement:
    """The classes of one host, and each trial's place among them."""

    rule: int
    classes: tuple[str, ...]
    """Nearest first: (`single`,), (`near`, `far`), (`near`, `far`, `far-2`) and so on."""
    boundaries_ns: tuple[float, ...]
    """The distances that separate states, ascending, those of states that are no class included."""
    labels: tuple[str, ...]
    """One for each trial, in order: a class or `mixed`."""
    medians_ns: tuple[float, ...]
    """The median distance of each class; empty where nothing was measured."""
    ends: tuple[tuple[str, str] | None, ...]
    """The classes before and after each trial, `NOWHERE` in none; None where nothing was measured."""


def classify(distances: Sequence[CoreDistance | None]) -> list[str]:
    """Return the placement class of every trial of one host, in the order given.

    Args:
        distances: core distances of the trials of *one host*, of all runs that are compared; None where
            nothing was measured, which gives `single`.
    """
    return list(analyse(distances).labels)


def analyse(distances: Sequence[CoreDistance | None], rounds: Sequence[Hashable] | None = None) -> Placement:
    """Return the states of one host's distances, with the class of every trial (see the module's text).

    Args:
        rounds: what distinguishes the rounds of the trials, over all runs; None in it: not known, so a round of its
            own.
    """
    pairs = np.array([[d.before, d.after] for d in distances if _is_usable(d)], dtype=float).reshape(-1, 2)
    known = rounds if rounds is not None else [None] * len(distances)
    own = [number for number, distance in zip(known, distances, strict=True) if _is_usable(distance)]
    if not len(pairs):
        return Placement(
            PLACEMENT_RULE, (SINGLE,), (), tuple(SINGLE for _ in distances), (), tuple(None for _ in distances)
        )
    logs = np.log(pairs)
    states = _states(logs)
    names = _names(logs, states, own)
    boundaries = tuple(
        float(np.exp((below[-1] + above[0]) / 2)) for below, above in zip(states, states[1:], strict=False)
    )
    ends = tuple(_ends(d, boundaries, names) for d in distances)
    named = [(name, state) for name, state in zip(names, states, strict=True) if name]
    if len(named) == 1:
        center = float(np.median(named[0][1]))
        ends = tuple(_without_strays(d, end, center) for d, end in zip(distances, ends, strict=True))
    return Placement(
        PLACEMENT_RULE,
        tuple(name for name, _ in named),
        boundaries,
        tuple(_label(end) for end in ends),
        tuple(float(np.exp(np.median(state))) for _, state in named),
        ends,
    )


def _is_usable(distance: CoreDistance | None) -> TypeGuard[CoreDistance]:
    return distance is not None and 0 < distance.before < inf and 0 < distance.after < inf


def _states(logs: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the states of distances, nearest first; each holds at least one whole trial (steps 1 to 3 of the rule).

    Args:
        logs: shape (trials, 2), logarithms of the distances before and after.
    """
    values = np.sort(logs.ravel())
    gaps = np.diff(values)
    cuts = [int(index) + 1 for index in np.argsort(-gaps, kind="stable") if gaps[index] >= np.log(MIN_STEP)]
    lowest, highest = logs.min(axis=1), logs.max(axis=1)

    @cache
    def holds_whole_trial(begin: int, end: int) -> bool:
        return bool(((lowest >= values[begin]) & (highest <= values[end - 1])).any())

    @cache
    def split(begin: int, end: int) -> tuple[tuple[int, int], ...]:
        for cut in cuts:
            if not begin < cut < end or not (holds_whole_trial(begin, cut) and holds_whole_trial(cut, end)):
                continue
            below, above = split(begin, cut), split(cut, end)
            if _are_two_states(values[slice(*below[-1])], values[slice(*above[0])]):
                return (*below, *above)
        return ((begin, end),)

    return [values[begin:end] for begin, end in split(0, len(values))]


def _are_two_states(low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Return whether neighbours lie apart as two states of a host do (step 3 of the rule)."""
    separation = float(np.median(high) - np.median(low))
    gap = float(np.quantile(high, STRAY_SHARE) - np.quantile(low, 1 - STRAY_SHARE))
    return separation >= np.log(MIN_MEDIAN_RATIO) and gap >= MIN_GAP_SHARE * separation


def _names(logs: NDArray[np.float64], states: Sequence[NDArray[np.float64]], rounds: Sequence[Hashable]) -> list[str]:
    """Return the names of the states that are classes, nearest first; `NOWHERE` for the others (step 4 of the rule)."""
    whole = [np.flatnonzero(((logs >= state[0]) & (logs <= state[-1])).all(axis=1)) for state in states]
    enough = [place for place, trials in enumerate(whole) if _makes_a_class([rounds[int(index)] for index in trials])]
    if not enough:
        # Of states seen equally often the one that was there first: a search has begun in it.
        enough = [max(range(len(states)), key=lambda place: (len(whole[place]), -int(whole[place][0])))]
    names = [NOWHERE] * len(states)
    order = (SINGLE,) if len(enough) == 1 else (NEAR, FAR, *(f"{FAR}-{number}" for number in range(2, len(enough))))
    for place, name in zip(enough, order, strict=True):
        names[place] = name
    return names


def _makes_a_class(rounds: Sequence[Hashable]) -> bool:
    known = {number for number in rounds if number is not None}
    return len(rounds) >= WHOLE_TRIALS and len(known) + sum(number is None for number in rounds) >= ROUNDS


def _ends(distance: CoreDistance | None, boundaries: Sequence[float], names: Sequence[str]) -> tuple[str, str] | None:
    if not _is_usable(distance):
        return None
    return names[bisect_left(boundaries, distance.before)], names[bisect_left(boundaries, distance.after)]


def _without_strays(
    distance: CoreDistance | None, ends: tuple[str, str] | None, center: float
) -> tuple[str, str] | None:
    """Take the one end of a trial that lies outside the only class for what it is: somewhere else.

    A state that was seen at the end of a single trial is too little for a split, but that trial may have run in
    both. On a quiet host this never happens.
    """
    if distance is None or ends != (SINGLE, SINGLE):
        return ends
    reach = np.log(MIN_MEDIAN_RATIO)
    before, after = (abs(np.log(value) - center) < reach for value in (distance.before, distance.after))
    if before == after or abs(np.log(distance.after / distance.before)) < reach:
        return ends
    return (SINGLE, NOWHERE) if before else (NOWHERE, SINGLE)


def _label(ends: tuple[str, str] | None) -> str:
    if ends is None:
        return SINGLE
    return ends[0] if ends[0] == ends[1] != NOWHERE else MIXED
