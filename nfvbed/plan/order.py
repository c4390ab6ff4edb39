"""The order within a round: what was first or next to something in one round is not so in the next."""

from collections.abc import Callable, Container, Sequence
from typing import TypeVar

from nfvbed.plan.cells import CellPlan, DeploymentKey

Item = TypeVar("Item")


def rotated(items: Sequence[Item], round_number: int) -> tuple[Item, ...]:
    """Return items rotated by one place a round, with the direction turned after each full turn.

    Over two full turns every item was equally often at every place, with either neighbour before it; a drift
    of the host then falls on all of them alike. For two items this is ABBA BAAB, for one it changes nothing.

    Args:
        round_number: counted from 1.
    """
    if not items:
        return ()
    turn, shift = divmod(round_number - 1, len(items))
    ordered = list(items) if turn % 2 == 0 else list(reversed(items))
    return tuple(ordered[shift:] + ordered[:shift])


def is_exchanged(round_number: int) -> bool:
    """Return whether twins have each other's variant in a round: ABBA ABBA, so no machine's drift favours one.

    The second half of a turn is the first one backwards. Of two rounds that follow each other, every other pair needs
    no exchange.

    Args:
        round_number: counted from 1.
    """
    return round_number % 4 in (2, 3)


def partners(items: Sequence[Item], round_number: int) -> tuple[Item, ...]:
    """Return what is compared at one path, ordered: two go AB in one round and BA in the next; more rotate.

    Args:
        round_number: counted from 1.
    """
    if len(items) == 2:
        return tuple(items) if round_number % 2 else (items[1], items[0])
    return rotated(items, round_number)


def ordered_round(
    ceilings: Sequence[CellPlan],
    subjects: Sequence[CellPlan],
    round_number: int,
    late: Container[DeploymentKey],
    turning: Container[str] = (),
) -> list[CellPlan]:
    """Return the cells of one round path by path, and at each the deployments of all variants next to each other.

    Partners then meet the same state of the host as often as can be. Ceilings come before the subjects of their path.
    Frame sizes on one deployment rotate too, alike for all variants.

    Args:
        round_number: counted from 1.
        late: deployments that come last.
        turning: ceilings that subjects are paired with; they come after them in every second round.
    """
    paths = rotated(list(dict.fromkeys(_path(cell) for cell in subjects)), round_number)
    found = _grouped([cell for cell in ceilings if _path(cell) not in paths], rotated, round_number)
    for path in paths:
        mine = [cell for cell in ceilings if _path(cell) == path]
        after = [cell for cell in mine if cell.id in turning and round_number % 2 == 0]
        found += _grouped([cell for cell in mine if cell not in after], rotated, round_number)
        found += _grouped([cell for cell in subjects if _path(cell) == path], partners, round_number)
        found += _grouped(after, rotated, round_number)
    return sorted(found, key=lambda cell: cell.deployment in late)


def at_one_path(cells: Sequence[CellPlan], some: Container[DeploymentKey]) -> frozenset[DeploymentKey]:
    """Add to some deployments those of the other variants at the same paths: partners stay together."""
    paths = {_path(cell) for cell in cells if cell.deployment in some}
    return frozenset(cell.deployment for cell in cells if _path(cell) in paths)


def _path(cell: CellPlan) -> tuple[str, str]:
    return cell.topology, cell.vnf


def _grouped(
    cells: Sequence[CellPlan],
    order: Callable[[Sequence[DeploymentKey], int], Sequence[DeploymentKey]],
    round_number: int,
) -> list[CellPlan]:
    """Return deployments, and the cells on each, in order."""
    groups = order(list(dict.fromkeys(cell.deployment for cell in cells)), round_number)
    return [
        cell for group in groups for cell in rotated([cell for cell in cells if cell.deployment == group], round_number)
    ]
