"""A guest's actual pinning: read from the threads and from QEMU, not taken from its flavor."""

import os
from collections.abc import Sequence
from typing import Literal

from nfvbed.host.cores.topology import CpuTopology
from nfvbed.records import Record
from nfvbed.vnfs.guest.machines import Machine
from nfvbed.vnfs.vm.monitor import Monitor
from nfvbed.vnfs.vm.pinning import vcpu_threads

_ANSWER_S = 10.0
PinningState = Literal["on", "off", "partly"]


class Pinning(Record):
    """Where a guest's vCPUs may run, and which of the host's NUMA nodes its memory is bound to."""

    vcpu_cores: tuple[tuple[int, ...], ...]
    memory_nodes: tuple[int, ...] | None
    """None: bound to none."""
    state: PinningState
    """`on`: the memory is bound to nodes and no vCPU may leave them; `off`: it is bound to none and every vCPU may run
    on every core; `partly`: what is neither."""
    host_nodes: int
    """How many the host has; with one, on and off cannot differ by distance."""

    @property
    def described(self) -> str:
        """In words."""
        cores = sorted(set(self.vcpu_cores))
        vcpus = " or ".join(_listed(one) for one in cores)
        memory = "free" if self.memory_nodes is None else f"bound to node {_listed(self.memory_nodes)}"
        return f"vCPUs on core {vcpus}; memory {memory}"


def read_pinning(guest: Machine, topology: CpuTopology) -> Pinning:
    """Ask QEMU for its threads and its memory, and the kernel for the threads' cores.

    Raises:
        OnboardError: QEMU does not answer.
    """
    with Monitor(guest.monitor) as monitor:
        monitor.connect(_ANSWER_S, lambda: None)
        threads = vcpu_threads(monitor.execute("query-cpus-fast"))
        backends = monitor.execute("query-memdev")
    cores = tuple(tuple(sorted(os.sched_getaffinity(thread))) for thread in threads)
    bound = [backend["host-nodes"] for backend in backends if backend["policy"] == "bind"]
    nodes = {int(node) for listed in bound for node in listed} if len(bound) == len(backends) else set()
    return judge(cores, tuple(sorted(nodes)) or None, topology)


def judge(
    vcpu_cores: tuple[tuple[int, ...], ...], memory_nodes: tuple[int, ...] | None, topology: CpuTopology
) -> Pinning:
    """Return the pinning that cores and nodes amount to.

    Args:
        memory_nodes: nodes to which the memory is bound; None: none.
    """
    free = {core for core in topology.allowed if core not in topology.isolated} or set(topology.allowed)
    state: PinningState = "partly"
    if memory_nodes is None:
        state = "off" if all(free <= set(cores) for cores in vcpu_cores) else "partly"
    elif {topology.node_of(core) for cores in vcpu_cores for core in cores} <= set(memory_nodes):
        state = "on"
    return Pinning(
        vcpu_cores=vcpu_cores,
        memory_nodes=memory_nodes,
        state=state,
        host_nodes=max(len(topology.nodes), 1),
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
