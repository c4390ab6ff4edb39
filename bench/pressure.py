"""Whether others wanted the CPUs during a trial, from the kernel's pressure stall information."""

import time
from pathlib import Path

LOOK_S = 0.25
PRESSURE = Path("/proc/pressure/cpu")


class Pressure:
    """The share of a window in which some task waited for a CPU. With one poller a core it is next to nothing."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._first = _stalled_s()

    def share(self) -> float:
        """Return the share since the start; 0 where the kernel does not say."""
        elapsed = time.monotonic() - self._started
        return (_stalled_s() - self._first) / elapsed if elapsed > 0 else 0.0


def wait_until_quiet(limit: float, patience_s: float) -> float:
    """Wait, for a bounded time, until the pressure of a moment is below a limit.

    Returns:
        What is left of the patience, in s.
    """
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        pressure = Pressure()
        time.sleep(LOOK_S)
        if pressure.share() <= limit:
            break
    return max(deadline - time.monotonic(), 0.0)


def _stalled_s() -> float:
    try:
        some = PRESSURE.read_text().splitlines()[0]
    except OSError:
        return 0.0
    return int(some.rpartition("total=")[2]) / 1e6
