"""Probes of memory: size, nodes, hugepages."""

import re

from nfvbed.cpulist import format_cpu_list
from nfvbed.errors import PrerequisiteError
from nfvbed.findings import State
from nfvbed.host import hugepages as lab_hugepages
from nfvbed.host.probes.findings import HugepageFinding, HugepagePool, MemoryFinding, NumaFinding, NumaNode
from nfvbed.host.probes.host import Host, parse_cpu_list
from nfvbed.host.workspace import Workspace

NEEDED_MIB = 2048
"""1,024 pages of 2 MiB: enough for every variant of the lab with its generator."""
_POOLS = "sys/kernel/mm/hugepages"
_NODES = "sys/devices/system/node"
_SMALL_KIB = 2048


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
        fix="" if enough else f"free memory: {2 * NEEDED_MIB} MiB available are enough",
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
    """Read the pools, and find out whether what is lacking could be reserved.

    Args:
        host: where to read.
        try_reserving: reserve for a moment what is lacking, and give it back. Only while nothing else reserves.
    """
    pools = tuple(
        sorted(
            (
                HugepagePool(
                    size_kib=int(name.removeprefix("hugepages-").removesuffix("kB")),
                    total=host.number(f"{_POOLS}/{name}/nr_hugepages") or 0,
                    free=host.number(f"{_POOLS}/{name}/free_hugepages") or 0,
                )
                for name in host.names(_POOLS)
                if name.startswith("hugepages-")
            ),
            key=lambda pool: pool.size_kib,
        )
    )
    small = next((pool for pool in pools if pool.size_kib == _SMALL_KIB), None)
    free_mib = small.free * 2 if small else 0
    reservable, probed = None, "read sysfs"
    if small and free_mib >= NEEDED_MIB:
        reservable, probed = 0, "read sysfs; enough are free, so reserving was not tried"
    elif small and try_reserving and host.live:
        reservable, probed = _try_reserving((NEEDED_MIB - free_mib) // 2), "reserved for a moment and given back"
    have_mib = free_mib + (reservable or 0)
    return HugepageFinding(
        topic="hugepages",
        state=_hugepage_state(small is not None, have_mib, reservable is not None),
        summary=_hugepage_summary(pools, reservable),
        probed=probed,
        fix="" if have_mib >= NEEDED_MIB else f"sysctl vm.nr_hugepages={NEEDED_MIB // 2}, best right after booting",
        pools=pools,
        reservable_mib=reservable,
    )


def _hugepage_state(there: bool, have_mib: int, tried: bool) -> State:
    if not there:
        return State.ABSENT
    if have_mib >= NEEDED_MIB:
        return State.PRESENT
    return State.LIMITED if tried or have_mib else State.UNKNOWN


def _hugepage_summary(pools: tuple[HugepagePool, ...], reservable_mib: int | None) -> str:
    parts = [f"{pool.size_kib // 1024} MiB: {pool.free} free of {pool.total}" for pool in pools]
    if reservable_mib:
        parts.append(f"{reservable_mib} MiB more can be reserved")
    return ", ".join(parts) or "the kernel has none"


def _try_reserving(pages: int) -> int:
    """Reserve pages for a moment; give how many MiB the kernel had.

    They are in a ledger meanwhile: a doctor that is killed in this moment must not leave them.
    """
    try:
        workspace = Workspace.create()
        try:
            return lab_hugepages.HugepagePool().enlarge(pages, workspace.ledger) * 2
        finally:
            workspace.close()
    except (OSError, PrerequisiteError):
        return 0


def _meminfo_mib(host: Host, name: str, key: str) -> int:
    match = re.search(rf"{key}:\s+(\d+) kB", host.text(name) or "")
    return int(match[1]) // 1024 if match else 0
