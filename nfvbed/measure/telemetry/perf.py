"""Hardware counters of threads through perf_event_open(2): misses of TLBs and of the last cache, and instructions.

Whether a machine has them is tried, not guessed: most virtual machines have no performance monitoring unit (PMU).
"""

import ctypes
import errno
import fcntl
import os
import platform
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from nfvbed.errors import UnsupportedError

_HARDWARE, _SOFTWARE, _HW_CACHE = 0, 1, 3
_SYSCALLS = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
_ENABLE, _DISABLE = 0x2400, 0x2401
_TIMES = 0b11
"""PERF_FORMAT_TOTAL_TIME_ENABLED and PERF_FORMAT_TOTAL_TIME_RUNNING."""
_DISABLED = 1
_CLOEXEC = 8
_READING = struct.Struct("=QQQ")
_MISS = 1 << 16
_DEVICES = Path("/sys/bus/event_source/devices")
_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    """`struct perf_event_attr`, in its length of Linux 4.1 (PERF_ATTR_SIZE_VER5)."""

    _fields_ = (
        ("type", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("config", ctypes.c_uint64),
        ("sample_period", ctypes.c_uint64),
        ("sample_type", ctypes.c_uint64),
        ("read_format", ctypes.c_uint64),
        ("flags", ctypes.c_uint64),
        ("rest", ctypes.c_uint8 * 64),
    )


@dataclass(frozen=True)
class PerfEvent:
    """What is counted (linux/perf_event.h)."""

    name: str
    type: int
    config: int


INSTRUCTIONS = PerfEvent("instructions", _HARDWARE, 1)
CYCLES = PerfEvent("cycles", _HARDWARE, 0)
LLC_MISSES = PerfEvent("LLC misses", _HW_CACHE, 2 | _MISS)
DTLB_MISSES = PerfEvent("dTLB misses", _HW_CACHE, 3 | _MISS)
ITLB_MISSES = PerfEvent("iTLB misses", _HW_CACHE, 4 | _MISS)
HARDWARE_EVENTS = (INSTRUCTIONS, CYCLES, DTLB_MISSES, ITLB_MISSES, LLC_MISSES)
"""Read misses, of the cache and the TLBs."""
CONTEXT_SWITCHES = PerfEvent("context switches", _SOFTWARE, 3)
"""The kernel's own count: there without a PMU."""


@dataclass(frozen=True)
class PerfSupport:
    """What of the events can be counted here, as trying them showed."""

    events: tuple[PerfEvent, ...]
    refused: Mapping[str, str]
    """By name of an event: why not."""
    fix: str = ""

    @property
    def reason(self) -> str:
        """Return why something cannot be counted; empty where all can."""
        return "; ".join(f"{name}: {why}" for name, why in self.refused.items())


def probe(events: Sequence[PerfEvent] = HARDWARE_EVENTS) -> PerfSupport:
    """Try to count each event of the calling thread."""
    able, refused, numbers = [], {}, set()
    for event in events:
        try:
            os.close(_open(event, 0))
        except OSError as failure:
            refused[event.name] = _why(failure)
            numbers.add(failure.errno)
        else:
            able.append(event)
    return PerfSupport(tuple(able), _together(refused), _fix(numbers) if refused else "")


class PerfCounters:
    """Counts events of threads between `start` and `stop`; closed at the end of its `with`.

    Args:
        threads: ids of the threads.
        events: events that `probe` found.

    Raises:
        UnsupportedError: an event cannot be counted for a thread.
    """

    def __init__(self, threads: Iterable[int], events: Sequence[PerfEvent]) -> None:
        self._handles: dict[tuple[int, str], int] = {}
        try:
            for tid in threads:
                for event in events:
                    self._handles[tid, event.name] = _open(event, tid)
        except OSError as failure:
            self.close()
            if failure.errno == errno.ESRCH:
                raise UnsupportedError("a thread has ended", where=f"thread {tid}", fix="measure again") from failure
            raise UnsupportedError(
                f"{event.name} cannot be counted", where=f"thread {tid}", observed=_why(failure), fix=_fix(set())
            ) from failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def start(self) -> None:
        """Let all of them count."""
        for handle in self._handles.values():
            fcntl.ioctl(handle, _ENABLE, 0)

    def stop(self) -> None:
        """Let none count any more."""
        for handle in self._handles.values():
            fcntl.ioctl(handle, _DISABLE, 0)

    def read(self) -> dict[tuple[int, str], int | None]:
        """Return the counts by thread and event, scaled where counters took turns; None: it never had its turn."""
        return {key: _scaled(os.read(handle, _READING.size)) for key, handle in self._handles.items()}

    def close(self) -> None:
        """Let go of the counters; idempotent."""
        while self._handles:
            os.close(self._handles.popitem()[1])


def _open(event: PerfEvent, tid: int) -> int:
    number = _SYSCALLS.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, f"the number of perf_event_open on {platform.machine()} is not known")
    attributes = _Attributes(
        type=event.type,
        size=ctypes.sizeof(_Attributes),
        config=event.config,
        read_format=_TIMES,
        flags=_DISABLED,
    )
    handle: int = _libc.syscall(number, ctypes.byref(attributes), tid, -1, -1, ctypes.c_ulong(_CLOEXEC))
    if handle < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return handle


def _scaled(reading: bytes) -> int | None:
    value, enabled, running = _READING.unpack(reading)
    if not running:
        return 0 if not enabled else None
    return int(value * enabled // running)


def _why(failure: OSError) -> str:
    code = errno.errorcode.get(failure.errno or 0, "")
    if failure.errno in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP, errno.ENXIO):
        return f"no PMU counts it ({code}; event sources here: {', '.join(_sources()) or 'none'})"
    return f"{failure.strerror} ({code})"


def _together(refused: Mapping[str, str]) -> dict[str, str]:
    """Put events that are refused for the same reason under one name."""
    names: dict[str, list[str]] = {}
    for name, why in refused.items():
        names.setdefault(why, []).append(name)
    return {", ".join(own): why for why, own in names.items()}


def _sources() -> list[str]:
    return sorted(path.name for path in _DEVICES.iterdir()) if _DEVICES.is_dir() else []


def _fix(numbers: set[int | None]) -> str:
    if numbers & {errno.EACCES, errno.EPERM}:
        return "run it as root, with kernel.perf_event_paranoid at most 2 and no seccomp filter in the way"
    return "measure on a machine with a PMU, or give the virtual machine one (libvirt: <pmu state='on'/>)"
