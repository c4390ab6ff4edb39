"""What a row cost: cores kept busy, and cycles per packet."""

import re
from collections.abc import Callable, Sequence
from statistics import median as exact_median
from typing import Final, Literal

from nfvbed.records import NOT_SEPARABLE, Record, Role, TrialRecord

Share = float | Literal["not-separable"] | None
"""A fraction of cores; None where nothing was recorded."""

CLOCK_RATE: Final = re.compile(r" at \d+ Hz")
"""Measured again for every trial, so that it would make every trial's source another one."""


class CpuUse(Record):
    """Cores kept busy at maximum load, by role; a poller's is 1 by nature."""

    switch: Share = None
    vnf: Share = None
    generator: Share = None


def _median_or_word(values: Sequence[Share]) -> Share:
    """Return the median of the numbers, `not-separable` when any value is, None when there is none."""
    if any(value == NOT_SEPARABLE for value in values):
        return NOT_SEPARABLE
    numbers = [value for value in values if isinstance(value, float)]
    return float(exact_median(numbers)) if numbers else None


def busy_cores(trials: Sequence[TrialRecord], role: Role) -> Share:
    """Return the cores that a role kept busy, median of trials."""

    def of_trial(trial: TrialRecord) -> Share:
        parts = [entry.busy_ns for entry in trial.cpu if entry.role is role]
        if any(part == NOT_SEPARABLE for part in parts):
            return NOT_SEPARABLE
        return sum(part for part in parts if isinstance(part, int)) / trial.duration_ns if parts else None

    return _median_or_word(_each(trials, of_trial))


def _each(trials: Sequence[TrialRecord], measure: Callable[[TrialRecord], Share]) -> list[Share]:
    return [measure(trial) for trial in trials]


def cycles_per_packet(trials: Sequence[TrialRecord]) -> tuple[Share, str]:
    """Return the median of trials, and where "busy" comes from."""
    costs = [trial.cost for trial in trials if trial.cost is not None]
    values: list[Share] = [
        NOT_SEPARABLE if cost.busy_cycles == NOT_SEPARABLE else cost.cycles_per_packet for cost in costs
    ]
    sources = {CLOCK_RATE.sub("", cost.source) for cost in costs}
    return _median_or_word(values), ", ".join(sorted(sources))
