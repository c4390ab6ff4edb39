"""A simulated system's memory of earlier traffic: it warms up, and an overload slows it for a while."""

from dataclasses import dataclass

from nfvbed.units import NS_PER_S


@dataclass(frozen=True)
class MemoryOptions:
    """The influence of earlier traffic; all zero: none."""

    warm_up_s: float = 0.0
    """Seconds of traffic until caches and tables are full."""
    cold_share: float = 0.0
    """Part of the capacity that is missing until then."""
    hysteresis: float = 0.0
    """Part of the capacity that is missing after an overload."""
    recovery_s: float = 0.0
    """Seconds of traffic below what is left of the capacity that end it."""


class SystemMemory:
    """The memory of one deployment's trials."""

    def __init__(self, options: MemoryOptions) -> None:
        self._options = options
        self._warmed_s = 0.0
        self._congested = False
        self._relaxed_s = 0.0

    def capacity_share(self, duration_ns: int) -> float:
        """Return the share of capacity that the next trial of a length has, on average."""
        options = self._options
        duration_s = duration_ns / NS_PER_S
        cold_s = min(duration_s, max(0.0, options.warm_up_s - self._warmed_s))
        cold = options.cold_share * cold_s / duration_s if duration_s else 0.0
        return (1 - cold) * (1 - options.hysteresis if self._congested else 1.0)

    def note(self, duration_ns: int, offered: int | None, capacity: int) -> None:
        """Remember a trial: the frames that were due, and those that it could have carried; None: maximum load."""
        duration_s = duration_ns / NS_PER_S
        self._warmed_s += duration_s
        if offered is None or offered > capacity:
            self._congested, self._relaxed_s = True, 0.0
        elif self._congested:
            self._relaxed_s += duration_s
            self._congested = self._relaxed_s < self._options.recovery_s
