"""What a segment of TCP costs the CPU, end by end: it tells why one switch carries more than another one.

Times are the scheduler's run times of threads, and iperf3's own figure of its two processes; softirq that runs in one
of them is in its time. Threads that poll run whatever comes: of them the cycles count in which the switch itself says
that it had frames.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nfvbed.records import NOT_SEPARABLE, Role, SwitchCounters, WorkThread
from nfvbed.records.readings import CpuSample
from nfvbed.records.segments import (
    ALL,
    CALL_BYTES,
    CLIENT,
    CORES_BUSY,
    RECEIVING,
    SEGMENT_BYTES,
    SERVER,
    SWITCH,
    UNIT,
    cycles_of,
)
from nfvbed.traffic.sockets.figures import THROUGHPUT, Figure, SocketFigures
from nfvbed.units import NS_PER_S

_PROC: Final = Path("/proc")


@dataclass(frozen=True)
class SystemCalls:
    """Calls that read and write, and their bytes, as the kernel counts them of threads (proc(5), `io`)."""

    count: int
    octets: int

    @classmethod
    def of(cls, threads: Iterable[WorkThread], proc: Path = _PROC) -> "SystemCalls":
        """Read those of threads; one that is gone has made none."""
        count = octets = 0
        for thread in threads:
            try:
                text = (proc / str(thread.pid) / "task" / str(thread.tid) / "io").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            found = dict(line.split(": ") for line in text.splitlines())
            count += int(found["syscr"]) + int(found["syscw"])
            octets += int(found["rchar"]) + int(found["wchar"])
        return cls(count, octets)

    def since(self, before: "SystemCalls") -> "SystemCalls":
        """Return those after a former reading."""
        return SystemCalls(self.count - before.count, self.octets - before.octets)


def waiting(threads: Iterable[WorkThread], role: Role) -> tuple[WorkThread, ...]:
    """Return a role's threads that run when there is work, not those that poll."""
    return tuple(thread for thread in threads if thread.role is role and not thread.polling)


def run_ns(threads: Iterable[WorkThread], before: CpuSample, after: CpuSample) -> int:
    """Return how long threads ran between two readings; one that is not in both counts nothing."""
    keys = {(thread.pid, thread.tid) for thread in threads} & before.threads.keys() & after.threads.keys()
    return sum(after.threads[key].run_ns - before.threads[key].run_ns for key in keys)


def polled_cycles(threads: Iterable[WorkThread], counted: SwitchCounters | None) -> int:
    """Return the cycles in which a switch's polling threads had frames; 0 where none polls, or it does not tell.

    Args:
        counted: what the switch counted meanwhile.
    """
    polls = any(thread.polling for thread in threads if thread.role is Role.SWITCH)
    if not polls or counted is None or counted.busy_cycles == NOT_SEPARABLE:
        return 0
    return counted.busy_cycles


@dataclass(frozen=True)
class PathWork:
    """The work of everything between two hosts' tools, in one run."""

    switch_ns: int
    """Run time of the switch's threads that do not poll."""
    receiving_ns: int
    """The same of the ends' receive threads."""
    calls: SystemCalls
    """Of the switch's threads that do not poll."""
    polled_cycles: int = 0
    """Of the switch's threads that poll, those with frames."""


def segment_costs(figures: SocketFigures, work: PathWork, tsc_hz: int) -> tuple[Figure, ...]:
    """Return cycles a segment of every part, how many cores were busy with all of them, and the bytes a system call.

    Returns:
        Nothing where the tool gives no throughput, or no CPU time of its own.
    """
    rate, client, server = (figures.value(name) for name in (THROUGHPUT, "client CPU", "server CPU"))
    if not rate or client is None or server is None:
        return ()
    duration_s = figures.duration_ns / NS_PER_S
    segments = rate * duration_s / 8 / SEGMENT_BYTES
    busy_ns = {
        CLIENT: client / 100 * figures.duration_ns,
        SERVER: server / 100 * figures.duration_ns,
        SWITCH: work.switch_ns + work.polled_cycles * NS_PER_S // tsc_hz,
        RECEIVING: work.receiving_ns,
    }
    busy_ns[ALL] = sum(busy_ns.values())
    cycles = (Figure(cycles_of(part), ns * tsc_hz / NS_PER_S / segments, UNIT) for part, ns in busy_ns.items())
    return (
        *cycles,
        Figure(CORES_BUSY, busy_ns[ALL] / figures.duration_ns, "cores"),
        *((Figure(CALL_BYTES, work.calls.octets / work.calls.count, "B"),) if work.calls.count else ()),
    )
