"""Flavors against the host of the instances: cores, NUMA nodes, hugepages, real time; before one is made."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nfvbed.errors import NfvbedError, PrerequisiteError, UnsupportedError
from nfvbed.host.memory.meminfo import MEMINFO, available_kib
from nfvbed.spec.flavor import Flavor
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of
from nfvbed.vnfs.numa import GuestPlacement, Host, place_guest

_THROTTLE = Path("/proc/sys/kernel/sched_rt_runtime_us")


def check(flavor: Flavor, host: Host, *, vnfs: int = 1, realtime_us: int | None = None) -> list[Mismatch]:
    """Return what a flavor needs and the host does not have.

    Cores, NUMA nodes and memory are tried by themselves, so that one lack does not hide the other.

    Args:
        host: its cores, those that are taken, and free hugepages where they are known.
        vnfs: number of such guests, which are placed one after another.
        realtime_us: `realtime_share()`; None: it is not known.
    """
    cores = flavor.model_copy(update={"hugepages": False})
    anywhere = {"numa": (), "shared_over": "core"}
    shared = {"cpu_policy": "shared", "thread_policy": None, "emulator_threads": None, "realtime": False}
    memory = flavor.model_copy(update={**shared, "shared_over": "core"})
    tries = (cores, cores.model_copy(update=anywhere), memory, memory.model_copy(update=anywhere))
    found = [one for tried in tries for one in _tried(tried, host, vnfs)]
    if flavor.realtime:
        found += _realtime(flavor, realtime_us)
    first: dict[str, Mismatch] = {}
    for one in found:
        first.setdefault(one.subject if one.subject != "real time" else one.found, one)
    return list(first.values())


def with_pages(flavor: Flavor) -> Flavor:
    """Return a flavor with its memory in hugepages."""
    return flavor.model_copy(update={"hugepages": True})


def check_all(flavors: Sequence[Flavor], host: Host) -> dict[str, list[Mismatch]]:
    """Return what the host does not have, by flavor; flavors that fit are left out."""
    share = realtime_share()
    found = {flavor.name: check(flavor, host, realtime_us=share) for flavor in flavors}
    return {name: lacking for name, lacking in found.items() if lacking}


def check_together(machines: Mapping[str, Flavor], host: Host) -> list[Mismatch]:
    """Return what the host lacks for several machines that run at once, placed one after another.

    Args:
        machines: flavors by the machines' names.
        host: its cores, those that are taken, and free hugepages where they are known.
    """
    cores = tuple(host.arrangement.vnf_cores or host.arrangement.control_cores)
    placed: list[str] = []
    lacking: dict[str, list[str]] = {}
    first: dict[str, Mismatch] = {}
    for name, flavor in machines.items():
        try:
            guest = place_guest(flavor, host, cores)
        except (UnsupportedError, PrerequisiteError) as failure:
            one = _lack(failure)
            first.setdefault(one.subject, one)
            lacking.setdefault(one.subject, []).append(name)
        else:
            placed.append(name)
            host = _without(host, flavor, guest)
    beside = f" beside {', '.join(placed)}" if placed else ""
    return [
        replace(one, found=f"there is no room for {', '.join(lacking[subject])}{beside}: {one.found}", cause=None)
        for subject, one in first.items()
    ]


def reservable_mib(nodes: int, sysfs: Path = Path("/sys"), meminfo: Path = MEMINFO) -> dict[int, int]:
    """Return the memory that could become hugepages, MiB, by NUMA node: the free memory there now.

    Args:
        meminfo: /proc/meminfo, of the whole host: for a host that has a single node.
    """
    if nodes < 2:
        return {0: available_kib(meminfo) // 1024}
    files = {node: sysfs / f"devices/system/node/node{node}/meminfo" for node in range(nodes)}
    return {node: _free_kib(path) // 1024 for node, path in files.items()}


def _free_kib(path: Path) -> int:
    lines = path.read_text().splitlines() if path.is_file() else []
    return next((int(line.split()[-2]) for line in lines if "MemFree:" in line), 0)


def realtime_share(path: Path = _THROTTLE) -> int | None:
    """Return the time per second that the kernel leaves to real-time threads, us; -1: all; None: not known."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _tried(flavor: Flavor, host: Host, vnfs: int) -> list[Mismatch]:
    cores = tuple(host.arrangement.vnf_cores or host.arrangement.control_cores)
    for _ in range(vnfs):
        try:
            guest = place_guest(flavor, host, cores)
        except (UnsupportedError, PrerequisiteError) as failure:
            return [_lack(failure)]
        host = _without(host, flavor, guest)
    return []


def _lack(failure: NfvbedError) -> Mismatch:
    return mismatch_of(failure, _subject(failure))


def _without(host: Host, flavor: Flavor, guest: GuestPlacement) -> Host:
    """Return the host with what is left for the next guest."""
    if flavor.cpu_policy == "dedicated":
        host = replace(host, taken=host.taken | {core for cores in guest.vcpu_cores for core in cores})
    if host.free_hugepages_mib is None or not flavor.hugepages:
        return host
    free = dict(host.free_hugepages_mib)
    for node in guest.nodes:
        at = node.host_node if node.host_node is not None else max(free, key=lambda number: free[number])
        free[at] -= node.memory_mib
    return replace(host, free_hugepages_mib=free)


def _subject(failure: NfvbedError) -> str:
    words = {"hugepages": "hugepages", "numa": "NUMA nodes"}
    return next((subject for word, subject in words.items() if failure.where.startswith(word)), "cores")


def _realtime(flavor: Flavor, share: int | None) -> list[Mismatch]:
    found = []
    if flavor.vcpus < 2:
        found.append(
            Mismatch(
                "real time",
                f"flavor {flavor.name} has one vCPU, which does the housekeeping",
                "vcpus: 2 or more, or realtime: false",
                f"flavors/{flavor.name}.yml",
            )
        )
    if share == 0:
        found.append(
            Mismatch(
                "real time",
                "the kernel leaves real-time threads no time",
                f"echo 950000 >{_THROTTLE}, or another flavor",
                str(_THROTTLE),
            )
        )
    return found
