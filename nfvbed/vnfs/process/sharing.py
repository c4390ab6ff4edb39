"""VNFs that poll on a shared core: the plug-in that makes them yield it, and its report.

Two programs that poll on one core each run for whole scheduler slices while the rings of the other overflow. The
plug-in (`native/yield`) makes an unmodified DPDK program give the core away when its queues are empty. Beside the DPDK
generator it yields; generator and VNF then have equal priority, and short slices.

On network devices it sleeps until its AF_XDP sockets have frames, and then comes first, as the devices' receive threads
do. Those share its core always, and the generator's sender beside it is inside the kernel, where it gives way only at
the scheduler's tick (4 ms): yielding, 10 to 85 % were lost at maximum load through a bridge at 64 B, waiting, none.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import OnboardError
from nfvbed.host.native import native_binary

PLUGIN = "nfvbed-yield"
NICE = -15
"""The generator's: a VNF with less would get a small part of the core."""
SLICE_NS = 100_000
"""The shortest that the kernel gives: both come back sooner when another thread wakes up on their core. On a busy
machine 1.57 Mpps with 0.1 % of loss instead of 1.61 with 17 % (one deployment each, pvp over vhost-user)."""
PRIORITY = 1
"""Real-time, of threads that wait for frames: the receive threads' of the devices, before the sender."""

_MAGIC, _VERSION = 0x4E465659, 1
_HEADER = struct.Struct("=IIII48x")
_ROW = struct.Struct("=QQQQQ24x")


@dataclass(frozen=True)
class YieldReport:
    """The plug-in's counts in all threads of a program."""

    ports: int
    """Ports that were started."""
    queues: int
    """Receive queues that are watched."""
    polls: int
    empty: int
    """Polls that found nothing."""
    yields: int
    """After empty polls; or waits for frames."""
    refused: int
    """Yields in place of a wait for room to send."""
    threads: frozenset[int]
    """Threads that have polled."""


def environment(report: Path, root: Path, waits: bool) -> dict[str, str]:
    """Return the variables that load the plug-in into a program.

    Args:
        report: file of its counts.
        waits: whether it waits for frames at its AF_XDP sockets; otherwise it yields.

    Raises:
        PrerequisiteError: it is not built.
    """
    found = {"LD_PRELOAD": str(native_binary(PLUGIN, root)), "NFVBED_YIELD_REPORT": str(report)}
    if waits:
        return found | {"NFVBED_YIELD_PRIORITY": str(PRIORITY)}
    return found | {"NFVBED_YIELD_NICE": str(NICE), "NFVBED_YIELD_SLICE_NS": str(SLICE_NS)}


def read_report(path: Path) -> YieldReport:
    """Return the counts of the plug-in so far.

    Raises:
        OnboardError: there is no report: the plug-in was not loaded, or is another version's.
    """
    try:
        data = path.read_bytes()
        magic, version, queues, ports = _HEADER.unpack_from(data)
    except (OSError, struct.error) as failure:
        raise _not_loaded(path, str(failure)) from failure
    if (magic, version) != (_MAGIC, _VERSION):
        raise _not_loaded(path, f"its first words are {magic:#x}, {version}")
    rows = [row for row in _ROW.iter_unpack(data[_HEADER.size :]) if row[0]]
    counts = (sum(column) for column in zip(*rows, strict=True)) if rows else (0, 0, 0, 0, 0)
    _, polls, empty, yields, refused = counts
    polled = frozenset(row[0] for row in rows if row[1])
    return YieldReport(ports, queues, polls, empty, yields, refused, polled)


def _not_loaded(path: Path, observed: str) -> OnboardError:
    return OnboardError(
        "the VNF does not give the core away that it shares",
        where=str(path),
        observed=observed,
        fix="make build; the program must load shared libraries (no static build, no file capabilities)",
    )
