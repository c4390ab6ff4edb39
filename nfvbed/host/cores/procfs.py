"""CPU time as the kernel counts it, read from /proc: of threads exactly (schedstat), of kinds of time in ticks."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from nfvbed.records.readings import CoreSample, CpuSample, ThreadId, ThreadSample
from nfvbed.units import NS_PER_S

_TICK_NS = NS_PER_S // os.sysconf("SC_CLK_TCK")
_UTIME, _STIME, _GUEST_TIME = 11, 12, 40
"""Places in /proc/<pid>/task/<tid>/stat after the name in parentheses (proc(5): fields 14, 15 and 43)."""


ExactSteal = Callable[[Mapping[int, int], int], Mapping[int, int]]
"""Given what was stolen of each core in steps, and the step's length: returns what was stolen exactly, where known."""


def _unknown(told_ns: Mapping[int, int], step_ns: int) -> Mapping[int, int]:
    return {}


def read_sample(
    threads: Iterable[ThreadId], proc: Path = Path("/proc"), exact_steal: ExactSteal = _unknown
) -> CpuSample:
    """Read the threads and all cores now."""
    seen = {thread: sample for thread in threads if (sample := _read_thread(thread, proc)) is not None}
    cores = _read_cores(proc)
    exact = exact_steal({number: core.steal_ns for number, core in cores.items()}, _TICK_NS)
    cores |= {number: replace(cores[number], exact_steal_ns=ns) for number, ns in exact.items()}
    steals = any(core.steal_ns for core in cores.values())
    return CpuSample(at_ns=time.monotonic_ns(), threads=seen, cores=cores, steal_step_ns=_TICK_NS if steals else 0)


def _read_thread(thread: ThreadId, proc: Path) -> ThreadSample | None:
    folder = proc / str(thread[0]) / "task" / str(thread[1])
    try:
        stat = (folder / "stat").read_text()
        schedstat = (folder / "schedstat").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name may hold spaces and parentheses: the last ")" ends it.
    fields = stat[stat.rindex(")") + 2 :].split()
    return ThreadSample(
        user_ns=int(fields[_UTIME]) * _TICK_NS,
        system_ns=int(fields[_STIME]) * _TICK_NS,
        guest_ns=int(fields[_GUEST_TIME]) * _TICK_NS,
        run_ns=int(schedstat[0]),
        wait_ns=int(schedstat[1]),
        turns=int(schedstat[2]),
    )


def _read_cores(proc: Path) -> dict[int, CoreSample]:
    cores = {}
    for line in (proc / "stat").read_text().splitlines():
        name, *values = line.split()
        if name.startswith("cpu") and name != "cpu":
            # user nice system idle iowait irq softirq steal guest guest_nice
            cores[int(name[3:])] = CoreSample(softirq_ns=int(values[6]) * _TICK_NS, steal_ns=int(values[7]) * _TICK_NS)
    return cores
