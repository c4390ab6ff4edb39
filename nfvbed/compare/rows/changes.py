"""How often the host changed its state, and how many trials look whole but were in two states.

A trial whose ends are in one class may have left it in between and come back. How often follows from the trials whose
ends differ, as changes at random would make them: for each class a process that leaves it at one rate and returns at
another (a telegraph process of two rates) is fitted by maximum likelihood. Two rates are needed because a host that is
far for a twentieth of the time leaves that state twenty times as fast as it enters it.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

SPEEDS: Final = 121
SHARES: Final = np.concatenate([[0.005, 0.01, 0.02, 0.03], np.linspace(0.05, 0.95, 37), [0.97, 0.98, 0.99, 0.995]])
"""The parts of the time in a class that are tried."""

LOG_LIKELIHOOD_BELOW: Final = 1.353
"""Part of the best fit's likelihood: what is less likely is ruled out with 95 %, one-sided (half of chi-square, one
degree).
"""

Ends = tuple[str, str]
"""The classes before and after a trial."""


class Changes(NamedTuple):
    """What the ends of trials tell of the host."""

    hidden: float
    """Estimated part of the trials with both ends in one class that left it in between."""
    per_s: float
    """Estimated changes of class per second."""


class _Fit(NamedTuple):
    leaving_per_s: float
    returning_per_s: float


def find_changes(ends: Sequence[Ends | None], durations_s: Sequence[float]) -> Changes:
    """Return an estimate of how often the class changed.

    Args:
        ends: `Placement.ends` of some or all trials of a host; None: not measured, passed over.
        durations_s: those of the same trials, from the reading before to the reading after them.
    """
    seen = [(*end, duration) for end, duration in zip(ends, durations_s, strict=True) if end and duration > 0]
    if all(before == after for before, after, _ in seen):
        return Changes(0.0, 0.0)
    hidden, whole, per_s = 0.0, 0, 0.0
    for name in sorted({name for before, after, _ in seen for name in (before, after)}):
        fit = _fit(_counts(seen, name))
        share = sum((before == name) + (after == name) for before, after, _ in seen) / (2 * len(seen))
        per_s += share * fit.leaving_per_s
        if name:
            staying = np.array([duration for before, after, duration in seen if before == after == name])
            hidden += float(_left_and_back(fit, staying).sum())
            whole += len(staying)
    return Changes(hidden / whole if whole else 0.0, per_s)


class HiddenPart(NamedTuple):
    """How many of the trials that look whole are not."""

    estimated: float
    at_most: float
    """Upper bound with a confidence of 95 %."""


class ChangesOfHost:
    """What all trials of a host tell of its changes, to be asked about some of them.

    Args:
        ends: those of all trials; None: not measured, passed over.
        durations_s: those of the same trials.
    """

    def __init__(self, ends: Sequence[Ends | None], durations_s: Sequence[float]) -> None:
        seen = [(*end, duration) for end, duration in zip(ends, durations_s, strict=True) if end and duration > 0]
        names = sorted({name for before, after, _ in seen for name in (before, after)})
        # A host that showed one class may have others, and nothing is known of them.
        self._likely = {name: _likely(seen, name) for name in names if name} if len(names) > 1 else {}

    def hidden_in(self, trials: Sequence[tuple[str, float]]) -> HiddenPart:
        """Return an estimate and bounds of the part of some whole trials that left their class and came back.

        Args:
            trials: class of both ends, and duration in s, of each.
        """
        known = Counter((name, _rounded(duration)) for name, duration in trials if name in self._likely)
        if not known:
            return HiddenPart(0.0, 0.0)
        total = sum(known.values())
        estimated = at_most = 0.0
        for (name, duration), count in known.items():
            best, within = self._likely[name]
            at = np.array([duration])
            estimated += count * float(_left_and_back(best, at)[0])
            at_most += count * float(_left_and_back_of(within, duration).max())
        return HiddenPart(estimated / total, at_most / total)


def _likely(seen: Sequence[tuple[str, str, float]], name: str) -> tuple[_Fit, NDArray[np.float64]]:
    """Return the best fit of a class, and all (leaving, returning) that the trials do not speak against."""
    counts = _counts(seen, name)
    speed, share, likelihood = _likelihood(counts)
    leaving, returning = speed * (1 - share), speed * share
    within = likelihood >= likelihood.max() - LOG_LIKELIHOOD_BELOW
    return _fit(counts), np.stack([leaving[within], returning[within]])


def _counts(seen: Sequence[tuple[str, str, float]], name: str) -> Counter[tuple[bool, bool, float]]:
    return Counter((before == name, after == name, _rounded(duration)) for before, after, duration in seen)


@lru_cache(maxsize=65_536)
def _rounded(duration_s: float) -> float:
    """Return a duration to three figures; one comparison asks for each trial's several times."""
    return float(f"{duration_s:.3g}")


def _left_and_back_of(rates: NDArray[np.float64], duration_s: float) -> NDArray[np.float64]:
    """Return `_left_and_back` for many pairs of rates at one duration."""
    leaving, returning = rates
    inside = returning / (leaving + returning)
    is_there = inside + (1 - inside) * np.exp(-(leaving + returning) * duration_s)
    return np.asarray(1 - np.exp(-leaving * duration_s) / is_there)


def _fit(counts: Counter[tuple[bool, bool, float]]) -> _Fit:
    """Fit leaving and returning to trials as (begins inside, ends inside, duration): how many."""
    if all(first == last for first, last, _ in counts):
        return _Fit(0.0, 0.0)
    speed, share, likelihood = _likelihood(counts)
    best = np.unravel_index(int(np.argmax(likelihood)), likelihood.shape)
    total, inside = float(speed[best[0], 0]), float(share[0, best[1]])
    return _Fit(leaving_per_s=total * (1 - inside), returning_per_s=total * inside)


def _likelihood(
    counts: Counter[tuple[bool, bool, float]],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithm of the likelihood over speeds (a column) and shares of the time inside (a row)."""
    durations = [duration for _, _, duration in counts]
    # Below 0.001 changes in the longest trial nothing is lost; above 10 in the shortest the ends say no more.
    speed = np.geomspace(0.001 / max(durations), 10 / min(durations), SPEEDS)[:, None]
    share = np.asarray(SHARES)[None, :]
    likelihood = np.zeros((SPEEDS, len(SHARES)))
    for (first, last, duration), count in counts.items():
        moved = 1 - np.exp(-speed * duration)
        begins, elsewhere = (share, 1 - share) if first else (1 - share, share)
        ends = elsewhere * moved if first != last else 1 - elsewhere * moved
        likelihood += count * (np.log(begins) + np.log(ends))
    return speed, share, likelihood


def _left_and_back(fit: _Fit, durations_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that a trial which begins and ends inside was outside meanwhile."""
    total = fit.leaving_per_s + fit.returning_per_s
    if not total or not len(durations_s):
        return np.zeros(len(durations_s))
    stays = np.exp(-fit.leaving_per_s * durations_s)
    inside = fit.returning_per_s / total
    is_there = inside + (1 - inside) * np.exp(-total * durations_s)
    return np.asarray(1 - stays / is_there)
