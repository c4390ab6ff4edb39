"""The placement of a guest's vCPUs, memory and emulator threads.

Pure: host topology in, seat or a refusal out. The meaning of the policies is Nova's (`hw:cpu_policy`,
`hw:cpu_thread_policy`, `hw:numa_*`, `hw:emulator_threads_policy`). What came to lie on different NUMA nodes is read of
threads, pages and NICs themselves, with every trial (`nfvbed/host/cores/memorynodes.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.records import Record
from nfvbed.spec.flavor import Flavor, NumaNodeSpec


@dataclass(frozen=True)
class Host:
    """The host that a guest is placed on."""

    topology: CpuTopology
    arrangement: Arrangement
    free_hugepages_mib: Mapping[int, int] | None = None
    """By node; None: not known, and not checked."""
    taken: frozenset[int] = frozenset()
    """Cores that other VNFs have to themselves."""


class GuestNode(Record):
    """A node of the guest, and its place."""

    vcpus: tuple[int, ...]
    memory_mib: int
    host_node: int | None
    """None: anywhere (the flavor binds nothing)."""


class GuestPlacement(Record):
    """The cores of a guest's threads."""

    vcpu_cores: tuple[tuple[int, ...], ...]
    """For every vCPU: the cores it may run on; one where it is pinned."""
    emulator_cores: tuple[int, ...]
    nodes: tuple[GuestNode, ...]


def place_guest(flavor: Flavor, host: Host, shared_cores: tuple[int, ...]) -> GuestPlacement:
    """Place a guest.

    Args:
        shared_cores: cores for vCPUs that need no core of their own.

    Raises:
        UnsupportedError: the host has too few cores, or no such node.
        PrerequisiteError: the host's hugepages on a node do not suffice.
    """
    nodes = _nodes(flavor, host)
    _check_memory(flavor, nodes, host)
    if flavor.cpu_policy == "shared":
        cores = _shared(flavor, nodes, host, shared_cores)
        emulator: tuple[int, ...] = tuple(sorted({*host.arrangement.control_cores, *(c for one in cores for c in one)}))
    else:
        cores, emulator = _dedicated(flavor, nodes, host)
    return GuestPlacement(vcpu_cores=cores, emulator_cores=emulator, nodes=nodes)


def _nodes(flavor: Flavor, host: Host) -> tuple[GuestNode, ...]:
    everything = NumaNodeSpec(cpus=tuple(range(flavor.vcpus)), memory_mib=flavor.memory_mib)
    switch_node = _node(host, host.arrangement.switch_cores[0])
    count = max(len(host.topology.nodes), 1)
    if len(flavor.numa) > count:
        raise UnsupportedError(
            f"flavor {flavor.name} wants {len(flavor.numa)} NUMA nodes",
            where="numa of the flavor",
            observed=f"this host has {count}",
            fix="choose a flavor with fewer nodes, or a larger host",
        )
    placed = []
    order = [switch_node, *(n for n in range(count) if n != switch_node)]
    for index, node in enumerate(flavor.numa or (everything,)):
        wanted = node.host_node
        if wanted is not None and wanted >= count:
            raise UnsupportedError(
                f"flavor {flavor.name} names host node {wanted}",
                where=f"numa[{index}].host_node",
                observed=f"this host has nodes 0 to {count - 1}",
                fix="name one of these, or leave it out",
            )
        bound = bool(flavor.numa) or flavor.cpu_policy == "dedicated"
        chosen = wanted if wanted is not None else order[index] if bound else None
        placed.append(GuestNode(vcpus=node.cpus, memory_mib=node.memory_mib, host_node=chosen))
    return tuple(placed)


