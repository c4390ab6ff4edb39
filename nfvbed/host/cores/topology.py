"""The machine's CPUs as a value, so that arrangements can be resolved and tested without a machine."""

import os
from pathlib import Path

from nfvbed.host.network.namespaces import in_thread
from nfvbed.records import Record
from nfvbed.spec.cpulist import parse_cpu_list

AFFINITY_AT_START = frozenset(os.sched_getaffinity(0))
"""Where nfvbed may run; read before it moves itself off the switch's cores."""


class CpuTopology(Record):
    """The CPUs that this process may use, and how they are related."""

    allowed: tuple[int, ...]
    """Those that we may run on, isolated ones included."""
    isolated: tuple[int, ...] = ()
    """Those that the scheduler keeps free (isolcpus)."""
    nodes: tuple[tuple[int, ...], ...] = ()
    """The CPUs of each NUMA node; the place is the node's number."""
    siblings: tuple[tuple[int, ...], ...] = ()
    """CPUs that are threads of one physical core, for each of them."""

    def siblings_of(self, core: int) -> frozenset[int]:
        """Return the threads of that CPU's physical core, itself included."""
        return next((frozenset(group) for group in self.siblings if core in group), frozenset({core}))

    def node_of(self, core: int) -> int:
        """Return the NUMA node of a CPU; 0 where none is known."""
        return next((number for number, cpus in enumerate(self.nodes) if core in cpus), 0)


def read_topology(sysfs: Path = Path("/sys")) -> CpuTopology:
    """Read this machine's topology."""
    cpus = sysfs / "devices/system/cpu"
    online = set(parse_cpu_list((cpus / "online").read_text()))
    isolated_file = cpus / "isolated"
    isolated = set(parse_cpu_list(isolated_file.read_text())) if isolated_file.exists() else set()
    # isolcpus takes CPUs out of every process's affinity; whether a cpuset forbids them is found by trying.
    usable = AFFINITY_AT_START | {core for core in isolated & online if _may_run_on(core)}
    siblings = {_siblings(cpus, core) for core in online}
    return CpuTopology(
        allowed=tuple(sorted(usable & online)),
        isolated=tuple(sorted(isolated & usable)),
        nodes=_nodes(sysfs),
        siblings=tuple(sorted(siblings)),
    )


def _siblings(cpus: Path, core: int) -> tuple[int, ...]:
    path = cpus / f"cpu{core}" / "topology" / "thread_siblings_list"
    return parse_cpu_list(path.read_text()) if path.exists() else (core,)


def _nodes(sysfs: Path) -> tuple[tuple[int, ...], ...]:
    directory = sysfs / "devices/system/node"
    numbers = [int(p.name.removeprefix("node")) for p in directory.glob("node[0-9]*")]
    if not numbers:
        return ()
    lists = {n: parse_cpu_list((directory / f"node{n}" / "cpulist").read_text()) for n in numbers}
    return tuple(lists.get(n, ()) for n in range(max(numbers) + 1))


def _may_run_on(core: int) -> bool:
    def attempt() -> bool:
        try:
            os.sched_setaffinity(0, {core})  # of this thread, which ends with the attempt
        except OSError:
            return False
        return True

    return in_thread(attempt)
