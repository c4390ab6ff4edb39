"""What is deployed on this machine, to compare before and after: what is new later was left behind."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from nfvbed.host.ledger.places import LIBXDP_DIRECTORY

GRACE_S = 5.0
"""Namespaces, and links with them, are taken apart by the kernel after the last process has gone."""
PAUSE_S = 0.05
SHARED = ("/dev/shm", "/run/dpdk")
"""Folders into which programs put files unless they are given another one."""
APART = "apart-"
"""Begins the name of a control group that another session of tests has as its own root: what is in it is that one's."""
MADE = ("/run/dpdk", str(LIBXDP_DIRECTORY))
"""Folders that programs make, and leave behind empty."""


@dataclass(frozen=True)
class Footprint:
    """One look at the machine; each kind is a set of names: namespaces, links, mounts, hugepages, files and more."""

    mark: str
    """`NAME=value` in the environment of the processes that are looked for; no others on this machine are."""
    kinds: dict[str, frozenset[str]]

    @classmethod
    def take(cls, mark: str) -> "Footprint":
        """Look at the machine now.

        Args:
            mark: `NAME=value`, put into the environment before anything is started that may be left behind.
        """
        kinds = {
            "network namespace": _names(Path("/run/netns")),
            "link": _names(Path("/sys/class/net")),
            "mount": _mounts(),
            "hugepage pool": _hugepages(),
            "control group": _control_groups(),
            "run directory": _names(Path("/run/nfvbed")),
            "file": frozenset(f"{folder}/{name}" for folder in SHARED for name in _names(Path(folder))),
            "folder": frozenset(folder for folder in MADE if Path(folder).is_dir()),
            "process": _marked(mark.encode()),
        }
        return cls(mark, kinds)

    def left_behind(self, grace_s: float = GRACE_S) -> list[str]:
        """Return what is there now and was not then, `kind: name`, after a grace period for removals."""
        deadline = time.monotonic() + grace_s
        while True:
            now = Footprint.take(self.mark).kinds
            left = [f"{kind}: {name}" for kind in now for name in sorted(now[kind] - self.kinds[kind])]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(PAUSE_S)


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


def _control_groups(top: Path = Path("/sys/fs/cgroup")) -> frozenset[str]:
    """Find control groups by name; those of others come and go while this looks, and a walk passes over them."""
    found = []
    for folder, names, _ in os.walk(top):
        names[:] = [name for name in names if not name.startswith(APART)]
        found += [f"{folder}/{name}" for name in names if "nfvbed" in name]
    return frozenset(found)


def _marked(mark: bytes) -> frozenset[str]:
    """Find processes by their environment, which finds orphans too; not this one, and none of its threads."""
    own = Path("/proc/self").resolve().name
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or entry.name == own:
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(f"{entry.name} {command.strip()[:100]}")
        except OSError:
            continue
    return frozenset(found)
