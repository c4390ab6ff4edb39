"""Softirqs and switches of threads as the kernel does them, traced in an instance of our own on the cores that work."""

import contextlib
import os
import re
import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from nfvbed.errors import InternalError, UnsupportedError
from nfvbed.host.ledger.entries import MountEntry, TraceInstanceEntry
from nfvbed.host.ledger.tracefs import FILE_SYSTEM, instance_path, remove_instance
from nfvbed.host.network import namespaces
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.telemetry.ringbuffer import Event, events_of

BUFFER_KIB = 128 * 1024
"""Buffer of each traced core: two million switches, or four million softirqs. It is not read before the trial has
ended.
"""
MEMORY_SHARE = 16
"""One such part of the memory that is free, at most, for each core's buffer."""
_U16, _I32 = struct.Struct("=H"), struct.Struct("=i")
_CLOCK = "mono"
"""CLOCK_MONOTONIC, as Python's `time.monotonic_ns`."""
_PAGE = 1 << 16
"""At least as large as a part of the buffer can be; a read gives one."""
_LOST = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)
_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


class Kind(IntEnum):
    """The kind of a traced event."""

    BEGIN = 0
    """A softirq begins."""
    END = 1
    """A softirq ends."""
    SWITCH = 2
    """Another thread is put on the core."""


_SOURCES = {
    Kind.BEGIN: ("irq/softirq_entry", "vec"),
    Kind.END: ("irq/softirq_exit", "vec"),
    Kind.SWITCH: ("sched/sched_switch", "next_pid"),
}
"""Tracepoint, and the 32-bit field that says which softirq or which thread."""


class TraceEvent(NamedTuple):
    """A softirq's begin or end on a core, or the switch to another thread."""

    time_ns: int
    kind: Kind
    value: int
    """The softirq's vector; the thread that is put on the core."""
    tid: int
    """The thread that is on the core, or was until now; 0: the core was idle."""


class CoreTracer:
    """Traces softirqs and switches between `start` and `stop`; `close` takes the instance away.

    Args:
        workspace: its ledger records the instance.

    Raises:
        UnsupportedError: this kernel has no tracing or no such tracepoints, or does not let us.
    """

    def __init__(self, workspace: Workspace, cores: Iterable[int]) -> None:
        self.cores = tuple(sorted(set(cores)))
        self._forms: dict[int, tuple[Kind, int]] = {}
        self._path = _make_instance(workspace)
        try:
            self._set_up()
        except OSError as failure:
            self.close()
            raise UnsupportedError(
                "softirqs and switches cannot be traced",
                where=str(failure.filename or self._path),
                observed=str(failure),
                fix="a kernel with CONFIG_TRACEPOINTS and CONFIG_EVENT_TRACING",
            ) from failure

    def _set_up(self) -> None:
        self._write("tracing_on", "0")
        self._write("trace_clock", _CLOCK)
        # The oldest events are kept: should there be too many, it is known up to when the trace is complete.
        self._write("options/overwrite", "0")
        mask = sum(1 << core for core in self.cores)
        self._write("tracing_cpumask", _grouped(f"{mask:x}"))
        for core in self.cores:
            self._write(f"per_cpu/cpu{core}/buffer_size_kb", str(_buffer_kib()))
        for kind, (name, field) in _SOURCES.items():
            number = int(self._read(f"events/{name}/id"))
            self._forms[number] = (kind, _offset(self._read(f"events/{name}/format"), field))
            self._write(f"events/{name}/enable", "1")

    def start(self) -> None:
        """Let events be written."""
        self._write("tracing_on", "1")

    def stop(self) -> None:
        """Let no more be written."""
        self._write("tracing_on", "0")

    def lost(self) -> int:
        """Return how many events found no place in the buffers."""
        counts = [self._read(f"per_cpu/cpu{core}/stats") for core in self.cores]
        return sum(int(number) for text in counts for number in _LOST.findall(text))

    def close(self) -> None:
        """Take the instance away; idempotent."""
        remove_instance(self._path)

    def events(self, core: int) -> Iterator[TraceEvent]:
        """Yield what was written of a core, in order; it is gone then. Call it after `stop`.

        Raises:
            InternalError: the kernel writes another form than is known.
        """
        forms = self._forms
        for time_ns, data in self._raw_events(core):
            form = forms.get(_U16.unpack_from(data)[0])
            if form is not None:
                kind, offset = form
                yield TraceEvent(time_ns, kind, _I32.unpack_from(data, offset)[0], _I32.unpack_from(data, 4)[0])

    def _raw_events(self, core: int) -> Iterator[Event]:
        handle = os.open(self._path / f"per_cpu/cpu{core}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            with contextlib.suppress(BlockingIOError):
                while page := os.read(handle, _PAGE):
                    yield from events_of(page)
        finally:
            os.close(handle)

    def _write(self, name: str, text: str) -> None:
        (self._path / name).write_text(text)

    def _read(self, name: str) -> str:
        return (self._path / name).read_text()


def _make_instance(workspace: Workspace) -> Path:
    """Mount tracefs in the run directory and return a new instance; the ledger has both first, whatever becomes of us.

    Raises:
        UnsupportedError: this kernel has no tracing, or does not let us.
    """
    mount_point = workspace.directory / FILE_SYSTEM
    path = instance_path(mount_point, f"nfvbed-{workspace.id}")
    try:
        if not os.path.ismount(mount_point):
            mount_point.mkdir(exist_ok=True)
            workspace.ledger.record(MountEntry(path=str(mount_point)))
            namespaces.mount("nfvbed", str(mount_point), FILE_SYSTEM)
        workspace.ledger.record(TraceInstanceEntry(path=str(path)))
        path.mkdir(exist_ok=True)
    except OSError as failure:
        raise UnsupportedError(
            "the kernel's tracing cannot be used",
            where=str(failure.filename or mount_point),
            observed=str(failure),
            fix="a kernel with CONFIG_FTRACE that is not locked down, and root outside of a container",
        ) from failure
    return path


def _offset(text: str, field: str) -> int:
    """Return the offset of an event's 32-bit field, from its `format`.

    Raises:
        InternalError: there is no such field, or it has another size.
    """
    found = re.search(rf"field:.*\b{field};\s*offset:(\d+);\s*size:4;", text)
    if found is None:
        raise InternalError(f"a tracepoint has no 32-bit field `{field}`", observed=text)
    return int(found[1])


def _buffer_kib() -> int:
    found = _AVAILABLE.search(Path("/proc/meminfo").read_text())
    return min(BUFFER_KIB, int(found[1]) // MEMORY_SHARE) if found else BUFFER_KIB


def _grouped(digits: str) -> str:
    """Return a mask as the kernel wants it: groups of 32 bits with commas between."""
    return ",".join(digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)[::-1])
