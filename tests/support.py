"""What each variant must give on this very host: `support.yml`, with what it says of hosts that have more.

Whether a host has more is found out here, by other means than the doctor's, which is what the manifest judges.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

MANIFEST = Path(__file__).parent / "support.yml"
_SYS = Path("/sys")


def _is_openable(device: str) -> bool:
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _has_module(name: str) -> bool:
    """Whether a module is loaded, built in, or could be loaded."""
    release = Path("/lib/modules") / os.uname().release
    lists = [release / "modules.dep", release / "modules.builtin"]
    known = any(f"/{name}.ko" in path.read_text() for path in lists if path.is_file())
    return known or (_SYS / "module" / name).is_dir()


def _total_functions() -> int:
    return sum(int(path.read_text()) for path in _SYS.glob("class/net/*/device/sriov_totalvfs"))


FACTS: dict[str, Callable[[], bool]] = {
    "VPP": lambda: bool(os.environ.get("VPP_BIN")),
    "vhost-net": lambda: _is_openable("/dev/vhost-net"),
    "openvswitch module": lambda: _has_module("openvswitch"),
    "KVM": lambda: _is_openable("/dev/kvm") and "hypervisor" not in Path("/proc/cpuinfo").read_text(),
    "IOMMU": lambda: any((_SYS / "kernel/iommu_groups").glob("*")),
    "virtual functions": lambda: _total_functions() > 0,
    "netmap": lambda: Path("/dev/netmap").exists(),
    "four cores": lambda: len(os.sched_getaffinity(0)) >= 4,
}
"""What a host may have beyond those of continuous integration. KVM: where the processor says that no hypervisor is
below, guests boot; in a virtual machine a device that opens says nothing."""


def here(entry: dict[str, Any], facts: dict[str, bool] | None = None) -> dict[str, Any]:
    """Return what an entry of the manifest asks of this host: that of the first fact of `where` which holds, if any."""
    known = facts if facts is not None else {name: fact() for name, fact in FACTS.items()}
    return next((more for name, more in entry.get("where", {}).items() if known[name]), entry)


def manifest() -> dict[str, Any]:
    """Return the file's content."""
    found: dict[str, Any] = yaml.safe_load(MANIFEST.read_text())
    return found
