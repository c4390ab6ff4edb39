"""The longest burst that passes: a binary search with loss verification over lengths (RFC 9004, ETSI TST 009)."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class BurstRange:
    """Lengths that are tried, in frames."""

    smallest: int
    largest: int
    resolution: int = 1
    """The search ends when it knows the length as well as this."""
    verifications: int = 1
    """A length that fails is tried so many times more; it has failed when none of them passes."""


@dataclass(frozen=True)
class BurstFound:
    """What a search found."""

    longest: int
    """The longest burst that passed; 0: not even the smallest one did."""
    failed: int | None
    """The shortest longer one that did not; None: the largest one passed, so `longest` is a lower bound."""


def longest_burst(passes: Callable[[int], bool], within: BurstRange) -> BurstFound:
    """Return the longest burst that passes.

    The largest is tried first, so that a system which holds all of them back is known after one trial.

    Args:
        passes: sends one burst of a length, and returns whether all of it came.
    """

    def verified(frames: int) -> bool:
        return any(passes(frames) for _ in range(1 + within.verifications))

    if verified(within.largest):
        return BurstFound(within.largest, None)
    low, high = 0, within.largest
    if within.smallest < within.largest:
        if not verified(within.smallest):
            return BurstFound(0, within.smallest)
        low = within.smallest
    while high - low > within.resolution and low:
        middle = (low + high) // 2
        if verified(middle):
            low = middle
        else:
            high = middle
    return BurstFound(low, high)
