"""The time that a guest is given to start, in which the time that it had no core does not count."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nfvbed.units import NS_PER_S

MOST_TIMES: Final = 4
"""However long a guest has no core, it is waited for so many times its limit at most, in all."""


@dataclass(frozen=True)
class StartWait:
    """A limit that several waits for one guest share.

    On a busy host an emulated guest gets a small part of a core, and boots as much later: what it waited for a core is
    what the scheduler has counted of its busiest thread (`run_delay` in Linux, sched-stats).
    """

    pid: int
    """QEMU's."""
    within_s: float
    began: float = field(default_factory=time.monotonic)
    before_s: float = 0.0
    """What the thread had waited before."""
    proc: Path = Path("/proc")

    @classmethod
    def of(cls, pid: int, within_s: float) -> "StartWait":
        """Begin to wait."""
        return cls(pid, within_s, before_s=_waited_s(pid, Path("/proc")))

    @property
    def kept_s(self) -> float:
        """How long it had no core, as far as it is waited for that."""
        waited_s = max(0.0, _waited_s(self.pid, self.proc) - self.before_s)
        return min(waited_s, (MOST_TIMES - 1) * self.within_s)

    @property
    def left_s(self) -> float:
        """The time that is left, at least a little: what is done already is seen at the first look."""
        return max(0.1, self.began + self.within_s + self.kept_s - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return time.monotonic() > self.began + self.within_s + self.kept_s


def _waited_s(pid: int, proc: Path) -> float:
    """Return how long the thread of a process that waited longest was ready to run and did not."""
    longest_ns = 0
    for entry in (proc / str(pid) / "task").glob("*/schedstat"):
        try:
            longest_ns = max(longest_ns, int(entry.read_text().split()[1]))
        except (OSError, IndexError):
            continue  # it has ended
    return longest_ns / NS_PER_S
