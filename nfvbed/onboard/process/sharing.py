"""VNFs that poll on a core which is not theirs alone: the plug-in that makes them yield, and what it reports.

Two programs that poll on one core each run for whole scheduler slices while the rings of the other overflow. The
plug-in (`native/yield`) makes an unmodified DPDK program give the core away when its queues are empty; generator
and VNF then have equal priority, and short slices.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from nfvbed.deploy.native import native_binary
from nfvbed.errors import OnboardError

PLUGIN = "nfvbed-yield"
NICE = -15
"""The generator's: a VNF with less would get a small part of the core."""
SLICE_NS = 100_000
"""The shortest that the kernel gives: both come back sooner when somebody else wakes up on their core. On a busy
machine 1.57 Mpps with 0.1 % of loss instead of 1.61 with 17 % (one deployment each, pvp over vhost-user)."""

_MAGIC, _VERSION = 0x4E465659, 1
_HEADER = struct.Struct("=IIII48x")
_ROW = struct.Struct("=QQQQQ24x")


@dataclass(frozen=True)
class YieldReport:
    """What the plug-in has counted in all threads of a program."""

    ports: int
    """That were started."""
    queues: int
    """Receive queues that are watched."""
    polls: int
    empty: int
    """Polls that found nothing."""
    yields: int
    """After empty polls."""
    refused: int
    """Yields in place of a wait for room to send."""


def environment(report: Path, root: Path) -> dict[str, str]:
    """Give the variables that load the plug-in into a program.

    Raises:
        PrerequisiteError: it is not built.
    """
    return {
        "LD_PRELOAD": str(native_binary(PLUGIN, root)),
        "NFVBED_YIELD_REPORT": str(report),
        "NFVBED_YIELD_NICE": str(NICE),
        "NFVBED_YIELD_SLICE_NS": str(SLICE_NS),
    }


def read_report(path: Path) -> YieldReport:
    """Read what the plug-in has counted so far.

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
    rows = [row[1:] for row in _ROW.iter_unpack(data[_HEADER.size :]) if row[0]]
    polls, empty, yields, refused = (sum(column) for column in zip(*rows, strict=True)) if rows else (0, 0, 0, 0)
    return YieldReport(ports, queues, polls, empty, yields, refused)


def _not_loaded(path: Path, observed: str) -> OnboardError:
    return OnboardError(
        "the VNF does not yield the core that it shares",
        where=str(path),
        observed=observed,
        fix="make build; the program must load shared libraries (no static build, no file capabilities)",
    )
