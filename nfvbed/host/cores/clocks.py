"""The clocks of cores, and whether heat slowed them: by the kernel and by the cores' own counters.

Sources: cpufreq and thermal_throttle in sysfs (Documentation/admin-guide/pm/cpufreq.rst, Documentation/ABI/testing/
sysfs-devices-system-cpu), "cpu MHz" of /proc/cpuinfo, and IA32_APERF and IA32_MPERF (Intel SDM volume 3, 15.2; AMD has
the same two). A virtual machine usually has none of them.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

CPUS = "sys/devices/system/cpu"
COUNTS = "aperfmperf"
"""The CPU flag of those that count their clocks; with it the "cpu MHz" of /proc/cpuinfo is measured, else constant."""
MPERF, APERF = 0xE7, 0xE8
THROTTLE_COUNTS = ("core_throttle_count", "package_throttle_count")
NOT_KNOWN = "cannot be determined"


@dataclass(frozen=True)
class CoreReading:
    """One core's reading now; None: this host does not tell."""

    hz: int | None = None
    """Its clock as it was last measured by the kernel; of an idle core it is the last one or a guess."""
    aperf: int | None = None
    """Cycles at the actual clock since boot, idle ones left out."""
    mperf: int | None = None
    """The same at a constant clock."""
    throttled: int | None = None
    """How often heat slowed the core or its package."""


class CoreReader:
    """Reads the clocks and throttling of cores, by the means that this host has.

    Args:
        root: of the file tree; other than `/` in tests.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._counts = COUNTS in _flags(root)

    def read(self, cores: Collection[int]) -> dict[int, CoreReading]:
        """Read some cores now."""
        shown = self._shown_hz() if self._counts and not self._scales() else {}
        return {core: self._core(core, shown) for core in sorted(cores)}

    def _core(self, core: int, shown: Mapping[int, int]) -> CoreReading:
        khz = _number(self._root / CPUS / f"cpu{core}/cpufreq/scaling_cur_freq")
        folder = self._root / CPUS / f"cpu{core}/thermal_throttle"
        counts = [count for name in THROTTLE_COUNTS if (count := _number(folder / name)) is not None]
        aperf, mperf = (self._register(core, number) if self._counts else None for number in (APERF, MPERF))
        return CoreReading(
            hz=khz * 1000 if khz is not None else shown.get(core),
            aperf=aperf if mperf is not None else None,
            mperf=mperf if aperf is not None else None,
            throttled=sum(counts) if counts else None,
        )

    def _scales(self) -> bool:
        return next((self._root / CPUS).glob("cpu[0-9]*/cpufreq/scaling_cur_freq"), None) is not None

    def _shown_hz(self) -> dict[int, int]:
        found: dict[int, int] = {}
        core = None
        for line in _text(self._root / "proc/cpuinfo").splitlines():
            key, _, value = (part.strip() for part in line.partition(":"))
            if key == "processor":
                core = int(value)
            elif key == "cpu MHz" and core is not None:
                found[core] = round(float(value) * 1e6)
        return found

    def _register(self, core: int, number: int) -> int | None:
        """Return a register's value on a core; None without the module msr, or without permission."""
        try:
            handle = os.open(self._root / f"dev/cpu/{core}/msr", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return int.from_bytes(os.pread(handle, 8, number), "little")
        except OSError:
            return None
        finally:
            os.close(handle)


def what_is_reported(root: Path = Path("/")) -> dict[str, str]:
    """Return by what means this host tells clocks and throttling, or why it cannot.

    It holds only what stays the same until the machine changes, so not whether the module msr is loaded.
    """
    scales = next((root / CPUS).glob("cpu[0-9]*/cpufreq/scaling_cur_freq"), None) is not None
    counts = COUNTS in _flags(root)
    throttles = next((root / CPUS).glob(f"cpu[0-9]*/thermal_throttle/{THROTTLE_COUNTS[0]}"), None) is not None
    clock = " and ".join([*(["cpufreq"] if scales else []), *(["aperf/mperf"] if counts else [])])
    return {
        "clock": clock or f"{NOT_KNOWN}: no cpufreq, and no CPU flag {COUNTS} (usual in a virtual machine)",
        "thermal_throttling": "thermal_throttle counts"
        if throttles
        else f"{NOT_KNOWN}: no thermal_throttle in sysfs (it is there on Intel CPUs outside of virtual machines)",
    }


def _flags(root: Path) -> list[str]:
    return _text(root / "proc/cpuinfo").partition("flags")[2].partition("\n")[0].split()


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None  # no such file, or "<unknown>" of a core that is offline
