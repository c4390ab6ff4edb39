"""The order within a round: what was first or next to something in one round is not so in the next."""

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def rotated(items: Sequence[Item], round_number: int) -> tuple[Item, ...]:
    """Rotate by one place a round, and turn the direction after each full turn.

    Over two full turns every item was equally often at every place, with either neighbour before it; a drift
    of the host then falls on all of them alike. For two items this is ABBA BAAB, for one it changes nothing.

    Args:
        items: in their declared order.
        round_number: from 1.
    """
    if not items:
        return ()
    turn, shift = divmod(round_number - 1, len(items))
    ordered = list(items) if turn % 2 == 0 else list(reversed(items))
    return tuple(ordered[shift:] + ordered[:shift])
