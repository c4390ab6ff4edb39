"""Softirqs as the kernel begins and ends them, traced in an instance of our own on the cores that work."""

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nfvbed.deploy.lab import namespaces
from nfvbed.deploy.lab.entries import MountEntry, TraceInstanceEntry
from nfvbed.deploy.lab.tracefs import FILE_SYSTEM, instance_path, remove_instance
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.errors import InternalError, UnsupportedError
from nfvbed.measure.telemetry.ringbuffer import Event, events_of

BUFFER_KIB = 64 * 1024
"""Of each traced core: two million softirqs. The buffer is not read before the trial has ended, which costs nothing."""
SOFTIRQ_EVENTS = ("irq/softirq_entry", "irq/softirq_exit")
_ORDER: Literal["little", "big"] = sys.byteorder
_CLOCK = "mono"
"""CLOCK_MONOTONIC, as Python's `time.monotonic_ns`."""
_PAGE = 1 << 16
"""At least as large as a part of the buffer can be; a read gives one."""
_LOST = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)
_FIELD = re.compile(r"field:.*\bvec;\s*offset:(\d+);\s*size:4;")


@dataclass(frozen=True)
class SoftirqEvent:
    """The begin or the end of one softirq on a core."""

    time_ns: int
    begins: bool
    vector: int
    tid: int
    """The thread that it interrupted or that it runs in; 0: the core was idle."""


@dataclass(frozen=True)
class Trace:
    """What was traced."""

    events: dict[int, tuple[SoftirqEvent, ...]]
    """By core, in order."""
    lost: int
    """Events that found no place in the buffer."""


class SoftirqTracer:
    """Traces softirqs between `start` and `stop`; `close` takes the instance away.

    Args:
        workspace: in whose ledger the instance is.
        cores: that are traced.

    Raises:
        UnsupportedError: this kernel has no tracing or no softirq tracepoints, or does not let us.
    """

    def __init__(self, workspace: Workspace, cores: Iterable[int]) -> None:
        self._cores = tuple(sorted(set(cores)))
        self._path = _make_instance(workspace)
        try:
            self._set_up()
        except OSError as failure:
            self.close()
            raise UnsupportedError(
                "softirqs cannot be traced",
                where=str(failure.filename or self._path),
                observed=str(failure),
                fix="a kernel with CONFIG_TRACEPOINTS and CONFIG_EVENT_TRACING",
            ) from failure

    def _set_up(self) -> None:
        self._write("tracing_on", "0")
        self._write("trace_clock", _CLOCK)
        # The oldest events are kept: should there be too many, it is known up to when the trace is complete.
        self._write("options/overwrite", "0")
        mask = sum(1 << core for core in self._cores)
        self._write("tracing_cpumask", _grouped(f"{mask:x}"))
        for core in self._cores:
            self._write(f"per_cpu/cpu{core}/buffer_size_kb", str(BUFFER_KIB))
        self._ids = {int(self._read(f"events/{name}/id")): name == SOFTIRQ_EVENTS[0] for name in SOFTIRQ_EVENTS}
        self._offsets = {_vector_offset(self._read(f"events/{name}/format")) for name in SOFTIRQ_EVENTS}
        if len(self._offsets) != 1:
            raise InternalError("the two softirq tracepoints differ in form", where=str(self._path))
        for name in SOFTIRQ_EVENTS:
            self._write(f"events/{name}/enable", "1")

    def start(self) -> None:
        """Let events be written."""
        self._write("tracing_on", "1")

    def stop(self) -> None:
        """Let no more be written."""
        self._write("tracing_on", "0")

    def collect(self) -> Trace:
        """Read what was written; call it after `stop`.

        Raises:
            InternalError: the kernel writes another form than is known.
        """
        found = {core: tuple(self._events(core)) for core in self._cores}
        counts = [self._read(f"per_cpu/cpu{core}/stats") for core in self._cores]
        return Trace(found, sum(int(number) for text in counts for number in _LOST.findall(text)))

    def close(self) -> None:
        """Take the instance away; idempotent."""
        remove_instance(self._path)

    def _events(self, core: int) -> Iterator[SoftirqEvent]:
        (offset,) = self._offsets
        for event in self._raw_events(core):
            begins = self._ids.get(int.from_bytes(event.data[:2], _ORDER))
            if begins is not None:
                vector = int.from_bytes(event.data[offset : offset + 4], _ORDER)
                tid = int.from_bytes(event.data[4:8], _ORDER, signed=True)
                yield SoftirqEvent(event.time_ns, begins, vector, tid)

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
    """Mount tracefs in the run directory and make an instance; the ledger has both first, whatever becomes of us.

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


def _vector_offset(text: str) -> int:
    """Find where an event has its vector, in its `format`.

    Raises:
        InternalError: it has none, or of another size.
    """
    found = _FIELD.search(text)
    if found is None:
        raise InternalError("a softirq tracepoint has no 32-bit field `vec`", observed=text)
    return int(found[1])


def _grouped(digits: str) -> str:
    """Write a mask as the kernel wants it: groups of 32 bits with commas between."""
    return ",".join(digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)[::-1])
