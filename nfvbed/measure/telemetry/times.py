"""Where each group's CPU time went: user, system, softirq, guest; what cannot be separated is bounded, never 0."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from nfvbed.measure.cpu import LEAST_SWITCHING_NS
from nfvbed.measure.telemetry.groups import Group
from nfvbed.measure.telemetry.probe import Readings
from nfvbed.measure.telemetry.threads import ThreadUse
from nfvbed.measure.telemetry.tracedtimes import TracedTimes
from nfvbed.records import Role, WorkThread
from nfvbed.records.readings import ThreadId
from nfvbed.units import NS_PER_S

_TICK_NS = NS_PER_S // os.sysconf("SC_CLK_TCK")
LEAST_TICKS = 400
"""From so many on, the 95 % interval of a share is within 5 points; 10 s of a busy core have 1,000."""
_Z = 1.96
"""Quantile of the normal distribution for a 95 % interval."""


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
    """Clock ticks by which user and system are distinguished; None: nothing had to be."""
    reasons: tuple[str, ...] = ()
    """Why something has no value, or not an exact one."""

    @property
    def total(self) -> float | None:
        """All of it; None where a part is not known."""
        parts = [span.value for span in (self.user, self.system, self.softirq, self.guest)]
        return None if None in parts else sum(part for part in parts if part is not None)


@dataclass(frozen=True)
class Traffic:
    """The length of a trial and the frames that came through it."""

    duration_ns: int
    frames: int
    """Frames that came through."""


def group_times(
    groups: Sequence[Group], readings: Readings, traffic: Traffic, ticks_hold_softirqs: bool
) -> dict[str, GroupTimes]:
    """Return the CPU time shared among the groups, by label.

    A thread's time is that on its core, as traced, without the softirqs that ran in it; clock ticks split it. The
    softirq time that packets took on a core is a group's where no other one works on that core.

    Where nothing was traced a thread's time is the scheduler's run time. Of threads that share a core that is only
    about right: the time from a wake-up to the switch that follows is counted for the thread that was woken.

    Args:
        ticks_hold_softirqs: whether a thread's ticks are also those of softirqs that ran in it.
    """
    traced = _complete(readings)
    alone = {group.label: _alone(group, groups) for group in groups}
    hidden = _hidden(groups, readings, traffic, alone)
    found = {}
    for group in groups:
        if group.label in hidden:
            found[group.label] = _UNREPORTED
            continue
        softirq = _softirq(group, readings.traced, alone[group.label] and not hidden)
        shares = [
            _share(thread, use, traced, ticks_hold_softirqs).scaled(_in_trial(thread, readings, traffic))
            for thread, use in _uses(group, readings)
        ]
        found[group.label] = _times(group, shares, softirq, exact=traced is not None or alone[group.label])
    return found


def worked_ns(thread: WorkThread, readings: Readings, duration_ns: int) -> float:
    """Return the time for which a thread was on its core in the trial, softirqs among it."""
    use = readings.threads.get((thread.pid, thread.tid))
    if use is None:
        return 0.0
    return _on_core(thread, use, _complete(readings)) * _in_trial(thread, readings, Traffic(duration_ns, 0))


def _complete(readings: Readings) -> TracedTimes | None:
    return readings.traced if readings.traced and not readings.traced.lost else None


def _on_core(thread: WorkThread, use: ThreadUse, traced: TracedTimes | None) -> float:
    if traced is not None and thread.core in traced.cores:
        return float(traced.of_thread(thread.tid))
    return float(use.cpu.run_ns)


def _in_trial(thread: WorkThread, readings: Readings, traffic: Traffic) -> float:
    """Return the part of a thread's time that was in the trial: a poller also polls before it and after it.

    The generator's poller sleeps between trials, and its drain is no work.
    """
    use = readings.threads.get((thread.pid, thread.tid))
    if use is None or not thread.polling or not use.cpu.run_ns:
        return 1.0
    whole_ns = use.cpu.run_ns if thread.role is Role.GENERATOR else readings.window_ns
    return min(1.0, traffic.duration_ns / whole_ns) if whole_ns else 1.0


_NOT_KNOWN = Span(None)
_UNREPORTED = GroupTimes(
    _NOT_KNOWN,
    _NOT_KNOWN,
    _NOT_KNOWN,
    _NOT_KNOWN,
    None,
    ("not separable: its work is done in the softirq of the sender of its frames",),
)


def _alone(group: Group, groups: Iterable[Group]) -> bool:
    return not any(group.cores & other.cores for other in groups if other is not group)


def _hidden(groups: Sequence[Group], readings: Readings, traffic: Traffic, alone: Mapping[str, bool]) -> set[str]:
    """Return the groups whose work others do: what they ran themselves is less than any switching takes.

    Where a VNF's is hidden, a switch in the kernel did it, or did not do its own: neither is known.
    """
    least_ns = traffic.frames * LEAST_SWITCHING_NS
    hidden = set()
    for group in groups:
        if group.role is Role.GENERATOR or group.polls:
            continue
        ran = sum(_on_core(thread, use, _complete(readings)) for thread, use in _uses(group, readings))
        if readings.traced and alone[group.label]:
            ran += readings.traced.network_ns(group.cores)
        if ran < least_ns:
            hidden.add(group.label)
    if hidden:
        hidden |= {group.label for group in groups if group.role is Role.SWITCH and not group.polls}
    return hidden


def _softirq(group: Group, traced: TracedTimes | None, owned: bool) -> tuple[Span, str]:
    """Return a group's softirq time, and why it has no value."""
    if traced is None:
        return _NOT_KNOWN, "softirqs were not traced"
    here = float(traced.network_ns(group.cores))
    if traced.lost:
        return Span(None, low=here if owned else 0.0), "events found no place in the trace buffer"
    if owned:
        return Span(here), ""
    return Span(None, 0.0, here), "softirq not separable: others work on its core, or in its softirq"


