"""CPU time by role around a trial: what can be distinguished is given in ns, what cannot is `not-separable`."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfvbed.records import NOT_SEPARABLE, CpuTime, QualityWarning, Role, Separable, WorkThread
from nfvbed.records.readings import CpuSample, ThreadSample, Unavailable

STOLEN_LIMIT = 0.01
"""Part of the trial that a working thread may lose to others or to the hypervisor; a few ms a second is normal."""
SHORT_TURN_NS = 50_000
"""The longest turn of another thread on a core that is taken for housekeeping of the kernel."""
LEAST_SWITCHING_NS = 20
"""No kernel takes a frame from a port to another one in less time of a core."""


@dataclass(frozen=True)
class CpuReport:
    """CPU time of every role and core, and the warnings about it."""

    times: tuple[CpuTime, ...]
    warnings: tuple[QualityWarning, ...]


@dataclass(frozen=True)
class _Window:
    """What was read around one trial."""

    before: CpuSample
    after: CpuSample
    duration_ns: int
    """How long frames were sent; the readings lie a little further apart."""

    def thread(self, thread: WorkThread) -> ThreadSample | None:
        """Return what a thread used in the window; None when it was not there at both ends."""
        first = self.before.threads.get((thread.pid, thread.tid))
        last = self.after.threads.get((thread.pid, thread.tid))
        if first is None or last is None:
            return None
        return ThreadSample(
            user_ns=last.user_ns - first.user_ns,
            system_ns=last.system_ns - first.system_ns,
            guest_ns=last.guest_ns - first.guest_ns,
            run_ns=last.run_ns - first.run_ns,
            wait_ns=last.wait_ns - first.wait_ns,
            turns=last.turns - first.turns,
        )

    def softirq_ns(self, core: int) -> int:
        """Return the core's softirq time, whatever caused it."""
        return self.after.cores[core].softirq_ns - self.before.cores[core].softirq_ns

    def steal_ns(self, core: int | None) -> int:
        """Return the time that the hypervisor took from the core."""
        if core is None or core not in self.after.cores or core not in self.before.cores:
            return 0
        exact = self._exact_steal_ns(core)
        return self.after.cores[core].steal_ns - self.before.cores[core].steal_ns if exact is None else exact

    def steal_step_ns(self, core: int | None) -> int:
        """Return the steps in which that time is counted; 0: exactly."""
        if core is not None and self._exact_steal_ns(core) is not None:
            return 0
        return max(self.before.steal_step_ns, self.after.steal_step_ns)

    def _exact_steal_ns(self, core: int) -> int | None:
        """Return the stolen time where both readings have it exactly."""
        first, last = (sample.cores.get(core) for sample in (self.before, self.after))
        if first is None or last is None or first.exact_steal_ns is None or last.exact_steal_ns is None:
            return None
        return last.exact_steal_ns - first.exact_steal_ns

    def in_trial(self, thread: WorkThread, run_ns: int) -> int:
        """Leave out what a thread ran outside the trial: a poller also polls before and after it."""
        if thread.role is Role.GENERATOR:
            return min(run_ns, self.duration_ns)  # Its drain is no work; between trials it sleeps.
        length_ns = self.after.at_ns - self.before.at_ns
        if thread.polling and length_ns > self.duration_ns:
            return run_ns * self.duration_ns // length_ns
        return run_ns


def account(
    threads: Sequence[WorkThread], before: CpuSample | Unavailable, after: CpuSample | Unavailable, duration_ns: int
) -> CpuReport:
    """Share the CPU time between two readings among the roles; no role has one where a reading is not available.

    A thread's busy time is its exact run time (a poller's is therefore the whole trial), split into user and system
    by ticks. Softirq time is a core's, and belongs to a role only where no other role has a thread on that core.
    """
    if isinstance(before, Unavailable) or isinstance(after, Unavailable):
        return CpuReport((), ())
    window = _Window(before, after, duration_ns)
    groups: dict[tuple[Role, int | None], list[WorkThread]] = {}
    for thread in threads:
        groups.setdefault((thread.role, thread.core), []).append(thread)
    shared = _shared_cores(threads)
    stolen_ns = {thread: _stolen_ns(thread, threads, window) for thread in threads}
    times = tuple(
        _time(role, members, window, core is not None and core in after.cores and core not in shared).model_copy(
            update={
                "stolen_ns": max(stolen_ns[member] for member in members),
                "held_ns": max(_held_ns(member, stolen_ns[member], window) for member in members),
                "steal_ns": window.steal_ns(core),
                "steal_step_ns": window.steal_step_ns(core),
            }
        )
        for (role, core), members in groups.items()
    )
    warnings = []
    if shared:
        warnings.append(QualityWarning.CORES_SHARED)
    if any(stolen > STOLEN_LIMIT * duration_ns for stolen in stolen_ns.values()):
        warnings.append(QualityWarning.CPU_STOLEN)
    return CpuReport(times, tuple(warnings))


