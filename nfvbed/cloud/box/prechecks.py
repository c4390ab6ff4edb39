"""Whether this machine can carry a box; looked at before anything is changed."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.box.places import BoxPlaces
from nfvbed.errors import PrerequisiteError
from nfvbed.host.memory.hugepages import HugepagePool
from nfvbed.host.memory.meminfo import available_kib

MEMORY_MIB = 12 * 1024
"""Available: a controller 4.5 GiB, a compute 0.9 and the hugepages of its switch and a guest, as measured."""
DISK_MIB = 15 * 1024
"""Images, what the engines unpack of them on each machine, and databases: 9 GiB were measured."""
DISK_MIB_OF_ROOT = 2 * 1024
_CORES = 2
_TOOLS = {"nsenter": "util-linux", "ssh": "openssh-client", "ssh-keygen": "openssh-client"}
_NO_UPPER_LAYERS = ("overlay", "nfs", "nfs4", "9p", "vfat", "fuse")
"""File systems on which no layer of an overlay can be written (kernel: filesystems/overlayfs)."""


@dataclass(frozen=True)
class HostState:
    """What is read of this machine."""

    memory_mib: int
    """Available now."""
    disk_mib: int
    """Free where the box is kept."""
    cores: int
    """That this process may use."""
    root: bool
    """Whether this process is privileged."""
    missing_tools: tuple[str, ...]
    filesystem: str
    """Type of the file system where the box is kept."""
    overlay: bool
    """Whether the kernel has overlayfs."""
    pages_in_use: int | None
    """Hugepages of 2 MiB that somebody uses; None: the kernel has none of that size."""


def look(places: BoxPlaces) -> HostState:
    """Read this machine."""
    return HostState(
        memory_mib=available_kib() // 1024,
        disk_mib=shutil.disk_usage(places.directory).free // 2**20,
        cores=len(os.sched_getaffinity(0)),
        root=os.geteuid() == 0,
        missing_tools=tuple(tool for tool in _TOOLS if shutil.which(tool) is None),
        filesystem=_filesystem_of(places.directory, Path("/proc/self/mounts").read_text()),
        overlay="overlay" in Path("/proc/filesystems").read_text().split(),
        pages_in_use=_pages_in_use(),
    )


def problems(state: HostState, has_root: bool, hugepages: int = 0) -> list[tuple[str, str, str]]:
    """Return everything that is in the way at once: what it is, what was seen, what to do.

    Args:
        has_root: whether the machines' root is built.
        hugepages: number that the machines ask for.
    """
    found: list[tuple[str, str, str]] = []
    if not state.root:
        found.append(("root privileges", "an ordinary user", "run it with sudo: namespaces and mounts need them"))
    if state.memory_mib < MEMORY_MIB:
        seen = f"{state.memory_mib} MiB are available"
        found.append((f"{MEMORY_MIB} MiB of memory", seen, "end programs of yours that use it, or a larger machine"))
    disk = DISK_MIB if has_root else DISK_MIB + DISK_MIB_OF_ROOT
    if state.disk_mib < disk:
        found.append((f"{disk} MiB of disk", f"{state.disk_mib} MiB are free", "free some where the checkout is"))
    if state.cores < _CORES:
        found.append((f"{_CORES} cores", f"{state.cores} may be used", "taskset or the container allows too few"))
    if state.missing_tools:
        packages = " ".join(sorted({_TOOLS[tool] for tool in state.missing_tools}))
        tools = " ".join(state.missing_tools)
        found.append((f"programs: {tools}", "not found", f"install them (Debian's packages {packages})"))
    if not state.overlay:
        found.append(
            (
                "overlayfs",
                "/proc/filesystems has no overlay",
                "a kernel with CONFIG_OVERLAY_FS (modprobe overlay where it is a module)",
            )
        )
    if state.filesystem in _NO_UPPER_LAYERS:
        seen = f"the checkout is on {state.filesystem}"
        found.append(("a file system for layers", seen, "put the checkout on ext4 or xfs (in a container: a volume)"))
    if hugepages and state.pages_in_use is None:
        found.append(("hugepages of 2 MiB", "the kernel has none of that size", "a kernel with CONFIG_HUGETLBFS"))
    if hugepages and state.pages_in_use:
        # Their service has the pool as large as they ask for, and takes all of it for theirs.
        fix = "nfvbed destroy, where they are of the lab; else wait for whoever uses them"
        found.append(("a pool of hugepages that nobody else uses", f"{state.pages_in_use} of 2 MiB are in use", fix))
    return found


def require(places: BoxPlaces, has_root: bool, hugepages: int = 0) -> None:
    """Refuse a machine that cannot carry a box.

    Args:
        has_root: whether the machines' root is built.
        hugepages: number that the machines ask for.

    Raises:
        PrerequisiteError: with everything that is in the way.
    """
    found = problems(look(places), has_root, hugepages)
    if found:
        raise PrerequisiteError(
            f"this machine cannot carry the box of site {places.name}: it lacks "
            + "; ".join(what for what, _, _ in found),
            where=str(places.directory),
            observed="; ".join(seen for _, seen, _ in found),
            fix="; ".join(fix for _, _, fix in found),
        )


def _pages_in_use() -> int | None:
    pool = HugepagePool()
    try:
        return pool.total - pool.free
    except PrerequisiteError:
        return None


def _filesystem_of(path: Path, mounts: str) -> str:
    """Return the type of the file system that a path is on, from the text of /proc/self/mounts."""
    best, kind = "", "unknown"
    for line in mounts.splitlines():
        _, target, filesystem, *_ = line.split()
        below = target.rstrip("/") + "/"
        if f"{path}/".startswith(below) and len(target) >= len(best):
            best, kind = target, filesystem
    return kind
