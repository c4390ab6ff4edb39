"""Memory as the kernel says it (proc(5))."""

from pathlib import Path

MEMINFO = Path("/proc/meminfo")


def available_kib(meminfo: Path = MEMINFO) -> int:
    """Return MemAvailable: what can be had without swapping; 0 where the kernel does not say."""
    return _kib("MemAvailable", meminfo)


def total_kib(meminfo: Path = MEMINFO) -> int:
    """Return MemTotal; 0 where the kernel does not say."""
    return _kib("MemTotal", meminfo)


def _kib(name: str, meminfo: Path) -> int:
    for line in meminfo.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0
