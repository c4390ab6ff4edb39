"""Whether this machine can carry a box; looked at before anything is changed."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud import capacity
from nfvbed.cloud.box.places import BoxPlaces
from nfvbed.cloud.capacity import Capacity, Lack
from nfvbed.errors import PrerequisiteError
from nfvbed.host.memory.hugepages import HugepagePool

MEMORY_MIB = 12 * 1024
"""Available: a controller 4.5 GiB, a compute 0.9 and the hugepages of its switch and a guest, as measured."""
DISK_MIB = 15 * 1024
"""Images, what the engines unpack of them on each machine, and databases: 9 GiB were measured."""
DISK_MIB_OF_ROOT = 2 * 1024
_TOOLS = {"nsenter": "util-linux", "ssh": "openssh-client", "ssh-keygen": "openssh-client"}
_NO_UPPER_LAYERS = ("overlay", "nfs", "nfs4", "9p", "vfat", "fuse")
"""File systems on which no layer of an overlay can be written (kernel: filesystems/overlayfs)."""


@dataclass(frozen=True)
class HostState(Capacity):
    """What is read of this machine."""

    filesystem: str
    """Type of the file system where the box is kept."""
    overlay: bool
    """Whether the kernel has overlayfs."""
    pages_in_use: int | None
    """Hugepages of 2 MiB in use; None: the kernel has none of that size."""


def look(places: BoxPlaces) -> HostState:
    """Read this machine."""
    return HostState(
        **capacity.read(places.directory, _TOOLS),
        filesystem=_filesystem_of(places.directory, Path("/proc/self/mounts").read_text()),
        overlay="overlay" in Path("/proc/filesystems").read_text().split(),
        pages_in_use=_pages_in_use(),
    )


def problems(state: HostState, has_root: bool, hugepages: int = 0) -> list[Lack]:
    """Return everything that is in the way at once.

    Args:
        hugepages: 2 MiB pages that the machines ask for.
    """
    disk = DISK_MIB if has_root else DISK_MIB + DISK_MIB_OF_ROOT
    found = capacity.lacks(state, MEMORY_MIB, disk, _TOOLS)
    if not state.overlay:
        found.append(
            Lack(
                "overlayfs",
                "/proc/filesystems has no overlay",
                "a kernel with CONFIG_OVERLAY_FS (modprobe overlay where it is a module)",
            )
        )
    if state.filesystem in _NO_UPPER_LAYERS:
        seen = f"the checkout is on {state.filesystem}"
        found.append(
            Lack("a file system for layers", seen, "put the checkout on ext4 or xfs (in a container: a volume)")
        )
    if hugepages and state.pages_in_use is None:
        found.append(Lack("hugepages of 2 MiB", "the kernel has none of that size", "a kernel with CONFIG_HUGETLBFS"))
    if hugepages and state.pages_in_use:
        # Their service has the pool as large as they ask for, and takes all of it for theirs.
        fix = "nfvbed destroy, where they are of the lab; else wait until they are free"
        found.append(Lack("an unused pool of hugepages", f"{state.pages_in_use} of 2 MiB are in use", fix))
    return found


def require(places: BoxPlaces, has_root: bool, hugepages: int = 0) -> None:
    """Refuse a machine that cannot carry a box.

    Args:
        hugepages: 2 MiB pages that the machines ask for.

    Raises:
        PrerequisiteError: with everything that is in the way.
    """
    capacity.require_none(
        problems(look(places), has_root, hugepages), f"the box of site {places.name}", places.directory
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
