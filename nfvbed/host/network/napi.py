"""The receive work of links on chosen cores: threaded NAPI, and receive packet steering (RPS).

sysfs shows the devices of the namespace in which it was mounted, so it is mounted anew for each namespace.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.network.namespaces import inside_with_sysfs
from nfvbed.patience import patient
from nfvbed.records import Role, WorkThread

_PREFIX = "napi/"
_NAME_CHARACTERS = 15
"""A thread's name is cut to this length by the kernel (TASK_COMM_LEN)."""

_APPEAR_WAIT_S = patient(1.0)
_DEFERRALS = 2
_POLLER_PATIENCE_NS = 500_000
"""After it the kernel does the work itself, in the sender's softirq. Shorter (200 us, as DPDK's guide has it), and a
poller that is busy with a full ring loses the work under overload and does not get it back; much longer, and frames of
a slow trickle wait for it."""


_ONE_OF_THE_KERNEL = Path("/proc/vmallocinfo")
"""A file that is the same in all mounts of this kernel's processes, and that root alone can open, and so lock."""


@contextlib.contextmanager
def threads_told_apart() -> Iterator[list[int]]:
    """Yield the NAPI threads that there are; what appears within the block is of our links.

    Threads are named after links, and these have the same names in each deployment. Two nfvbeds have one kernel where
    each has a /run and so a host lock of its own: the second waits here for the first.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # A container may hide it; it sees no threads of the kernel either.
            fcntl.flock(stack.enter_context(_ONE_OF_THE_KERNEL.open("rb")), fcntl.LOCK_EX)
        yield list(napi_threads())


def napi_threads() -> dict[int, str]:
    """Return all NAPI threads of the machine: thread id and name (`napi/<link>-<NAPI id>`)."""
    found: dict[int, str] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            name = thread_name(int(entry.name))
            if name.startswith(_PREFIX):
                found[int(entry.name)] = name
    return found


def thread_name(tid: int) -> str:
    """Return the name of a thread; empty when it is gone."""
    try:
        return Path(f"/proc/{tid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def run_time_ns(tid: int) -> int | None:
    """Return the CPU time of a thread as the scheduler counts it, in ns; None when it is gone."""
    try:
        return int(Path(f"/proc/{tid}/schedstat").read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return None


def make_threaded(netns: str, links: Iterable[str]) -> None:
    """Move the receive work of links into kernel threads.

    Raises:
        UnsupportedError: the kernel has no threaded NAPI.
    """
    fix = "kernel 5.12 or later; or core_use: rps, core_use: inline in the variant"
    _set(netns, links, {"threaded": 1}, ("threaded NAPI cannot be turned on", fix))


def leave_to_sender(netns: str, links: Iterable[str]) -> None:
    """Undo `make_threaded` and `steer` of links that are up: their receive work is the sender's softirq again.

    Threads may stay, idle, until the links are down.
    """
    names = list(links)

    def write() -> None:
        for name in names:
            folder = Path(f"/sys/class/net/{name}")
            if (folder / "threaded").exists():
                (folder / "threaded").write_text("0")
            for queue in (folder / "queues").glob("rx-*"):
                (queue / "rps_cpus").write_text("0")

    inside_with_sysfs(netns, write)


def threaded(netns: str, links: Iterable[str]) -> tuple[str, ...]:
    """Return those links whose receive work is in threads already."""

    def read() -> tuple[str, ...]:
        files = {name: Path(f"/sys/class/net/{name}/threaded") for name in links}
        return tuple(name for name, file in files.items() if file.exists() and file.read_text().strip() == "1")

    return inside_with_sysfs(netns, read)


def leave_to_poller(netns: str, links: Iterable[str]) -> None:
    """Let a link's busy poller do its receive work in its own system calls.

    A socket that prefers busy polling keeps the kernel from scheduling that work elsewhere. When the poller ends, the
    kernel resumes the work after the time that is set here.

    Raises:
        UnsupportedError: the kernel has no preferred busy polling.
    """
    attributes = {"napi_defer_hard_irqs": _DEFERRALS, "gro_flush_timeout": _POLLER_PATIENCE_NS}
    what = "the receive work of a link cannot be left to a busy-polling socket"
    _set(netns, links, attributes, (what, "kernel 5.11 or later"))


def steer(netns: str, links: Iterable[str], core: int) -> None:
    """Let RPS hand the frames that links receive to one core."""
    digits = f"{1 << core:x}"
    # The kernel wants groups of 32 bits.
    mask = ",".join(digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)[::-1])

    def write() -> None:
        for name in links:
            for queue in Path(f"/sys/class/net/{name}/queues").glob("rx-*"):
                (queue / "rps_cpus").write_text(mask)

    try:
        inside_with_sysfs(netns, write)
    except OSError as failure:
        raise UnsupportedError(
            "RPS cannot be set", where=f"links {list(links)}", observed=str(failure), fix="core_use: threaded-napi"
        ) from failure


def pin_threads(link: str, before: Iterable[int], core: int, role: Role) -> tuple[WorkThread, ...]:
    """Pin a link's new NAPI threads, and return them.

    Raises:
        DeployError: none appeared, or one cannot be pinned.
    """
    known = set(before)
    deadline = time.monotonic() + _APPEAR_WAIT_S
    wanted = f"{_PREFIX}{link}-"[:_NAME_CHARACTERS]
    while True:
        tids = [tid for tid, name in napi_threads().items() if tid not in known and name.startswith(wanted)]
        if tids:
            break
        if time.monotonic() > deadline:
            raise DeployError(
                "no NAPI thread appeared",
                where=link,
                observed=f"no new thread named {wanted}*",
                fix=fixes.KERNEL_THREADS,
            )
        time.sleep(0.01)
    for tid in tids:
        try:
            os.sched_setaffinity(tid, {core})
        except OSError as failure:
            raise DeployError(
                f"a NAPI thread cannot be pinned to core {core}", where=f"{link}, thread {tid}", observed=str(failure)
            ) from failure
    return tuple(WorkThread(role=role, pid=tid, tid=tid, core=core, name=thread_name(tid)) for tid in tids)


def put_first(threads: Iterable[WorkThread], *, before_others: bool = False) -> None:
    """Run NAPI threads with work before the generator's sender on the same core, as an interrupt would.

    As an equal of a sender that never sleeps, a sink waits for whole scheduler slices. The ring before it (256 frames)
    then overflows, and 40 % of what the switch forwarded is lost at the generator itself. The lowest real-time priority
    is enough; a sink sleeps when its ring is empty, so the sender is not starved.

    Args:
        before_others: run them also before threads that an earlier call put first.

    Raises:
        DeployError: real-time priorities are not allowed here.
    """
    for thread in threads:
        try:
            os.sched_setscheduler(thread.tid, os.SCHED_FIFO, os.sched_param(2 if before_others else 1))
        except OSError as failure:
            raise DeployError(
                "a sink's NAPI thread cannot be given priority over the sender",
                where=f"{thread.name}, thread {thread.tid}",
                observed=str(failure),
                fix="root outside of a container has it; in one, allow CAP_SYS_NICE; or core_use: inline",
            ) from failure


def still_there(threads: Iterable[WorkThread]) -> tuple[WorkThread, ...]:
    """Return the threads that live. Their names have the NAPI id, used only once, so a reused thread id is noticed."""
    return tuple(thread for thread in threads if thread_name(thread.tid) == thread.name)


def _set(netns: str, links: Iterable[str], attributes: Mapping[str, int], refused: tuple[str, str]) -> None:
    """Write links' attributes in sysfs.

    Args:
        refused: message and fix where the kernel does not have them.
    """
    names = list(links)

    def write() -> None:
        for name in names:
            for attribute, value in attributes.items():
                Path(f"/sys/class/net/{name}/{attribute}").write_text(str(value))

    try:
        inside_with_sysfs(netns, write)
    except OSError as failure:
        what, fix = refused
        where = f"/sys/class/net/{names[0]}/{next(iter(attributes))}"
        raise UnsupportedError(what, where=where, observed=str(failure), fix=fix) from failure
