"""Where each group's CPU time went: user, system, softirq, guest; what cannot be told apart is bounded, and never 0."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from nfvbed.measure.cpu import LEAST_SWITCHING_NS
from nfvbed.measure.procfs import ThreadId
from nfvbed.measure.telemetry.groups import Group
from nfvbed.measure.telemetry.probe import Readings
from nfvbed.measure.telemetry.softirq import SoftirqTimes
from nfvbed.measure.telemetry.threads import ThreadUse
from nfvbed.records import Role, WorkThread
from nfvbed.units import NS_PER_S

_TICK_NS = NS_PER_S // os.sysconf("SC_CLK_TCK")
LEAST_TICKS = 400
"""From so many on, the 95 % interval of a share is within 5 points; 10 s of a busy core have 1,000."""
_Z = 1.96
"""Of a 95 % interval."""


@dataclass(frozen=True)
class Span:
    """A time in ns, or only its bounds."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GroupTimes:
    """One group's CPU time in one trial, ns."""

    user: Span
    system: Span
    softirq: Span
    guest: Span
    ticks: int | None
    """Clock ticks by which user and system are told apart; None: nothing had to be."""
    reasons: tuple[str, ...] = ()
    """Why something has no value, or not an exact one."""

    @property
    def total(self) -> float | None:
        """All of it; None where a part is not known."""
        parts = [span.value for span in (self.user, self.system, self.softirq, self.guest)]
        return None if None in parts else sum(part for part in parts if part is not None)


@dataclass(frozen=True)
class Traffic:
    """What was done in the trial."""

    duration_ns: int
    frames: int
    """That came through."""


def group_times(
    groups: Sequence[Group], readings: Readings, traffic: Traffic, softirq_in_run_time: bool
) -> dict[str, GroupTimes]:
    """Share the CPU time among the groups, by label.

    A thread's time is its exact run time without the softirqs that ran in it; clock ticks split it. The softirq time
    that packets took on a core is a group's where no other one works on that core.

    Args:
        groups: all of them.
        readings: of the trial.
        traffic: of the trial.
        softirq_in_run_time: whether the kernel counts softirqs as run time of the thread that they interrupt.
    """
    alone = {group.label: _alone(group, groups) for group in groups}
    hidden = _hidden(groups, readings, traffic, alone)
    nested = readings.softirqs if softirq_in_run_time else None
    found = {}
    for group in groups:
        if group.label in hidden:
            found[group.label] = _UNTOLD
            continue
        softirq, why = _softirq(group, readings.softirqs, alone[group.label] and not hidden)
        found[group.label] = _times(group, readings, traffic, nested, (softirq, why))
    return found


def in_trial(thread: WorkThread, run_ns: float, window_ns: int, duration_ns: int) -> float:
    """Leave out what a poller ran outside of the trial: it also polls before and after it."""
    if thread.role is Role.GENERATOR:
        return min(run_ns, duration_ns)  # Its drain is no work; between trials it sleeps.
    if thread.polling and window_ns > duration_ns:
        return run_ns * duration_ns / window_ns
    return run_ns


_NOT_KNOWN = Span(None)
_UNTOLD = GroupTimes(
    _NOT_KNOWN,
    _NOT_KNOWN,
    _NOT_KNOWN,
    _NOT_KNOWN,
    None,
    ("not separable: its work is done in the softirq of whoever hands it the frames",),
)


def _alone(group: Group, groups: Iterable[Group]) -> bool:
    return not any(group.cores & other.cores for other in groups if other is not group)


def _hidden(groups: Sequence[Group], readings: Readings, traffic: Traffic, alone: Mapping[str, bool]) -> set[str]:
    """Name the groups whose work others do: what they ran themselves is less than any switching takes.

    Where a VNF's is hidden, a switch in the kernel did it, or did not do its own: neither is known.
    """
    least_ns = traffic.frames * LEAST_SWITCHING_NS
    hidden = set()
    for group in groups:
        if group.role is Role.GENERATOR or group.polls:
            continue
        ran = sum(use.cpu.run_ns for _, use in _uses(group, readings))
        if readings.softirqs and alone[group.label]:
            ran += sum(
                readings.softirqs.cores[core].network_ns for core in group.cores if core in readings.softirqs.cores
            )
        if ran < least_ns:
            hidden.add(group.label)
    if hidden:
        hidden |= {group.label for group in groups if group.role is Role.SWITCH and not group.polls}
    return hidden


