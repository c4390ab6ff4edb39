"""One core or two for a generator with a sender a port: measured on the very ports, as cores can be too far apart.

A frame that one core sends and the other one checks crosses between them. Where that takes long, two cores move fewer
frames than one: on some hosts a third.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

TRIAL_NS: Final = 250_000_000
ORDER: Final = (1, 2, 2, 1)
"""A second in all; what drifts counts against neither."""
WORTH: Final = 1.05
"""A second core is taken for more than a twentieth: less may be chance, and it is a core that others can have."""


@dataclass(frozen=True)
class SenderCores:
    """What was chosen, and the rates that chose it."""

    cores: int
    one_pps: float
    """Frames/s that came back with one core, both directions together, the mean of its trials."""
    two_pps: float

    def __str__(self) -> str:
        one, two = (f"{rate / 1e6:.3g}" for rate in (self.one_pps, self.two_pps))
        if self.cores > 1:
            return f"the generator sends from a core for each port: {two} Mpps came back, with one core for both {one}"
        return f"the generator sends from one core: {one} Mpps came back, with two cores {two}"


def choose_cores(received_pps: Callable[[int], float]) -> SenderCores:
    """Measure one core and two in turns, and choose.

    Args:
        received_pps: runs a trial of `TRIAL_NS` at maximum load with so many cores, and returns what came back.
    """
    rates: dict[int, list[float]] = {1: [], 2: []}
    for cores in ORDER:
        rates[cores].append(received_pps(cores))
    one, two = (sum(rates[cores]) / len(rates[cores]) for cores in (1, 2))
    return SenderCores(2 if two > WORTH * one else 1, one, two)
