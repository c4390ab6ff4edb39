"""What this machine has for a cloud that runs on it, and what it lacks; looked at before anything is changed."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nfvbed.errors import PrerequisiteError
from nfvbed.host.memory.meminfo import available_kib

CORES = 2


class Lack(NamedTuple):
    """One thing that is in the way."""

    what: str
    seen: str
    fix: str


@dataclass(frozen=True)
class Capacity:
    """What is read of this machine."""

    memory_mib: int
    """Available now."""
    disk_mib: int
    """Free where the cloud is kept."""
    cores: int
    """Cores that this process may use."""
    root: bool
    """Whether this process is privileged."""
    missing_tools: tuple[str, ...]


def read(directory: Path, tools: Mapping[str, str]) -> dict[str, Any]:
    """Read the values of a `Capacity`.

    Args:
        directory: where the cloud is kept.
        tools: needed programs, each with Debian's package.
    """
    return {
        "memory_mib": available_kib() // 1024,
        "disk_mib": shutil.disk_usage(directory).free // 2**20,
        "cores": len(os.sched_getaffinity(0)),
        "root": os.geteuid() == 0,
        "missing_tools": tuple(tool for tool in tools if shutil.which(tool) is None),
    }


def lacks(found: Capacity, memory_mib: int, disk_mib: int, tools: Mapping[str, str]) -> list[Lack]:
    """Return everything that is too little.

    Args:
        tools: those that `found` was read with.
    """
    lacking = list[Lack]()
    if not found.root:
        lacking.append(Lack("root privileges", "an ordinary user", "run it with sudo: namespaces and mounts need them"))
    if found.memory_mib < memory_mib:
        seen = f"{found.memory_mib} MiB are available"
        fix = "end programs of yours that use it, or take a larger machine"
        lacking.append(Lack(f"{memory_mib} MiB of memory", seen, fix))
    if found.disk_mib < disk_mib:
        seen = f"{found.disk_mib} MiB are free"
        lacking.append(Lack(f"{disk_mib} MiB of disk", seen, "free some where the checkout is"))
    if found.cores < CORES:
        lacking.append(Lack(f"{CORES} cores", f"{found.cores} may be used", "taskset or the container allows too few"))
    if found.missing_tools:
        packages = " ".join(sorted({tools[tool] for tool in found.missing_tools}))
        wanted = f"programs: {' '.join(found.missing_tools)}"
        lacking.append(Lack(wanted, "not found", f"install them (Debian's packages {packages})"))
    return lacking


def require_none(lacking: Sequence[Lack], cloud: str, directory: Path) -> None:
    """Refuse a machine that lacks something.

    Raises:
        PrerequisiteError: with everything that is in the way.
    """
    if lacking:
        raise PrerequisiteError(
            f"this machine cannot carry {cloud}: it lacks " + "; ".join(one.what for one in lacking),
            where=str(directory),
            observed="; ".join(one.seen for one in lacking),
            fix="; ".join(one.fix for one in lacking),
        )
