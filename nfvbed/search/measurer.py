"""What a search needs of what measures: one trial at a time, and a clock."""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

from nfvbed.records import CoreDistance


@dataclass(frozen=True)
class Trial:
    """One trial as a search sees it. Frames are sums over the directions."""

    duration_s: float
    """For which frames were due; without drain and pauses."""
    intended: int
    sent: int
    received: int
    """Distinct frames; in no direction more than were sent."""
    unsent: int
    """Not sent within 100 us of the due time, never caught up; they count as lost, but for late ones."""
    core_distance_ns: CoreDistance | None = None
    """Before and after; None where nothing is measured: the host then has one placement class."""
    back_pressure: bool = False
    """Ports refused frames, so what is unsent is so because what is behind them was full."""
    generator_limited: bool = False
    """The generator had nothing left while the system under test had."""
    late: int = 0
    """Unsent frames that no port refused: the generator was kept from its core. The system was not asked for them."""
    late_is_missing: bool = False
    """Nothing is excluded: a late frame is a missing one."""
    stolen_s: float = 0.0
    """How long others or the hypervisor kept the system's threads from their cores, as far as that is known."""
    held_s: float = 0.0
    """The same without the waits for others' short turns, which the rings bridge."""
    steal_s: float = 0.0
    """The hypervisor's part of it."""
    steal_step_s: float = 0.0
    """Steps in which that part is counted; 0: exactly."""
    gap_s: float | None = None
    """Longest time in which the generator's loop was held up; None: it does not tell."""
    generator_full: bool = False
    """The generator's core had no time left, whatever the system under test had."""
    surplus: int = 0
    """Counted back beyond what was sent, in either direction: the loss is at least what was counted."""

    @property
    def missing(self) -> int:
        """Intended frames that did not come back, unsent ones among them."""
        return max(0, self.base - min(self.received, self.sent))

    @property
    def base(self) -> int:
        """Frames that should have come back: the intended ones (RFC 9971, Trial Forwarding Ratio), but for late ones.

        Of a generator that is too slow for the load late ones count too: its limit must not look like the system's
        strength. So they do where nothing is excluded.
        """
        return self.every if self.generator_limited or self.late_is_missing else self.every - self.late

    @property
    def nothing_came(self) -> bool:
        """Whether frames were sent and none of them came back."""
        return self.sent > 0 and self.received == 0

    @property
    def every(self) -> int:
        """All intended frames."""
        return max(self.intended, self.sent + self.unsent)

    @property
    def late_ratio(self) -> float:
        """Late over intended frames; 0 where nothing was intended."""
        return self.late / self.every if self.every else 0.0

    @property
    def loss_ratio(self) -> float:
        """Missing over intended frames; 0 where nothing was intended."""
        return self.missing / self.base if self.base else 0.0

    def is_explained(self, factor: float) -> bool:
        """Return whether the missing frames are no more than were due in `factor` times the stolen time."""
        return 0 < self.loss_ratio <= factor * self.stolen_s / self.duration_s

    @property
    def loss_ratio_of_sent(self) -> float:
        """Lost over sent frames, without the unsent; 0 where nothing was sent."""
        return max(0, self.sent - self.received) / self.sent if self.sent else 0.0


class Measurer(ABC):
    """Measures trials on a system that is deployed. Times are seconds of the clock that the search goes by."""

    @abstractmethod
    def measure(self, load_pps: float, duration_s: float) -> Trial:
        """Run one trial.

        Args:
            load_pps: intended load, frames/s over both directions.
            duration_s: how long frames are due.

        Raises:
            NfvbedError: the trial failed; the search ends with it.
        """

    def now_s(self) -> float:
        """Return the time; a simulation gives its own."""
        return time.monotonic()

    def wait(self, duration_s: float) -> None:
        """Let time pass."""
        time.sleep(duration_s)

    def probe_distance_ns(self) -> float | None:
        """Measure the core distance alone, which takes no trial; None: this cannot be done."""
        return None
