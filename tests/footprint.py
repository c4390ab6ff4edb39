"""What stands on this machine: namespaces, links, mounts, hugepages, control groups, run directories, processes."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

GRACE_S = 5.0
"""Namespaces, and links with them, are taken apart by the kernel after the last process has gone."""


@dataclass(frozen=True)
class Footprint:
    """One look; each kind is a set of names."""

    kinds: dict[str, frozenset[str]]

    @classmethod
    def take(cls) -> "Footprint":
        """Look now."""
        return cls(
            {
                "network namespace": _names(Path("/run/netns")),
                "link": _names(Path("/sys/class/net")),
                "mount": _mounts(),
                "hugepage pool": _hugepages(),
                "control group": _control_groups(),
                "run directory": _names(Path("/run/nfvbed")),
                "file": frozenset(f"/dev/shm/{name}" for name in _names(Path("/dev/shm"))),
                "process": _descendants(),
            }
        )

    def left_behind(self) -> list[str]:
        """Give what is there now and was not then, after a grace for what is still being taken apart."""
        deadline = time.monotonic() + GRACE_S
        while True:
            now = Footprint.take().kinds
            left = [f"{kind}: {name}" for kind in now for name in sorted(now[kind] - self.kinds[kind])]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.2)


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except OSError:
        return frozenset()


def _mounts() -> frozenset[str]:
    return frozenset(" ".join(line.split()[1:3]) for line in Path("/proc/mounts").read_text().splitlines())


def _hugepages() -> frozenset[str]:
    pools = Path("/sys/kernel/mm/hugepages").glob("*/nr_hugepages")
    return frozenset(f"{pool.parent.name}: {pool.read_text().strip()} pages" for pool in pools)


def _control_groups() -> frozenset[str]:
    found = Path("/sys/fs/cgroup").glob("**/*nfvbed*")
    return frozenset(str(path) for path in found if path.is_dir())


def _descendants() -> frozenset[str]:
    """Processes of this session of tests: those that carry its environment, so that orphans are found as well.

    By the environment and not by name: another nfvbed on this machine is none of ours.
    """
    mark = f"NFVBED_TEST_SESSION={os.environ.setdefault('NFVBED_TEST_SESSION', str(os.getpid()))}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(f"{entry.name} {command.strip()[:100]}")
        except OSError:
            continue
    return frozenset(found)
