"""The NUMA nodes of a deployment's cores, hugepages and NICs, and which of these are apart.

Sources: /proc/PID/numa_maps (numa_maps in proc(5)) and `numa_node` of PCI devices in sysfs.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from nfvbed.host.cores.topology import CpuTopology
from nfvbed.records import GeneratorPort, PortKind, WorkThread

FOREIGN_SHARE = 0.05
"""Part of a process's hugepages that may lie on other nodes than its cores: a few are the kernel's own choice."""
_ON_NODE = re.compile(r"^N(\d+)=(\d+)$")
_PAGE = re.compile(r"^kernelpagesize_kB=(\d+)$")
_PCI = re.compile(r"\b[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]\b")


def what_lies_apart(
    topology: CpuTopology, threads: Sequence[WorkThread], ports: Iterable[GeneratorPort], root: Path = Path("/")
) -> tuple[str, ...]:
    """Return what is on different nodes: working cores, their hugepages, NICs; nothing on a host with one node.

    Args:
        threads: those that do the packet work, the generator's included.
        ports: the generator's.
        root: of the file tree; other than `/` in tests.
    """
    if len([node for node in topology.nodes if node]) < 2:
        return ()
    placed = [thread for thread in threads if thread.core is not None]
    nodes = {topology.node_of(thread.core) for thread in placed if thread.core is not None}
    found = [f"working cores are on {_named(nodes)}"] if len(nodes) > 1 else []
    for pid in dict.fromkeys(thread.pid for thread in placed):
        own = {topology.node_of(thread.core) for thread in placed if thread.pid == pid and thread.core is not None}
        memory = hugepages_kib(pid, root)
        foreign = sum(kib for node, kib in memory.items() if node not in own)
        if foreign > FOREIGN_SHARE * sum(memory.values()):
            name = next(thread.name for thread in placed if thread.pid == pid)
            found.append(f"{name} runs on {_named(own)}; {foreign // 1024} MiB of its hugepages are on other nodes")
    for port in ports:
        node = nic_node(port, root)
        if node is not None and nodes and nodes != {node}:
            found.append(f"the NIC {port.spec} is on {_named({node})}, the working cores on {_named(nodes)}")
    return tuple(found)


def hugepages_kib(pid: int, root: Path = Path("/")) -> dict[int, int]:
    """Return how much hugepage memory a process has on each node; nothing where it is gone, or has none."""
    try:
        text = (root / "proc" / str(pid) / "numa_maps").read_text()
    except OSError:
        return {}
    found: dict[int, int] = {}
    for line in text.splitlines():
        words = line.split()
        if "huge" not in words:
            continue
        size = next((int(match[1]) for word in words if (match := _PAGE.match(word))), 0)
        for word in words:
            if match := _ON_NODE.match(word):
                found[int(match[1])] = found.get(int(match[1]), 0) + int(match[2]) * size
    return found


def nic_node(port: GeneratorPort, root: Path = Path("/")) -> int | None:
    """Return the node of a port's PCI device; None where it has none, or the machine does not say."""
    address = _PCI.search(port.spec)
    if port.kind not in (PortKind.PCI, PortKind.VF) or address is None:
        return None
    try:
        node = int((root / "sys/bus/pci/devices" / address[0].lower() / "numa_node").read_text())
    except (OSError, ValueError):
        return None
    return node if node >= 0 else None


def _named(nodes: set[int]) -> str:
    return "NUMA " + ", ".join(f"node {node}" for node in sorted(nodes))