def _softirq(group: Group, traced: SoftirqTimes | None, owned: bool) -> tuple[Span, str]:
    """Give a group's softirq time, and why it has no value."""
    if traced is None:
        return _NOT_KNOWN, "softirqs were not traced"
    here = sum(traced.cores[core].network_ns for core in group.cores if core in traced.cores)
    if traced.lost:
        return Span(None, low=float(here) if owned else 0.0), "softirqs found no place in the trace buffer"
    if owned:
        return Span(float(here)), ""
    return Span(None, 0.0, float(here)), "softirq not separable: others work on its core, or in its softirq"


def _times(
    group: Group, readings: Readings, traffic: Traffic, nested: SoftirqTimes | None, softirq: tuple[Span, str]
) -> GroupTimes:
    user = _Sum()
    system = _Sum()
    guest_ns, ticks = 0.0, 0
    used = list(_uses(group, readings))
    for thread, use in used:
        ran = in_trial(thread, use.cpu.run_ns, readings.window_ns, traffic.duration_ns)
        scale = ran / use.cpu.run_ns if use.cpu.run_ns else 0.0
        inside = nested.in_thread(thread.tid) * scale if nested else 0.0
        parts = _split(ran, use)
        ticks += parts.ticks
        guest_ns += parts.guest_ns
        user.add(parts.user, 0.0)
        system.add(parts.system, inside)
    reasons = [softirq[1]]
    if len(used) < len(group.threads):
        return GroupTimes(_NOT_KNOWN, _NOT_KNOWN, softirq[0], _NOT_KNOWN, None, ("a thread of it ended", softirq[1]))
    counted = ticks if any(not use.kernel and use.cpu.run_ns for _, use in used) else None
    if counted is not None and counted < LEAST_TICKS:
        reasons.append("too few clock ticks to tell user from system within 5 points: a longer trial has more")
    return GroupTimes(
        user.span(), system.span(), softirq[0], Span(guest_ns), counted, tuple(reason for reason in reasons if reason)
    )


@dataclass(frozen=True)
class _Parts:
    user: Span
    system: Span
    guest_ns: float
    ticks: int


def _split(ran_ns: float, use: ThreadUse) -> _Parts:
    """Split a thread's run time by its clock ticks; one of the kernel's has no user time."""
    if use.kernel:
        return _Parts(Span(0.0, 0.0, 0.0), Span(ran_ns, ran_ns, ran_ns), 0.0, 0)
    counted = use.cpu.user_ns + use.cpu.system_ns
    if not counted:
        none = Span(None if ran_ns else 0.0, 0.0, ran_ns)
        return _Parts(none, none, 0.0, 0)
    ticks = counted // _TICK_NS
    guest_ns = ran_ns * min(use.cpu.guest_ns, use.cpu.user_ns) / counted
    low, high = _interval(use.cpu.user_ns / counted, ticks)
    user_ns = ran_ns * use.cpu.user_ns / counted
    user = Span(user_ns - guest_ns, max(0.0, ran_ns * low - guest_ns), max(0.0, ran_ns * high - guest_ns))
    return _Parts(user, Span(ran_ns - user_ns, ran_ns * (1 - high), ran_ns * (1 - low)), guest_ns, ticks)


def _interval(share: float, count: int) -> tuple[float, float]:
    """Give the 95 % interval of a share of so many samples (Wilson's)."""
    if not count:
        return 0.0, 1.0
    middle = share + _Z**2 / (2 * count)
    half = _Z * sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    scale = 1 + _Z**2 / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


class _Sum:
    """Adds spans up; one without a value leaves the sum without one."""

    def __init__(self) -> None:
        self._value: float | None = 0.0
        self._low = self._high = 0.0

    def add(self, span: Span, without: float) -> None:
        """Add one, less what is counted elsewhere."""
        if span.value is None or self._value is None:
            self._value = None
        else:
            self._value += max(0.0, span.value - without)
        self._low += max(0.0, (span.low or 0.0) - without)
        self._high += max(0.0, (span.high or 0.0) - without)

    def span(self) -> Span:
        """Give the sum; without bounds where they are the value."""
        if self._value is not None and self._low == self._high == self._value:
            return Span(self._value)
        return Span(self._value, self._low, self._high)


def _uses(group: Group, readings: Readings) -> Iterable[tuple[WorkThread, ThreadUse]]:
    for thread in group.threads:
        key: ThreadId = (thread.pid, thread.tid)
        if key in readings.threads:
            yield thread, readings.threads[key]
