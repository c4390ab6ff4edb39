"""testpmd's forwarding threads, observed from outside.

Asking a port for counters before it is configured crashes testpmd 22.11, so it is not asked whether it forwards.
"""

from collections.abc import Sequence
from pathlib import Path

from nfvbed.records import Role, WorkThread

_NAMES = ("rte-worker-{}", "lcore-worker-{}", "dpdk-worker{}")
"""DPDK names a thread after its lcore (22.11: the first; before and after: the others)."""


def forwarding_threads(pid: int, cores: Sequence[int], role: Role) -> tuple[WorkThread, ...]:
    """Return the forwarding threads that there are: lcores from 1, one on each of the cores."""
    wanted = {pattern.format(lcore): core for lcore, core in enumerate(cores, 1) for pattern in _NAMES}
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        try:
            name = (task / "comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        if name in wanted:
            thread = WorkThread(role=role, pid=pid, tid=int(task.name), core=wanted[name], name=name, polling=True)
            found.append(thread)
    return tuple(found)


def is_runnable(thread: WorkThread) -> bool:
    """Return whether a thread runs or could run; one that was not told to forward yet sleeps."""
    try:
        text = Path(f"/proc/{thread.pid}/task/{thread.tid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] == "R"
