"""Whether this machine can carry a cloud; checked before anything is changed."""

import os
import shutil
import socket
from dataclasses import dataclass

from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.services.settings import LOOPBACK, PORTS
from nfvbed.errors import PrerequisiteError
from nfvbed.host.memory.meminfo import available_kib

MEMORY_MIB = 8 * 1024
"""Available: four GiB for the cloud, two of hugepages, and guests beside them."""
DISK_MIB_WITH_ROOT = 4 * 1024
DISK_MIB_WITHOUT_ROOT = 8 * 1024
"""Packages, what they unpack to, and room to write."""
CORES = 2
_TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "mmdebstrap": "mmdebstrap", "chroot": "coreutils"}


@dataclass(frozen=True)
class Machine:
    """What is read of the machine."""

    memory_mib: int
    """Available now."""
    disk_mib: int
    """Free where the cloud is kept."""
    cores: int
    """That this process may use."""
    root: bool
    """Whether this process is privileged."""
    missing_tools: tuple[str, ...]
    taken_ports: tuple[int, ...]
    """Of the APIs, on the loopback."""


def look(places: CloudPlaces) -> Machine:
    """Read this machine."""
    return Machine(
        memory_mib=available_kib() // 1024,
        disk_mib=shutil.disk_usage(places.directory).free // 2**20,
        cores=len(os.sched_getaffinity(0)),
        root=os.geteuid() == 0,
        missing_tools=tuple(tool for tool in _TOOLS if shutil.which(tool) is None),
        taken_ports=tuple(port for port in PORTS.values() if _is_taken(port)),
    )


def problems(machine: Machine, has_root: bool) -> list[tuple[str, str, str]]:
    """Return everything that is in the way at once: what it is, what was seen, what to do.

    Args:
        has_root: whether the private root is already built.
    """
    found: list[tuple[str, str, str]] = []
    if not machine.root:
        found.append(("root privileges", "an ordinary user", "run it with sudo: namespaces and mounts need them"))
    if machine.memory_mib < MEMORY_MIB:
        seen = f"{machine.memory_mib} MiB are available"
        found.append(
            (f"{MEMORY_MIB} MiB of memory", seen, "end programs of yours that use it, or take a larger machine")
        )
    disk = DISK_MIB_WITH_ROOT if has_root else DISK_MIB_WITHOUT_ROOT
    if machine.disk_mib < disk:
        found.append((f"{disk} MiB of disk", f"{machine.disk_mib} MiB are free", "free some where the checkout is"))
    if machine.cores < CORES:
        found.append((f"{CORES} cores", f"{machine.cores} may be used", "taskset or the container allows too few"))
    if machine.missing_tools:
        packages = " ".join(sorted({_TOOLS[tool] for tool in machine.missing_tools}))
        found.append(
            (
                f"programs: {' '.join(machine.missing_tools)}",
                "not found",
                f"install them (Debian's packages {packages})",
            )
        )
    if machine.taken_ports:
        seen = f"in use: {', '.join(map(str, machine.taken_ports))}"
        found.append(
            (
                f"free ports on {LOOPBACK}",
                seen,
                "see who listens there (ss -ltnp): another devcloud, or a program; end it only if it is yours",
            )
        )
    return found


def require(places: CloudPlaces, has_root: bool) -> None:
    """Refuse a machine that cannot carry a cloud.

    Raises:
        PrerequisiteError: with everything that is in the way.
    """
    found = problems(look(places), has_root)
    if found:
        raise PrerequisiteError(
            "this machine cannot carry the cloud: it lacks " + "; ".join(what for what, _, _ in found),
            where=str(places.directory),
            observed="; ".join(seen for _, seen, _ in found),
            fix="; ".join(fix for _, _, fix in found),
        )


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return True
    return False
