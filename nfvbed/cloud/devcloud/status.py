"""The state of a cloud: its processes, the memory they take, and how long its start took."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nfvbed.cloud.devcloud import access
from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.cloud.devcloud.nodes.channel import ServiceState
from nfvbed.cloud.devcloud.nodes.inside import processes
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.services.catalogue import SERVICES

_MIB = 1024


@dataclass(frozen=True)
class CloudStatus:
    """A cloud's state at one moment."""

    running: bool
    """Whether its controller runs."""
    complete: bool
    """Whether every process of every service runs, and the relay."""
    relay: bool = False
    """Whether the APIs are relayed to this machine's loopback."""
    services: tuple[ServiceState, ...] = ()
    missing: tuple[str, ...] = ()
    """Processes that were never started, or have ended; those of compute nodes as `NODE/libvirtd`."""
    memory_mib: int = 0
    """Memory of all its processes, without hugepages; what several share is counted once."""
    hugepages_mib: int = 0
    """Reserved for it, used or not."""
    stages_s: tuple[tuple[str, float], ...] = ()
    """Seconds that the stages of this start took."""
    differences: tuple[str, ...] = ()
    """Packages that are not of the tested set."""


def look(cloud: DevCloud) -> CloudStatus:
    """Read a cloud's state."""
    node = cloud.find_node()
    differences = cloud.root.differences() if cloud.root.ready() else ()
    if node is None:
        return CloudStatus(running=False, complete=False, differences=differences)
    services = node.channel.services()
    of_mechanisms = [service for one in cloud.mechanisms() for service in one.services]
    wanted = [process.name for service in (*SERVICES, *of_mechanisms) for process in service.processes]
    missing = _missing(wanted, services)
    if not cloud.relay_runs(access.DASHBOARD):
        missing += (f"{access.RELAY}-{access.DASHBOARD}",)
    for host in cloud.computes():
        found, absent = _look_at(cloud, host)
        services, missing = services + found, missing + absent
    return CloudStatus(
        running=True,
        complete=not missing and cloud.relay_runs(),
        relay=cloud.relay_runs(),
        services=services,
        missing=missing,
        memory_mib=sum(memory_mib(one) for one in _nodes(cloud, node)),
        hugepages_mib=cloud.hugepages_mib(),
        stages_s=tuple(cloud.record.done().items()),
        differences=differences,
    )


def _nodes(cloud: DevCloud, controller: Node) -> list[Node]:
    return [controller, *(node for host in cloud.computes() if (node := cloud.find_compute(host)) is not None)]


def _look_at(cloud: DevCloud, host: str) -> tuple[tuple[ServiceState, ...], tuple[str, ...]]:
    """Return a compute node's processes and what is missing of them, each prefixed by the node's name."""
    node = cloud.find_compute(host)
    if node is None:
        return (), (f"{host}/node",)
    services = node.channel.services()
    kind = cloud.kinds[host]
    missing = list(_missing([process.name for process in kind.processes], services))
    if kind.outside is not None and cloud.find_outside(host) is None:
        missing.append(kind.outside.name)
    if not cloud.relay_runs(host):
        missing.append("relay")
    named = tuple(replace(one, name=f"{host}/{one.name}") for one in services)
    return named, tuple(f"{host}/{name}" for name in missing)


def _missing(wanted: Sequence[str], services: Sequence[ServiceState]) -> tuple[str, ...]:
    alive = {one.name for one in services if one.status is None}
    return tuple(name for name in wanted if name not in alive)


def memory_mib(node: Node) -> int:
    """Return the memory of a node's processes: proportional set sizes, so that nothing is counted twice."""
    total_kib = 0
    for one in processes(node):
        try:
            total_kib += pss_kib(Path(f"/proc/{one.pid}/smaps_rollup").read_text())
        except OSError:
            continue  # it has ended meanwhile
    return total_kib // _MIB


def pss_kib(text: str) -> int:
    """Return the proportional set size in a `smaps_rollup`, in KiB."""
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)