def _shared(
    flavor: Flavor, nodes: Sequence[GuestNode], host: Host, shared_cores: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """Return, for every vCPU, the cores between which the scheduler may choose."""
    if flavor.shared_over == "core":
        return tuple(shared_cores for _ in range(flavor.vcpus))
    topology, arrangement = host.topology, host.arrangement
    # The kernel's scheduler balances nothing over isolated cores.
    usable = tuple(core for core in topology.allowed if core not in topology.isolated) or topology.allowed
    if flavor.shared_over == "host":
        return tuple(usable for _ in range(flavor.vcpus))
    taken = {*arrangement.switch_cores, arrangement.generator_core, *host.taken}
    by_vcpu: dict[int, tuple[int, ...]] = {}
    for node in nodes:
        own = tuple(core for core in usable if _node(host, core) == node.host_node)
        if not own:
            raise UnsupportedError(
                f"flavor {flavor.name} wants cores of host node {node.host_node}",
                where="shared_over: node",
                observed=f"cores that can be used: {list(usable)}, none of them there",
                fix="shared_over: host, or give nfvbed cores of that node",
            )
        cores = tuple(core for core in own if core not in taken) or own
        by_vcpu |= dict.fromkeys(node.vcpus, cores)
    return tuple(by_vcpu[vcpu] for vcpu in range(flavor.vcpus))


def _check_memory(flavor: Flavor, nodes: Sequence[GuestNode], host: Host) -> None:
    if not flavor.hugepages or host.free_hugepages_mib is None:
        return
    free = dict(host.free_hugepages_mib)
    for node in nodes:
        there = sum(free.values()) if node.host_node is None else free.get(node.host_node, 0)
        if there < node.memory_mib:
            where = "any node" if node.host_node is None else f"node {node.host_node}"
            raise PrerequisiteError(
                f"flavor {flavor.name} wants {node.memory_mib} MiB of hugepages on {where}",
                where="hugepages of the flavor",
                observed=f"{there} MiB is available",
                fix="end programs of yours that have memory of that node, or choose a smaller flavor",
            )
        if node.host_node is not None:
            free[node.host_node] = there - node.memory_mib


def _dedicated(
    flavor: Flavor, nodes: Sequence[GuestNode], host: Host
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    arrangement = host.arrangement
    used = {*arrangement.switch_cores, arrangement.generator_core, *host.taken}
    free = [core for core in host.topology.allowed if core not in used and core not in arrangement.control_cores[:1]]
    chosen: dict[int, int] = {}
    for node in nodes:
        candidates = [core for core in free if node.host_node is None or _node(host, core) == node.host_node]
        cores = _by_threads(flavor, host.topology, candidates, frozenset(used))
        if len(cores) < len(node.vcpus):
            raise _too_few(flavor, node, cores, host)
        for vcpu, core in zip(node.vcpus, cores, strict=False):
            chosen[vcpu] = core
            free.remove(core)
            used.add(core)
    pinned = tuple((chosen[vcpu],) for vcpu in range(flavor.vcpus))
    if flavor.emulator_threads != "isolate":
        own = tuple(sorted({core for (core,) in pinned}))
        return pinned, own if flavor.emulator_threads is None else arrangement.control_cores
    near = sorted(free, key=lambda core: (_node(host, core) != _node(host, pinned[0][0]), core))
    if not near:
        raise UnsupportedError(
            f"flavor {flavor.name} wants a core for the emulator's threads",
            where="emulator_threads: isolate",
            observed=f"no core is left beside {flavor.vcpus} vCPUs, switch and generator",
            fix="emulator_threads: share, or a larger host",
        )
    return pinned, (near[0],)


def _by_threads(flavor: Flavor, topology: CpuTopology, candidates: Sequence[int], used: frozenset[int]) -> list[int]:
    """Return cores in the order of the thread policy, without those that it forbids."""
    if flavor.thread_policy == "isolate":
        # One thread of a physical core, and nothing on its others.
        alone = [c for c in candidates if not (topology.siblings_of(c) - {c}) & used]
        return [c for c in alone if c == min(topology.siblings_of(c) & set(alone))]
    full = [c for c in candidates if topology.siblings_of(c) <= set(candidates) and len(topology.siblings_of(c)) > 1]
    in_pairs = sorted(full, key=lambda core: (min(topology.siblings_of(core)), core))
    if flavor.thread_policy == "require":
        return in_pairs
    return [*in_pairs, *(core for core in candidates if core not in full)]


def _too_few(flavor: Flavor, node: GuestNode, cores: Sequence[int], host: Host) -> UnsupportedError:
    where = f" on node {node.host_node}" if len(host.topology.nodes) > 1 else ""
    threads = f", thread policy {flavor.thread_policy}" if flavor.thread_policy else ""
    return UnsupportedError(
        f"flavor {flavor.name} wants {len(node.vcpus)} cores of its own{where}",
        where=f"cpu_policy: dedicated{threads}",
        observed=f"cores that are left: {list(cores) or 'none'} of {list(host.topology.allowed)}",
        fix="choose a flavor with cpu_policy: shared, or a host with more cores",
    )


def _node(host: Host, core: int) -> int:
    return host.topology.node_of(core)
