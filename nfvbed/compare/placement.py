"""Placement classes: which hidden state of the host a trial ran in.

In a virtual machine the hypervisor moves cores near to or far from each other, and that decides the
result. The trial's record keeps the raw core distances; the class is derived when it is read, by the
versioned rule below, so that a better rule changes no stored row.

The rule (version 1) looks at all distances of one host, in logarithms, because noise and the steps
between cache levels are both multiplicative:

1. Every gap between neighbouring sorted distances of a fifth or more is a candidate for a split.
2. A side of a split counts as a mode when at least one trial has *both* its distances there. A state of
   the host outlasts a trial; one ping-pong delayed by an interrupt does not, and so makes no mode.
3. The medians of the sides differ at least twofold, and the gap (between the 90th percentile below and
   the 10th above, so that strays do not hide it) takes at least 0.65 of the way between the medians:
   a broad single mode, cut anywhere, has no such gap.
4. Of the splits that are left the one with the widest gap is taken. None left: one mode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nfvbed.records import CoreDistance

PLACEMENT_RULE: Final = 1
"""Version of the rule, shown with every comparison."""

ONLY: Final = "only"
NEAR: Final = "near"
FAR: Final = "far"
MIXED: Final = "mixed"
"""The state changed within the trial: kept, never used."""

MIN_MEDIAN_RATIO: Final = 2.0
"""Modes closer than this are one class: within a class distances vary by less than twofold (25-45 ns seen)."""
MIN_STEP: Final = 1.2
"""Ratio of two neighbouring distances between which a split may lie."""
MIN_GAP_SHARE: Final = 0.65
"""Part of the way between the medians that must be empty; the halves of a uniform distribution leave 0.2."""
STRAY_SHARE: Final = 0.1
"""Part of each side that may lie in the gap."""


@dataclass(frozen=True)
class Placement:
    """The classes of one host, and each trial's place among them."""

    rule: int
    classes: tuple[str, ...]
    """The modes found, nearest first: (`only`,) or (`near`, `far`)."""
    boundary_ns: float | None
    """The distance that separates the two modes; None with one mode."""
    labels: tuple[str, ...]
    """One for each trial, in order: a class or `mixed`."""
    medians_ns: tuple[float, ...]
    """The median distance of each class; empty where nothing was measured."""


def classify(distances: Sequence[CoreDistance | None]) -> list[str]:
    """Give the placement class of every trial of one host, in the order given.

    Args:
        distances: core distances of the trials of *one host*, of all runs that are compared; None where
            nothing was measured, which gives `only`.
    """
    return list(analyse(distances).labels)


def analyse(distances: Sequence[CoreDistance | None]) -> Placement:
    """Find the modes of one host's distances and the class of every trial (see the module's text)."""
    pairs = np.array([[d.before, d.after] for d in distances if d is not None], dtype=float).reshape(-1, 2)
    usable = np.isfinite(pairs).all(axis=1) & (pairs > 0).all(axis=1)
    logs = np.log(pairs[usable])
    boundary = _boundary(logs)
    values = logs.ravel()
    if boundary is None:
        center = float(np.median(values)) if values.size else None
        labels = tuple(_label_in_one_mode(d, center) for d in distances)
        medians = () if center is None else (float(np.exp(center)),)
        return Placement(PLACEMENT_RULE, (ONLY,), None, labels, medians)
    boundary_ns = float(np.exp(boundary))
    sides = (values[values <= boundary], values[values > boundary])
    return Placement(
        PLACEMENT_RULE,
        (NEAR, FAR),
        boundary_ns,
        tuple(_label(d, boundary_ns) for d in distances),
        tuple(float(np.exp(np.median(side))) for side in sides),
    )


def _boundary(logs: NDArray[np.float64]) -> float | None:
    """Give the logarithm of the distance that splits the modes, or None for one mode.

    Args:
        logs: shape (trials, 2), logarithms of the distances before and after.
    """
    values = np.sort(logs.ravel())
    low_pair = logs.max(axis=1).min() if len(logs) else 0.0
    high_pair = logs.min(axis=1).max() if len(logs) else 0.0
    best: tuple[float, float] | None = None
    for index in range(1, len(values)):
        gap = values[index] - values[index - 1]
        middle = (values[index] + values[index - 1]) / 2
        holds_whole_trials = low_pair < middle < high_pair
        if gap < np.log(MIN_STEP) or not holds_whole_trials or (best is not None and gap <= best[0]):
            continue
        if _are_two_modes(values[:index], values[index:]):
            best = (float(gap), float(middle))
    return None if best is None else best[1]


def _are_two_modes(low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Say whether the sides of a split lie apart as two states of a host do (steps 3 of the rule)."""
    separation = float(np.median(high) - np.median(low))
    gap = float(np.quantile(high, STRAY_SHARE) - np.quantile(low, 1 - STRAY_SHARE))
    return separation >= np.log(MIN_MEDIAN_RATIO) and gap >= MIN_GAP_SHARE * separation


def _label(distance: CoreDistance | None, boundary_ns: float) -> str:
    if distance is None:
        return ONLY
    before, after = (NEAR if value <= boundary_ns else FAR for value in (distance.before, distance.after))
    return before if before == after else MIXED


def _label_in_one_mode(distance: CoreDistance | None, center: float | None) -> str:
    """Give `only`, or `mixed` for a trial of which one end alone lies outside the mode.

    A state that was seen at the end of a single trial is too little for a class of its own, but that
    trial may have run in both. On a quiet host this never happens.
    """
    if distance is None or center is None or min(distance.before, distance.after) <= 0:
        return ONLY
    reach = np.log(MIN_MEDIAN_RATIO)
    inside = [abs(np.log(value) - center) < reach for value in (distance.before, distance.after)]
    changed = max(distance.before, distance.after) / min(distance.before, distance.after) >= MIN_MEDIAN_RATIO
    return MIXED if changed and inside[0] != inside[1] else ONLY
