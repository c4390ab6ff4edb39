"""What threads did between two looks: run time, kinds of time, context switches."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nfvbed.host.cores.procfs import read_sample
from nfvbed.records.readings import CpuSample, ThreadId, ThreadSample

_FLAGS = 6
"""Place in /proc/<pid>/stat after the name in parentheses (proc(5): field 9)."""
_PF_KTHREAD = 0x00200000
_NAMES = {"voluntary_ctxt_switches": "voluntary", "nonvoluntary_ctxt_switches": "involuntary"}


@dataclass(frozen=True)
class Switches:
    """How often a thread left its core (proc(5), /proc/pid/status)."""

    voluntary: int
    """Switches because the thread had to wait for something."""
    involuntary: int
    """Another thread was put in its place."""


@dataclass(frozen=True)
class ThreadReading:
    """One look at threads; one that is gone is missing."""

    sample: CpuSample
    switches: dict[ThreadId, Switches]
    kernel: frozenset[ThreadId] = frozenset()
    """Those of the kernel, which never run a user's code."""


@dataclass(frozen=True)
class ThreadUse:
    """What one thread used between two looks."""

    cpu: ThreadSample
    switches: Switches
    kernel: bool = False


def look(threads: Iterable[ThreadId], proc: Path = Path("/proc")) -> ThreadReading:
    """Look at threads now."""
    wanted = tuple(threads)
    seen = {thread: found for thread in wanted if (found := _switches(thread, proc)) is not None}
    kernel = frozenset(thread for thread in seen if _is_kernel_thread(thread, proc))
    return ThreadReading(read_sample(wanted, proc), seen, kernel)


def used(before: ThreadReading, after: ThreadReading) -> dict[ThreadId, ThreadUse]:
    """Return what every thread used that was there both times."""
    both = [thread for thread in before.switches if thread in after.switches and thread in after.sample.threads]
    return {thread: _difference(thread, before, after) for thread in both if thread in before.sample.threads}


def _difference(thread: ThreadId, before: ThreadReading, after: ThreadReading) -> ThreadUse:
    first, last = before.sample.threads[thread], after.sample.threads[thread]
    left, then = after.switches[thread], before.switches[thread]
    return ThreadUse(
        ThreadSample(
            user_ns=last.user_ns - first.user_ns,
            system_ns=last.system_ns - first.system_ns,
            guest_ns=last.guest_ns - first.guest_ns,
            run_ns=last.run_ns - first.run_ns,
            wait_ns=last.wait_ns - first.wait_ns,
        ),
        Switches(left.voluntary - then.voluntary, left.involuntary - then.involuntary),
        thread in after.kernel,
    )


def _is_kernel_thread(thread: ThreadId, proc: Path) -> bool:
    try:
        text = (proc / str(thread[0]) / "task" / str(thread[1]) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return bool(int(text.rpartition(")")[2].split()[_FLAGS]) & _PF_KTHREAD)


def _switches(thread: ThreadId, proc: Path) -> Switches | None:
    try:
        text = (proc / str(thread[0]) / "task" / str(thread[1]) / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    values = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name in _NAMES:
            values[_NAMES[name]] = int(value)
    return Switches(**values)
