"""What tests make again, and whether the host had a hand in it: time that was stolen while the failed attempt ran.

Stolen is what the hypervisor took (`steal` in /proc/stat) and what our threads waited for a core (`schedstat`) while
processes that are not ours ran. Waits that our own threads cause each other are none: the arrangement is the product's.
A test that needs a third attempt although nothing was stolen in the first two fails.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

MARK = b"NFVBED_TEST_MARK="
"""In the environment of processes that tests start, also of those that outlive who started them."""
SESSION = "NFVBED_TEST_SESSION"
"""Says of which session of tests such a process is: one that runs beside this one is another's."""
QUIET_S = 0.02
"""Two ticks, in which times of processes are counted; the generator waits 50 ms for late frames."""
QUIET_REPETITIONS = 1
KERNEL_THREADS = 2
"""kthreadd: what the kernel does for our frames is ours."""
PROC = Path("/proc")

AGAIN: dict[str, list[float]] = {}
"""By test: seconds stolen in each attempt that was not good."""


@dataclass(frozen=True)
class Reading:
    """Times since boot, in seconds."""

    at: float
    steal: float
    others: dict[int, float]
    """By process that is not ours: its CPU time, and that of children that have ended."""
    waited: dict[int, float]
    """By thread of ours: how long it could have run, and did not."""


def read(root: Path = PROC, own: int | None = None) -> Reading:
    """Read all times.

    Args:
        root: of the tree that is read; another one than /proc in tests.
        own: the process whose descendants are ours, itself among them; None: this one.
    """
    tick = os.sysconf("SC_CLK_TCK")
    steal = int((root / "stat").read_text().splitlines()[0].split()[8])
    processes = {pid: words for pid in _pids(root) if (words := _stat(root, pid))}
    parents = {pid: int(words[1]) for pid, words in processes.items()}
    ours, others = set(), dict[int, float]()
    for pid, words in processes.items():
        if _is_ours(root, pid, parents, os.getpid() if own is None else own):
            ours.add(pid)
        elif KERNEL_THREADS not in (pid, parents[pid]):
            others[pid] = sum(map(int, words[11:15])) / tick
    waited = {tid: wait for pid in ours for tid, wait in _waits(root, pid)}
    return Reading(time.monotonic(), steal / tick, others, waited)


def stolen_s(before: Reading, after: Reading) -> float:
    """Return how much time was stolen between two readings: of several threads, that of the one that waited longest."""
    length = after.at - before.at
    others = sum(
        # One that has ended hands a life's time to its parent: more than there was cannot be of this while.
        min(max(seconds - before.others.get(pid, 0.0), 0.0), length * (os.cpu_count() or 1))
        for pid, seconds in after.others.items()
    )
    waited = max((wait - before.waited.get(tid, 0.0) for tid, wait in after.waited.items()), default=0.0)
    return after.steal - before.steal + min(waited, others)


def note(stolen: float) -> None:
    """Count an attempt of the test that runs now that has to be made again.

    Raises:
        AssertionError: it is one too many for a host on which nothing was stolen.
    """
    name = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if not name:
        return  # A proof inside a guest node, whose clock is emulated.
    AGAIN.setdefault(name, []).append(stolen)
    quiet = sum(seconds < QUIET_S for seconds in AGAIN[name])
    if quiet > QUIET_REPETITIONS:
        raise AssertionError(f"{quiet} attempts failed while nothing was stolen from this host: {described(name)}")


def described(name: str) -> str:
    """Say how often a test went again, and what was stolen each time."""
    times = AGAIN.get(name, [])
    return f"{len(times)} ({', '.join(f'{seconds:.2f}' for seconds in times)} s stolen)"


def _pids(root: Path) -> list[int]:
    return [int(entry.name) for entry in os.scandir(root) if entry.name.isdigit()]


def _stat(root: Path, pid: int) -> list[str]:
    """Return the fields behind the name (proc(5)): state, parent, ...; nothing of one that has ended."""
    try:
        return (root / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []


def _is_ours(root: Path, pid: int, parents: dict[int, int], own: int) -> bool:
    at = pid
    while at in parents and at != own:
        at = parents[at]
    if at == own:
        return True
    if parents[pid] == KERNEL_THREADS:
        return False
    try:
        environment = (root / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    session = f"{SESSION}={os.environ.get(SESSION, '')}".encode()
    return MARK in environment and (SESSION.encode() not in environment or session in environment.split(b"\0"))


def _waits(root: Path, pid: int) -> list[tuple[int, float]]:
    found = []
    try:
        for task in (root / str(pid) / "task").iterdir():
            found.append((int(task.name), int((task / "schedstat").read_text().split()[1]) / 1e9))
    except OSError:
        return found  # it ends meanwhile
    return found
