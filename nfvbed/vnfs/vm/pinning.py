"""The core of every thread of QEMU, set from outside, by thread id."""

import os
from collections.abc import Sequence
from pathlib import Path

from nfvbed.records import Role, WorkThread
from nfvbed.vnfs.numa import GuestPlacement

_REALTIME_PRIORITY = 1
"""Above every ordinary thread, below what else is real time: the kernel's own watchdogs must come first."""


def vcpu_threads(answer: Sequence[dict[str, object]]) -> tuple[int, ...]:
    """Return the thread ids of the vCPUs, in order, from the monitor's `query-cpus-fast`."""
    by_vcpu = {int(str(vcpu["cpu-index"])): int(str(vcpu["thread-id"])) for vcpu in answer}
    return tuple(by_vcpu[index] for index in sorted(by_vcpu))


def pin(pid: int, vcpus: Sequence[int], guest: GuestPlacement, *, realtime: bool) -> None:
    """Pin vCPUs to their cores and every other thread of QEMU to the emulator's.

    Args:
        vcpus: thread ids, in the order of the vCPUs.
        realtime: vCPUs on SCHED_FIFO, but for vCPU 0, which does the guest's housekeeping.

    Raises:
        OSError: a core cannot be used, or a thread has ended.
    """
    for entry in Path(f"/proc/{pid}/task").iterdir():
        if int(entry.name) not in vcpus:
            os.sched_setaffinity(int(entry.name), guest.emulator_cores)
    for index, (thread, cores) in enumerate(zip(vcpus, guest.vcpu_cores, strict=True)):
        os.sched_setaffinity(thread, cores)
        if realtime and index:
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(_REALTIME_PRIORITY))


def work_threads(pid: int, vcpus: Sequence[int]) -> tuple[WorkThread, ...]:
    """Return the threads whose time is the VNF's: vCPUs, and QEMU's main thread, which moves taps' frames."""
    threads = [_thread(pid, thread) for thread in (*vcpus, pid)]
    return tuple(thread for thread in threads if thread is not None)


def _thread(pid: int, tid: int) -> WorkThread | None:
    try:
        name = Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()
        cores = os.sched_getaffinity(tid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    core = next(iter(cores)) if len(cores) == 1 else None
    return WorkThread(role=Role.VNF, pid=pid, tid=tid, core=core, name=name)
