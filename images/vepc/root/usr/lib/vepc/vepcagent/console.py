"""What the agent tells: lines that begin with `vepc: ` on the console, which nfvbed waits for."""

import threading
from collections.abc import Iterable

from agent.program import read

_LAST = 400
"""Characters of a log's end: a console's line."""
_lock = threading.Lock()


def say(text: str) -> None:
    """Print a line."""
    with _lock:
        print(f"vepc: {' '.join(text.split())}", flush=True)


def uptime_s() -> float:
    """Return for how long the guest has been up."""
    return float(read("/proc/uptime", "0").split()[0])


def last_of(lines: Iterable[str]) -> str:
    """Return the end of a log in one line."""
    return " | ".join(line.strip() for line in lines if line.strip())[-_LAST:]
