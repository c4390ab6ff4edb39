"""The memory that is available without swapping, as the kernel says it (proc(5))."""

from pathlib import Path

MEMINFO = Path("/proc/meminfo")


def available_kib(meminfo: Path = MEMINFO) -> int:
    """Return MemAvailable; 0 where the kernel does not say."""
    for line in meminfo.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1])
    return 0
