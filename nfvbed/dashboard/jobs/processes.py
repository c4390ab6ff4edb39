"""Processes by number and time of start."""

import os
import signal
from pathlib import Path
from typing import Final

from nfvbed.dashboard.jobs.records import Process

_STATE: Final = 0
_START_TIME: Final = 19
"""Places in /proc/PID/stat after the command's name."""
_ENDED: Final = ("Z", "X")


def boot_id() -> str:
    """Return the id that the kernel drew at this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def process_of(pid: int) -> Process | None:
    """Return a process; None where it has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    if words[_STATE] in _ENDED:
        return None
    return Process(pid=pid, began=int(words[_START_TIME]), boot=boot_id())


def is_alive(process: Process) -> bool:
    """Return whether it runs."""
    return process_of(process.pid) == process


def send(process: Process, number: int) -> bool:
    """Send a signal to a process, and never to a later one with its number; return whether it was there."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(process):
            return False
        # The handle is of the process that was just recognised: the number cannot have changed hands in between.
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True
