"""What a cloud is like now: its processes, what they take, and how long its start took."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.sites.openstack.cloud import DevCloud
from nfvbed.sites.openstack.nodes.channel import ServiceState
from nfvbed.sites.openstack.nodes.node import Node
from nfvbed.sites.openstack.services.catalogue import SERVICES

_MIB = 1024


@dataclass(frozen=True)
class CloudStatus:
    """One look at a cloud."""

    running: bool
    """Whether its controller runs."""
    complete: bool
    """Whether every process of every service runs, and the relay."""
    relay: bool = False
    """Whether the APIs are relayed to this machine's loopback."""
    services: tuple[ServiceState, ...] = ()
    missing: tuple[str, ...] = ()
    """Processes that were never started, or have ended."""
    memory_mib: int = 0
    """Of all its processes, memory that is shared by several counted once, without hugepages."""
    hugepages_mib: int = 0
    """Reserved for it, used or not."""
    stages_s: tuple[tuple[str, float], ...] = ()
    """Seconds that the stages of this start took."""
    differences: tuple[str, ...] = ()
    """Packages that are not of the tested set."""


def look(cloud: DevCloud) -> CloudStatus:
    """Look at a cloud."""
    node = cloud.find_node()
    differences = cloud.root.differences() if cloud.root.ready() else ()
    if node is None:
        return CloudStatus(running=False, complete=False, differences=differences)
    services = node.channel.services()
    alive = {one.name for one in services if one.status is None}
    wanted = [process.name for service in SERVICES for process in service.processes]
    missing = tuple(name for name in wanted if name not in alive)
    return CloudStatus(
        running=True,
        complete=not missing and cloud.relay_runs(),
        relay=cloud.relay_runs(),
        services=services,
        missing=missing,
        memory_mib=memory_mib(node),
        hugepages_mib=cloud.hugepages_mib(),
        stages_s=tuple(cloud.record.done().items()),
        differences=differences,
    )


def memory_mib(node: Node) -> int:
    """Return the memory of a node's processes: proportional set sizes, so that nothing is counted twice."""
    space = Path(f"/proc/{node.first_process}/ns/pid").readlink()
    total_kib = 0
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "ns/pid").readlink() == space:
                total_kib += pss_kib((folder / "smaps_rollup").read_text())
        except OSError:
            continue  # it has ended meanwhile
    return total_kib // _MIB


def pss_kib(text: str) -> int:
    """Return the proportional set size that a `smaps_rollup` names, in KiB."""
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)
