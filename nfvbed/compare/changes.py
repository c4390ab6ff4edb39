"""How often the host changed its state, and how many trials look whole but were in two states.

A trial whose ends are in one class may have left it in between and come back. How often follows from the trials whose
ends differ, as changes at random would make them: for each class a process that leaves it at one rate and returns at
another (a telegraph process of two rates) is fitted by maximum likelihood. Two rates are needed because a host that is
far for a twentieth of the time leaves that state twenty times as fast as it enters it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

SPEEDS: Final = 121
SHARES: Final = np.concatenate([[0.005, 0.01, 0.02, 0.03], np.linspace(0.05, 0.95, 37), [0.97, 0.98, 0.99, 0.995]])
"""The parts of the time in a class that are tried."""

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
    """Estimate how often the class changed.

    Args:
        ends: `Placement.ends` of some or all trials of a host; None: not measured, passed over.
        durations_s: of the same trials, from the reading before to the reading after them.
    """
    seen = [(*end, duration) for end, duration in zip(ends, durations_s, strict=True) if end and duration > 0]
    if all(before == after for before, after, _ in seen):
        return Changes(0.0, 0.0)
    hidden, whole, per_s = 0.0, 0, 0.0
    for name in sorted({name for before, after, _ in seen for name in (before, after)}):
        inside = [(before == name, after == name, duration) for before, after, duration in seen]
        fit = _fit(Counter((first, last, float(f"{duration:.3g}")) for first, last, duration in inside))
        share = float(np.mean([[first, last] for first, last, _ in inside]))
        per_s += share * fit.leaving_per_s
        if name:
            staying = np.array([duration for first, last, duration in inside if first and last])
            hidden += float(_left_and_back(fit, staying).sum())
            whole += len(staying)
    return Changes(hidden / whole if whole else 0.0, per_s)


def _fit(counts: Counter[tuple[bool, bool, float]]) -> _Fit:
    """Fit leaving and returning to trials as (begins inside, ends inside, duration): how many."""
    if all(first == last for first, last, _ in counts):
        return _Fit(0.0, 0.0)
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
    best = np.unravel_index(int(np.argmax(likelihood)), likelihood.shape)
    total, inside = float(speed[best[0], 0]), float(share[0, best[1]])
    return _Fit(leaving_per_s=total * (1 - inside), returning_per_s=total * inside)


def _left_and_back(fit: _Fit, durations_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that a trial which begins and ends inside was outside meanwhile."""
    total = fit.leaving_per_s + fit.returning_per_s
    if not total or not len(durations_s):
        return np.zeros(len(durations_s))
    stays = np.exp(-fit.leaving_per_s * durations_s)
    inside = fit.returning_per_s / total
    is_there = inside + (1 - inside) * np.exp(-total * durations_s)
    return np.asarray(1 - stays / is_there)
