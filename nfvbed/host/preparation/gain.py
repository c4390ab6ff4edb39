"""What a preparation gains: how long cores are kept from a polling thread, prepared and not, in alternating rounds."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from nfvbed.host.probes.stalls import Stalls, measure_stalls
from nfvbed.records import Record


class GainRound(Record):
    """One pair; shares of the time in which the worst core was away for 1 ms or more."""

    prepared: float
    as_found: float


def measure_gain(
    prepare: Callable[[], AbstractContextManager[object]],
    rounds: int,
    measure: Callable[[], Sequence[Stalls]] = measure_stalls,
) -> tuple[GainRound, ...]:
    """Measure pairs; which one is first changes with each, so that what drifts counts against neither.

    Args:
        prepare: keeps the host prepared for a block.
    """
    found = []
    for number in range(rounds):
        shares: dict[bool, float] = {}
        for with_it in (True, False) if number % 2 else (False, True):
            if with_it:
                with prepare():
                    shares[with_it] = _worst(measure())
            else:
                shares[with_it] = _worst(measure())
        found.append(GainRound(prepared=shares[True], as_found=shares[False]))
    return tuple(found)


def _worst(found: Sequence[Stalls]) -> float:
    return max(stalls.share for stalls in found)
