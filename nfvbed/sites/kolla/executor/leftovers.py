"""Ends processes that were started for a rack, also those that made sessions of their own, as Ansible's workers do."""

import contextlib
import os
import signal
import time
from pathlib import Path

from nfvbed.host.ledger.processes import is_alive, kill, start_time
from nfvbed.patience import patient
from nfvbed.signals import signals_held

VARIABLE = "NFVBED_RACK_MARK"
"""In the environment of all that is started for a rack."""
_GRACE_S = patient(5.0)
"""For Ansible to end by itself when it is interrupted."""
_POLL_S = 0.05


def marked(mark: str) -> dict[int, int]:
    """Return the processes with a mark: their start times by their ids."""
    wanted, found = f"{VARIABLE}={mark}".encode(), dict[int, int]()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # it has just ended, or is another user's
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                started = start_time(int(entry.name))
                if started is not None:
                    found[int(entry.name)] = started
    return found


def end(mark: str, *, gently: bool = True) -> int:
    """End all processes with a mark; return how many there were.

    Args:
        gently: interrupt them first; those that stay are killed.
    """
    with signals_held():
        first = marked(mark)
        if gently:
            for pid, started in first.items():
                with contextlib.suppress(ProcessLookupError):
                    if is_alive(pid, started):
                        os.kill(pid, signal.SIGINT)
            deadline = time.monotonic() + _GRACE_S
            while marked(mark) and time.monotonic() < deadline:
                time.sleep(_POLL_S)
        while left := {pid: started for pid, started in marked(mark).items() if is_alive(pid, started)}:
            for pid, started in left.items():
                kill(pid, started)
        return len(first)
