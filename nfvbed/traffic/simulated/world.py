"""Virtual time and the hidden state of the simulated host, which makes a system fast or slow, and changes randomly."""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

from nfvbed.units import NS_PER_S

NEAR_NS = 35.0
FAR_NS = 150.0
DISTANCE_JITTER = 0.03
"""Relative standard deviation of a measured core distance."""


@dataclass(frozen=True)
class StateInterval:
    """A time within which the hidden state stays."""

    duration_ns: int
    far: bool


class VirtualClock:
    """A clock that moves only when something is simulated.

    Args:
        real_time: sleep as well, so that a demonstration can be watched.
    """

    def __init__(self, real_time: bool = False) -> None:
        self.now_ns = 0
        self._real_time = real_time

    def advance(self, duration_ns: int) -> None:
        """Let time pass."""
        self.now_ns += duration_ns
        if self._real_time:
            time.sleep(duration_ns / NS_PER_S)


class HiddenState:
    """Two states with Poisson changes between them; equal seeds give equal changes.

    Args:
        changes_per_s: mean number of changes a second; 0: it stays near.
    """

    def __init__(self, clock: VirtualClock, changes_per_s: float, seed: str) -> None:
        self._clock = clock
        self._changes_per_s = changes_per_s
        self._random = random.Random(f"state {seed}")
        self._far = changes_per_s > 0 and self._random.random() < 0.5
        self._next_ns = self._draw(0)

    def far(self) -> bool:
        """Return whether the host is in the far state now."""
        self._catch_up()
        return self._far

    def pass_time(self, duration_ns: int) -> Iterator[StateInterval]:
        """Yield the stretches of time that pass, with the state in each."""
        self._catch_up()
        left = duration_ns
        while left > 0:
            until_change = left if self._next_ns is None else self._next_ns - self._clock.now_ns
            stretch = StateInterval(min(left, max(until_change, 1)), self._far)
            self._clock.advance(stretch.duration_ns)
            left -= stretch.duration_ns
            yield stretch
            self._catch_up()

    def core_distance_ns(self) -> float:
        """Return the core distance, which shows the state."""
        center = FAR_NS if self.far() else NEAR_NS
        return center * max(0.5, self._random.gauss(1, DISTANCE_JITTER))

    def _catch_up(self) -> None:
        while self._next_ns is not None and self._next_ns <= self._clock.now_ns:
            self._far = not self._far
            self._next_ns = self._draw(self._next_ns)

    def _draw(self, since_ns: int) -> int | None:
        if not self._changes_per_s:
            return None
        return since_ns + max(1, int(self._random.expovariate(self._changes_per_s) * NS_PER_S))
