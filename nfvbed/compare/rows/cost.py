"""What a row cost: cores kept busy, and cycles per packet."""

import re
from collections.abc import Sequence
from statistics import median as exact_median
from typing import Final, Literal

from nfvbed.records import NOT_SEPARABLE, Record, Role, Separable, TrialRecord

Share = float | Literal["not-separable"] | None
"""A fraction of cores; None where nothing was recorded."""

CLOCK_RATE: Final = re.compile(r" at \d+ Hz")
"""Measured again for every trial, so that it would make every trial's source another one."""


class CpuSplit(Record):
    """Cores that a role kept busy, by the kind of CPU time; together they are its busy cores."""

    user: float
    """Without that of guests."""
    guest: float
    system: float
    """Time of the kernel for it: calls, and threads of the kernel's own, as those that receive for a port are."""
    softirq: float
    """Softirq time of its core, where no other role has a thread there."""


class CpuUse(Record):
    """Cores kept busy at maximum load, by role; a poller's is 1 by nature."""

    switch: Share = None
    vnf: Share = None
    generator: Share = None
    splits: dict[Role, CpuSplit] = {}
    """By kind, of the roles whose time the rows have by kind."""


def cpu_use(trials: Sequence[TrialRecord]) -> CpuUse:
    """Return the cores that each role kept busy, median of trials, and what kind of time that was."""
    shares = {role: busy_cores(trials, role) for role in Role}
    splits = {role: _split(trials, role, share) for role, share in shares.items() if isinstance(share, float)}
    return CpuUse(
        **{role.value: share for role, share in shares.items()},
        splits={role: split for role, split in splits.items() if split is not None},
    )


def _split(trials: Sequence[TrialRecord], role: Role, cores: float) -> CpuSplit | None:
    """Divide busy cores as all trials together were; None where a trial's time is not known by kind.

    What is busy beyond user and system is softirq: it is counted there where a thread of softirq works for the role.
    """
    user = guest = system = softirq = 0
    for entry in (entry for trial in trials for entry in trial.cpu if entry.role is role):
        if NOT_SEPARABLE in (entry.user_ns, entry.system_ns, entry.guest_ns, entry.busy_ns):
            return None
        own, of_guests, of_kernel, busy = map(int, (entry.user_ns, entry.guest_ns, entry.system_ns, entry.busy_ns))
        in_guests = min(own, of_guests)  # Its ticks are coarser than the run time that the user's are scaled to.
        user, guest, system = user + own - in_guests, guest + in_guests, system + of_kernel
        softirq += max(0, busy - own - of_kernel)
    total = user + guest + system + softirq
    if not total:
        return None
    user_cores, guest_cores, system_cores, softirq_cores = (
        cores * part / total for part in (user, guest, system, softirq)
    )
    return CpuSplit(user=user_cores, guest=guest_cores, system=system_cores, softirq=softirq_cores)


def _median_or_word(values: Sequence[Share]) -> Share:
    """Return the median of the numbers, `not-separable` when any value is, None when there is none."""
    if any(value == NOT_SEPARABLE for value in values):
        return NOT_SEPARABLE
    numbers = [value for value in values if isinstance(value, float)]
    return float(exact_median(numbers)) if numbers else None


def busy_cores(trials: Sequence[TrialRecord], role: Role) -> Share:
    """Return the cores that a role kept busy, median of trials."""

    busy_ns = ((trial, [entry.busy_ns for entry in trial.cpu if entry.role is role]) for trial in trials)
    return _median_or_word([_cores_of(trial, parts) for trial, parts in busy_ns if parts])


def _cores_of(trial: TrialRecord, busy_ns: Sequence[Separable]) -> Share:
    if NOT_SEPARABLE in busy_ns:
        return NOT_SEPARABLE
    return sum(part for part in busy_ns if isinstance(part, int)) / trial.duration_ns


def cycles_per_packet(trials: Sequence[TrialRecord]) -> tuple[Share, str]:
    """Return the median of trials, and where "busy" comes from."""
    costs = [trial.cost for trial in trials if trial.cost is not None]
    values: list[Share] = [
        NOT_SEPARABLE if cost.busy_cycles == NOT_SEPARABLE else cost.cycles_per_packet for cost in costs
    ]
    sources = {CLOCK_RATE.sub("", cost.source) for cost in costs}
    return _median_or_word(values), ", ".join(sorted(sources))