@dataclass(frozen=True)
class _Share:
    """The CPU time of one thread by kind."""

    user: Span
    system: Span
    guest_ns: float = 0.0
    ticks: int | None = None
    """By which it was split; None: it did not have to be."""

    def scaled(self, factor: float) -> "_Share":
        """Return a part of it."""
        return _Share(_scaled(self.user, factor), _scaled(self.system, factor), self.guest_ns * factor, self.ticks)


def _share(thread: WorkThread, use: ThreadUse, traced: TracedTimes | None, ticks_hold_softirqs: bool) -> _Share:
    """Split a thread's own time by its clock ticks; one of the kernel's has no user time."""
    on_core = _on_core(thread, use, traced)
    inside = traced.softirq_in_thread(thread.tid) if traced is not None and thread.core in traced.cores else 0
    own = max(0.0, on_core - inside)
    if use.kernel:
        return _Share(Span(0.0, 0.0, 0.0), Span(own, own, own))
    counted = use.cpu.user_ns + use.cpu.system_ns
    if not counted:
        unknown = Span(None if own else 0.0, 0.0, own)
        return _Share(unknown, unknown, ticks=0)
    # What the ticks were counted in: where softirqs are among them, all of these are the system's.
    base = on_core if ticks_hold_softirqs else own
    ticks = counted // _TICK_NS
    guest_ns = min(own, base * min(use.cpu.guest_ns, use.cpu.user_ns) / counted)
    low, high = _interval(use.cpu.user_ns / counted, ticks)
    at, least, most = (min(own, base * part) for part in (use.cpu.user_ns / counted, low, high))
    user = Span(max(0.0, at - guest_ns), max(0.0, least - guest_ns), max(0.0, most - guest_ns))
    return _Share(user, Span(own - at, own - most, own - least), guest_ns, ticks)


def _times(group: Group, shares: Sequence[_Share], softirq: tuple[Span, str], *, exact: bool) -> GroupTimes:
    span, why = softirq
    if len(shares) < len(group.threads):
        return GroupTimes(_NOT_KNOWN, _NOT_KNOWN, span, _NOT_KNOWN, None, ("a thread of it ended", why))
    counted = [share.ticks for share in shares if share.ticks is not None]
    ticks = sum(counted) if counted else None
    reasons = [why]
    if not exact:
        reasons.append("times of threads that share a core are only about right without a trace")
    if ticks is not None and ticks < LEAST_TICKS:
        reasons.append("too few clock ticks to distinguish user from system within 5 points: a longer trial has more")
    return GroupTimes(
        _sum([share.user for share in shares]),
        _sum([share.system for share in shares]),
        span,
        Span(sum(share.guest_ns for share in shares)),
        ticks,
        tuple(reason for reason in reasons if reason),
    )


def _interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of so many samples (Wilson's)."""
    if not count:
        return 0.0, 1.0
    middle = share + _Z**2 / (2 * count)
    half = _Z * sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    scale = 1 + _Z**2 / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def _scaled(span: Span, factor: float) -> Span:
    value, low, high = (None if part is None else part * factor for part in (span.value, span.low, span.high))
    return Span(value, low, high)


def _sum(spans: Sequence[Span]) -> Span:
    """Add spans up; one without a value leaves the sum without one. It has bounds where they differ from it."""
    values = [span.value for span in spans]
    total = None if None in values else sum(value for value in values if value is not None)
    low, high = sum(span.low or 0.0 for span in spans), sum(span.high or 0.0 for span in spans)
    return Span(total) if low == high == total else Span(total, low, high)


def _uses(group: Group, readings: Readings) -> Iterable[tuple[WorkThread, ThreadUse]]:
    for thread in group.threads:
        key: ThreadId = (thread.pid, thread.tid)
        if key in readings.threads:
            yield thread, readings.threads[key]
