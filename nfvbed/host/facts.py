"""The description of this host whose hash is the host hash: only what stays the same until the machine changes."""

import os
import platform
from pathlib import Path
from typing import Any

from nfvbed.host.cores.clocks import what_is_reported
from nfvbed.host.cores.topology import CpuTopology

_GIB_KIB = 1024 * 1024

_BOOT_PARAMETERS = (
    "mitigations",
    "isolcpus",
    "nohz_full",
    "rcu_nocbs",
    "irqaffinity",
    "hugepages",
    "hugepagesz",
    "default_hugepagesz",
    "transparent_hugepage",
    "intel_iommu",
    "amd_iommu",
    "iommu",
    "idle",
    "intel_idle.max_cstate",
    "processor.max_cstate",
    "intel_pstate",
    "amd_pstate",
    "nosmt",
    "preempt",
    "tsc",
)
"""Those that bear on a measurement; the rest (disks, consoles, perhaps secrets) is left out."""


def host_facts(topology: CpuTopology, root: Path = Path("/")) -> dict[str, Any]:
    """Return CPU, kernel, mitigations, governor, isolation and memory, from /proc and /sys.

    `told` says which warnings about a trial this host can raise at all.
    """
    return {
        **lasting(root),
        "topology": topology.model_dump(mode="json"),
        "kernel": platform.release(),
        "page_kib": os.sysconf("SC_PAGE_SIZE") // 1024,
        "told": what_is_reported(root) | {"numa": _numa_is_reported(topology)},
    }


def lasting(root: Path) -> dict[str, Any]:
    """Return what is in files alone: CPU, mitigations, governor, memory, and the kernel's start parameters.

    Args:
        root: of the machine's files, or of a copy of them.
    """
    return {
        "cpu": _cpu(root),
        "boot_parameters": _boot_parameters(root),
        "mitigations": _mitigations(root),
        "governor": _governors(root),
        "smt": _text(root / "sys/devices/system/cpu/smt/control"),
        "memory_gib": _memory_gib(root),
        "clock_source": _text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    }


def _numa_is_reported(topology: CpuTopology) -> str:
    nodes = len([node for node in topology.nodes if node])
    return "numa_maps and numa_node" if nodes > 1 else "one node: nothing can lie on a wrong one"


def _boot_parameters(root: Path) -> list[str]:
    words = (_text(root / "proc/cmdline") or "").split()
    return [word for word in words if word.partition("=")[0] in _BOOT_PARAMETERS]


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _cpu(root: Path) -> dict[str, str]:
    """Return the first CPU's identity, without its present frequency, which changes."""
    wanted = {"vendor_id", "model name", "cpu family", "model", "stepping", "microcode", "CPU implementer", "CPU part"}
    found: dict[str, str] = {}
    for line in (_text(root / "proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in wanted:
            found.setdefault(key.strip(), value.strip())
    flags = (_text(root / "proc/cpuinfo") or "").partition("flags")[2].partition("\n")[0].split()
    found["hypervisor"] = "yes" if "hypervisor" in flags else "no"
    return found


def _mitigations(root: Path) -> dict[str, str | None]:
    directory = root / "sys/devices/system/cpu/vulnerabilities"
    return {path.name: _text(path) for path in sorted(directory.glob("*"))}


def _governors(root: Path) -> list[str]:
    """Return the governors in use; empty where the machine has no governed frequency (virtual machines)."""
    paths = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return sorted({text for path in paths if (text := _text(path))})


def _memory_gib(root: Path) -> int | None:
    """Return memory in GiB, rounded: the kernel's own share changes by a few MiB from boot to boot."""
    for line in (_text(root / "proc/meminfo") or "").splitlines():
        if line.startswith("MemTotal:"):
            return round(int(line.split()[1]) / _GIB_KIB)
    return None
