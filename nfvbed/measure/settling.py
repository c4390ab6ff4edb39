"""Waits, within bounds, until the cores of a trial can work at their full pace.

On a virtual machine a neighbour may work on the sibling hyperthread of a core: the core then does up to twice as long
over the same work, and nothing counts that as stolen. Such times come and go. Whoever is measured has no part in them,
so beginning a trial between them favours nobody.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nfvbed.records import CORE_PACE, SLOWED, QualityWarning
from nfvbed.records.readings import Slowdowns, Unavailable, available
from nfvbed.units import NS_PER_S

MOST_WAIT_S = 1.0
"""Before one trial."""
MOST_SHARE = 0.1
"""Part of the time since the first trial that waiting may take, beside one wait: some hosts are never quiet."""
_BETWEEN_LOOKS_S = 0.03


@dataclass(frozen=True)
class Settled:
    """The cores' pace before a trial, and how long it was waited for."""

    slowdowns: Slowdowns | Unavailable
    waited_ns: int

    def told(self, after: Slowdowns | Unavailable) -> dict[str, Any]:
        """Return what a trial's record says: by core the time for a piece of work over the least, before and after."""
        ends = {name: _rounded(now) for name, now in (("before", self.slowdowns), ("after", after)) if available(now)}
        return {CORE_PACE: ends | {"waited_ns": self.waited_ns}} if ends else {}

    def warnings(self, after: Slowdowns | Unavailable) -> tuple[QualityWarning, ...]:
        """Return what a trial is marked with."""
        return (QualityWarning.CORE_SLOWED,) if is_slowed(self.slowdowns) or is_slowed(after) else ()


class Settling:
    """Waits before trials; `SETTLING` is that of all trials of a process, whose time it may spend a part of.

    Args:
        clock: seconds that only grow.
        sleep: waits for so many.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._began_s: float | None = None
        self._waited_s = 0.0

    def wait(self, look: Callable[[], Slowdowns | Unavailable]) -> Settled:
        """Wait until no core is slowed, or no longer may be waited.

        Args:
            look: measures the cores' pace.
        """
        now = self._clock()
        self._began_s = now if self._began_s is None else self._began_s
        allowed = min(MOST_WAIT_S, MOST_WAIT_S + MOST_SHARE * (now - self._began_s) - self._waited_s)
        seen = look()
        while is_slowed(seen) and self._clock() - now < allowed:
            self._sleep(_BETWEEN_LOOKS_S)
            seen = look()
        waited_s = self._clock() - now
        self._waited_s += waited_s
        return Settled(seen, round(waited_s * NS_PER_S))


def is_slowed(slowdowns: Slowdowns | Unavailable) -> bool:
    """Return whether a core was slower than it can be; where nothing was measured, none is known to be."""
    return max((available(slowdowns) or {}).values(), default=1.0) >= SLOWED


def _rounded(slowdowns: Slowdowns | Unavailable) -> dict[str, float]:
    return {str(core): round(by, 3) for core, by in (available(slowdowns) or {}).items()}


SETTLING = Settling()
