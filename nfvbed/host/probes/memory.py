"""Probes of memory: size, nodes, hugepages."""

import re
from collections.abc import Mapping

from nfvbed.errors import PrerequisiteError
from nfvbed.host.memory import hugepages as lab_hugepages
from nfvbed.host.memory.pageadvice import SIZE_KIB, Pool, more_pages, read_pools
from nfvbed.host.probes.findings import (
    HugepageFinding,
    HugepagePool,
    MemoryFinding,
    NodePages,
    NumaFinding,
    NumaNode,
)
from nfvbed.host.probes.host import Host, parse_cpu_list
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records.findings import State
from nfvbed.spec.cpulist import format_cpu_list

NEEDED_MIB = 2048
"""1,024 pages of 2 MiB: enough for every variant of the lab with its generator."""
_NEEDED_PAGES = NEEDED_MIB * 1024 // SIZE_KIB
_NODES = "sys/devices/system/node"


def probe_memory(host: Host) -> MemoryFinding:
    """Read how much memory there is."""
    total = _meminfo_mib(host, "proc/meminfo", "MemTotal")
    available = _meminfo_mib(host, "proc/meminfo", "MemAvailable")
    enough = available >= 2 * NEEDED_MIB
    return MemoryFinding(
        topic="memory",
        state=State.PRESENT if enough else State.LIMITED,
        summary=f"{total} MiB, {available} MiB available",
        probed="read /proc/meminfo",
        fix="" if enough else f"end programs of yours: {2 * NEEDED_MIB} MiB available are enough",
        total_mib=total,
        available_mib=available,
    )


def probe_numa(host: Host) -> NumaFinding:
    """Read which cores and how much memory each node has."""
    nodes = tuple(
        NumaNode(
            node=int(name[4:]),
            cores=parse_cpu_list(host.text(f"{_NODES}/{name}/cpulist")),
            memory_mib=_meminfo_mib(host, f"{_NODES}/{name}/meminfo", "MemTotal"),
        )
        for name in sorted(host.names(_NODES), key=lambda n: (len(n), n))
        if re.fullmatch(r"node\d+", name)
    )
    parts = [f"node {n.node}: cores {format_cpu_list(n.cores) or 'none'}, {n.memory_mib} MiB" for n in nodes]
    return NumaFinding(
        topic="NUMA",
        state=State.PRESENT if nodes else State.ABSENT,
        summary="; ".join(parts) or "the kernel shows no memory nodes",
        probed="read sysfs",
        nodes=nodes,
    )


def probe_hugepages(host: Host, *, try_reserving: bool) -> HugepageFinding:
    """Read the pools, and find out whether lacking pages could be reserved.

    On a machine of several NUMA nodes each node with cores is checked by itself: a switch takes its memory from the
    node that it runs on.

    Args:
        try_reserving: reserve lacking pages for a moment, and give them back. Only while nothing else reserves pages.
    """
    nodes = tuple(node.node for node in probe_numa(host).nodes if node.cores)
    pools = tuple(_finding(pool, nodes, host) for pool in read_pools(host.root))
    small = next((pool for pool in pools if pool.size_kib == SIZE_KIB), None)
    lacking = _lacking(small)
    reservable, probed = None, "read sysfs"
    if small and not lacking:
        reservable, probed = 0, "read sysfs; enough are free, so reserving was not tried"
    elif small and try_reserving and host.live:
        granted = _try_reserving(lacking)
        reservable, probed = sum(granted.values()) * 2, "reserved for a moment and given back"
        lacking = {node: pages - granted[node] for node, pages in lacking.items() if granted[node] < pages}
    return HugepageFinding(
        topic="hugepages",
        state=_hugepage_state(small, bool(lacking), reservable),
        summary=_hugepage_summary(pools, reservable),
        probed=probed,
        fix=more_pages(lacking or {None: _NEEDED_PAGES}, host.root) if lacking or not small else "",
        pools=pools,
        reservable_mib=reservable,
    )


def _finding(pool: Pool, nodes: tuple[int, ...], host: Host) -> HugepagePool:
    by_node = {
        node: NodePages(total=one.total, free=one.free)
        for node in (nodes if len(nodes) > 1 else ())
        for one in read_pools(host.root, node)
        if one.size_kib == pool.size_kib
    }
    return HugepagePool(size_kib=pool.size_kib, total=pool.total, free=pool.free, by_node=by_node)


def _lacking(pool: HugepagePool | None) -> dict[int | None, int]:
    """Return how many pages of 2 MiB are lacking, by node where there are several, else of the machine (None)."""
    if pool is None:
        return {}
    free: dict[int | None, int] = {node: pages.free for node, pages in pool.by_node.items()} or {None: pool.free}
    return {node: _NEEDED_PAGES - count for node, count in free.items() if count < _NEEDED_PAGES}


def _hugepage_state(small: HugepagePool | None, lacks: bool, reservable_mib: int | None) -> State:
    if small is None:
        return State.ABSENT
    if not lacks:
        return State.PRESENT
    return State.LIMITED if reservable_mib is not None or small.free else State.UNKNOWN


def _hugepage_summary(pools: tuple[HugepagePool, ...], reservable_mib: int | None) -> str:
    parts = []
    for pool in pools:
        nodes = ", ".join(f"node {node}: {pages.free} of {pages.total}" for node, pages in pool.by_node.items())
        size = f"{pool.size_kib >> 10} MiB"
        parts.append(f"{size}: {pool.free} free of {pool.total}" + (f" ({nodes})" if pool.total and nodes else ""))
    if reservable_mib:
        parts.append(f"{reservable_mib} MiB more can be reserved")
    return ", ".join(parts) or "the kernel has none"


def _try_reserving(lacking: Mapping[int | None, int]) -> dict[int | None, int]:
    """Reserve pages for a moment, by node; return how many the kernel had.

    Meanwhile they are in a ledger, so that a doctor that is killed leaves none behind.
    """
    granted = dict.fromkeys(lacking, 0)
    try:
        workspace = Workspace.create()
        try:
            for node, pages in lacking.items():
                granted[node] = lab_hugepages.HugepagePool(node).enlarge(pages, workspace.ledger)
        finally:
            workspace.close()
    except (OSError, PrerequisiteError):
        pass  # what was granted before is known; the rest cannot be had
    return granted


def _meminfo_mib(host: Host, name: str, key: str) -> int:
    match = re.search(rf"{key}:\s+(\d+) kB", host.text(name) or "")
    return int(match[1]) // 1024 if match else 0
