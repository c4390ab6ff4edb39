"""The guests of a compute, as this machine sees them: QEMU's processes and the threads of their vCPUs."""

import os
import re
from collections.abc import Sequence

from nfvbed.cloud.devcloud.nodes.inside import NodeProcess, processes
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.instances import PlacedInstance
from nfvbed.records import Role, WorkThread

_VCPU = re.compile(r"^CPU \d+/(TCG|KVM)$")


def guest_processes(node: Node, instances: Sequence[PlacedInstance]) -> dict[str, NodeProcess]:
    """Return QEMU's process of each instance, by Nova's id; one that has ended is left out."""
    found: dict[str, NodeProcess] = {}
    for process in processes(node):
        if process.name.startswith("qemu-system") and "-uuid" in process.argv:
            found[process.argv[process.argv.index("-uuid") + 1]] = process
    return {one.id: found[one.id] for one in instances if one.id in found}


def vcpu_threads(node: Node, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
    """Return the threads that execute the instances' vCPUs; the core where one is bound to a single one."""
    threads = []
    for process in guest_processes(node, instances).values():
        for tid, name in process.threads():
            if _VCPU.match(name):
                cores = os.sched_getaffinity(tid)
                core = min(cores) if len(cores) == 1 else None
                threads.append(WorkThread(role=Role.VNF, pid=process.pid, tid=tid, core=core, name=name))
    return tuple(threads)


def main_threads(node: Node, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
    """Return QEMU's main threads, which move frames between taps and guests where vhost does not."""
    return tuple(
        WorkThread(role=Role.VNF, pid=process.pid, tid=tid, core=None, name=name)
        for process in guest_processes(node, instances).values()
        for tid, name in process.threads()
        if tid == process.pid
    )
