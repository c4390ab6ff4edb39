"""Clocks and throttling in synthesised trees: a server that tells both, and a virtual machine that tells neither."""

from pathlib import Path

import pytest

from nfvbed.host.cores.clocks import NOT_KNOWN, CoreReader, CoreReading, what_is_reported

SERVER = {
    "proc/cpuinfo": "processor\t: 0\ncpu MHz\t\t: 3500.012\nflags\t\t: fpu aperfmperf constant_tsc\n\n"
    "processor\t: 1\ncpu MHz\t\t: 2899.998\nflags\t\t: fpu aperfmperf constant_tsc\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "3500000\n",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq": "<unknown>\n",
    "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "2\n",
    "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": "5\n",
}
"""Written after Documentation/admin-guide/pm/cpufreq.rst and arch/x86/kernel/cpu/mce/therm_throt.c."""
VIRTUAL = {"proc/cpuinfo": "processor\t: 0\ncpu MHz\t\t: 2596.150\nflags\t\t: fpu constant_tsc hypervisor\n"}


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_server_tells_clock_and_throttling(tmp_path: Path):
    root = tree(tmp_path, SERVER)
    assert CoreReader(root).read({0, 1}) == {0: CoreReading(hz=3_500_000_000, throttled=7), 1: CoreReading()}
    assert what_is_reported(root) == {
        "clock": "cpufreq and aperf/mperf",
        "thermal_throttling": "thermal_throttle counts",
    }


def test_without_cpufreq_the_counted_clock_is_that_of_cpuinfo(tmp_path: Path):
    root = tree(tmp_path, {"proc/cpuinfo": SERVER["proc/cpuinfo"]})
    assert [reading.hz for reading in CoreReader(root).read([1, 0]).values()] == [3_500_012_000, 2_899_998_000]
    assert what_is_reported(root)["clock"] == "aperf/mperf"


def test_the_constant_clock_of_a_virtual_machine_is_none(tmp_path: Path):
    root = tree(tmp_path, VIRTUAL)
    assert CoreReader(root).read({0}) == {0: CoreReading()}
    assert all(text.startswith(NOT_KNOWN) for text in what_is_reported(root).values())


@pytest.mark.parametrize("counted", [True, False])
def test_the_cores_own_counters_are_read_where_the_flag_says_that_they_are_there(tmp_path: Path, counted: bool):
    root = tree(tmp_path, SERVER if counted else VIRTUAL)
    registers = root / "dev/cpu/0/msr"
    registers.parent.mkdir(parents=True)
    # In a file the registers 0xE7 and 0xE8 lie one byte apart; in the device each is read on its own.
    registers.write_bytes(bytes(0xE7) + bytes([1, 2, 0, 0, 0, 0, 0, 0, 0]))
    reading = CoreReader(root).read({0})[0]
    assert (reading.mperf, reading.aperf) == ((0x201, 2) if counted else (None, None))
