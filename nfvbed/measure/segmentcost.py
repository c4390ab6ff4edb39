"""What a segment of TCP costs the CPU, end by end: it tells why one switch carries more than another one.

Times are the scheduler's run times of threads, and iperf3's own figure of its two processes; softirq that runs in one
of them is in its time. Threads that poll are left out, as they are busy whatever comes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nfvbed.records import Role, WorkThread
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


def segment_costs(
    figures: SocketFigures, switch_ns: int, receiving_ns: int, calls: SystemCalls, tsc_hz: int
) -> tuple[Figure, ...]:
    """Return cycles a segment of every part, how many cores were busy with all of them, and the bytes a system call.

    Args:
        switch_ns: run time of the switch's threads that do not poll.
        receiving_ns: the same of the ends' receive threads.
        calls: of the switch's threads.

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
        SWITCH: switch_ns,
        RECEIVING: receiving_ns,
    }
    busy_ns[ALL] = sum(busy_ns.values())
    cycles = (Figure(cycles_of(part), ns * tsc_hz / NS_PER_S / segments, UNIT) for part, ns in busy_ns.items())
    return (
        *cycles,
        Figure(CORES_BUSY, busy_ns[ALL] / figures.duration_ns, "cores"),
        *((Figure(CALL_BYTES, calls.octets / calls.count, "B"),) if calls.count else ()),
    )