def without_hidden_work(times: Sequence[CpuTime], threads: Sequence[WorkThread], frames: int) -> tuple[CpuTime, ...]:
    """Return the times, unknown for a kernel VNF or switch whose threads did not run though frames came through it.

    Its work was then done in the softirq of what handed it the frames. So where a VNF's work is hidden, the time of
    a switch in the kernel is not that of the switch alone either. A switch that polls in a process of its own cannot
    have done it.

    Args:
        frames: number received in the trial.
    """
    if not frames:
        return tuple(times)
    polled = any(thread.polling for thread in threads if thread.role is Role.SWITCH)
    hidden = {Role.VNF} if _is_idle(times, Role.VNF, 1) else set()
    if not polled and (hidden or _is_idle(times, Role.SWITCH, frames * LEAST_SWITCHING_NS)):
        hidden.add(Role.SWITCH)
    why = "its threads did not do it: it works in softirq that is another's as well"
    return tuple(_unknown(time.role, time.core, NOT_SEPARABLE, why) if time.role in hidden else time for time in times)


def _is_idle(times: Sequence[CpuTime], role: Role, less_than_ns: int) -> bool:
    """Return whether a role has threads that all together ran for less than a time."""
    mine = [time.busy_ns for time in times if time.role is role]
    return bool(mine) and sum(busy if busy != NOT_SEPARABLE else less_than_ns for busy in mine) < less_than_ns


def _time(role: Role, members: Sequence[WorkThread], window: _Window, owned: bool) -> CpuTime:
    core = members[0].core
    softirq: Separable = window.softirq_ns(core) if owned and core is not None else NOT_SEPARABLE
    # ksoftirqd's own run time is only a part of the softirq time: the rest runs at the end of interrupts.
    in_softirq = [t for t in members if _is_ksoftirqd(t)]
    others = [t for t in members if not _is_ksoftirqd(t)]
    used = [(t, sample) for t in others if (sample := window.thread(t)) is not None]
    source = _source(others, in_softirq, owned)
    if len(used) < len(others):
        gone = ", ".join(t.name for t in others if window.thread(t) is None)
        return _unknown(role, core, softirq, f"{source}; gone: {gone}")
    run_ns = sum(window.in_trial(t, sample.run_ns) for t, sample in used)
    user, system = _split(run_ns, [sample for _, sample in used])
    busy: Separable = run_ns
    if in_softirq:
        busy = NOT_SEPARABLE if softirq == NOT_SEPARABLE else run_ns + softirq
    return CpuTime(
        role=role,
        core=core,
        user_ns=user,
        system_ns=system,
        softirq_ns=softirq,
        guest_ns=sum(sample.guest_ns for _, sample in used),
        busy_ns=busy,
        source=source,
    )


def _unknown(role: Role, core: int | None, softirq: Separable, source: str) -> CpuTime:
    return CpuTime(
        role=role,
        core=core,
        user_ns=NOT_SEPARABLE,
        system_ns=NOT_SEPARABLE,
        softirq_ns=softirq,
        guest_ns=NOT_SEPARABLE,
        busy_ns=NOT_SEPARABLE,
        source=source,
    )


def _split(run_ns: int, samples: Sequence[ThreadSample]) -> tuple[Separable, Separable]:
    """Split the exact run time by the ticks, which are coarse but never lose the sum."""
    user_ns = sum(s.user_ns for s in samples)
    total_ns = user_ns + sum(s.system_ns for s in samples)
    if not run_ns:
        return 0, 0
    if not total_ns:
        return NOT_SEPARABLE, NOT_SEPARABLE
    user = run_ns * user_ns // total_ns
    return user, run_ns - user


def _source(others: Sequence[WorkThread], in_softirq: Sequence[WorkThread], owned: bool) -> str:
    parts = []
    if others:
        parts.append("schedstat run time")
    if any(t.polling for t in others):
        parts.append("poller: its share of the trial")
    if in_softirq:
        parts.append("softirq ticks of its core")
    elif not owned:
        parts.append("softirq not distinguished (core shared or not known)")
    return "; ".join(parts)


def _stolen_ns(thread: WorkThread, threads: Sequence[WorkThread], window: _Window) -> int:
    """Return how long a thread waited for its core that no other working thread there accounts for.

    Threads of ours that share a core wait for each other by design (both ports' NAPI threads on the switch's core, the
    sinks and the sender on the generator's): that is the arrangement, and no theft.
    """
    sample = window.thread(thread)
    others = [t for t in threads if t.core == thread.core and t.core is not None and t != thread]
    theirs_ns = sum(other.run_ns for t in others if (other := window.thread(t)) is not None)
    return max(0, (sample.wait_ns if sample else 0) - theirs_ns) + window.steal_ns(thread.core)


def _held_ns(thread: WorkThread, stolen_ns: int, window: _Window) -> int:
    """Return the stolen time without as many short turns of others as the thread had to wait for.

    The kernel tells the sum of a thread's waits and how many there were, and not the longest. Its own threads run for
    some 10 us at a time, which frames outlast in their rings.
    """
    sample = window.thread(thread)
    steal_ns = window.steal_ns(thread.core)
    turns = sample.turns if sample else 0
    return max(0, stolen_ns - steal_ns - turns * SHORT_TURN_NS) + steal_ns


def _is_ksoftirqd(thread: WorkThread) -> bool:
    return thread.name.startswith("ksoftirqd/")


def _shared_cores(threads: Sequence[WorkThread]) -> set[int]:
    roles: dict[int, set[Role]] = {}
    for thread in threads:
        if thread.core is not None:
            roles.setdefault(thread.core, set()).add(thread.role)
    return {core for core, here in roles.items() if len(here) > 1}
