"""Which placement class tests beside the MRR are compared in; for them classes are never mixed.

The MRR is judged over all states, paired by round (`visits.py`); a class that is asked for holds for it as well.
"""

from collections.abc import Sequence
from typing import Final

from nfvbed.compare.rows.summary import Census
from nfvbed.compare.rows.visits import ALL_STATES
from nfvbed.errors import NotComparableError
from nfvbed.records import Record

AUTO: Final = "auto"
"""In place of a class: choose."""


class ClassChoice(Record):
    """The class that is shown, and why that one."""

    name: str
    """`all`: there is no test beside the MRR, and every trial counts."""
    reason: str
    complete: bool
    """Whether every cell that ran at all has enough trials in it."""
    others: dict[str, int]
    """Usable trials at maximum load of the compared cells in the other classes."""
    mixed: int
    """Trials whose class changed while they ran; kept, not used."""


def every_state(mixed: int) -> ClassChoice:
    """Return the choice where nothing has to be kept to one class.

    Args:
        mixed: number of trials at maximum load within which the class changed.
    """
    reason = "every trial counts; rounds are matched by class where both sides have trials in one"
    return ClassChoice(name=ALL_STATES, reason=reason, complete=True, others={}, mixed=mixed)


def choose_class(counts: Sequence[Census], classes: Sequence[str], needed: int, wanted: str = AUTO) -> ClassChoice:
    """Return the class in which all compared cells have enough trials.

    With several such classes the one with more trials in its poorest cell is taken; with none the one that
    serves most cells. On a tie the first class (nearest cores).

    Args:
        counts: one census for each compared cell.
        classes: the classes found on this host, nearest first.
        wanted: a class by name, or `auto`.

    Raises:
        NotComparableError: the class asked for was not found on this host.
    """
    measured = [census.by_class for census in counts if any(census.by_class.values())]
    if wanted != AUTO and wanted not in classes:
        raise NotComparableError(
            f"no trial ran in placement class {wanted}",
            observed=f"classes found on this host: {', '.join(classes) or 'none'}",
            fix="leave out --class, or measure longer until the host changes its state",
        )

    def merit(name: str) -> tuple[int, int]:
        numbers = [by_class.get(name, 0) for by_class in measured]
        return sum(number >= needed for number in numbers), min(numbers, default=0)

    name = max(classes, key=merit) if wanted == AUTO else wanted
    served, poorest = merit(name)
    return ClassChoice(
        name=name,
        reason=_reason(served, len(measured), poorest, needed, wanted),
        complete=served == len(measured),
        others={other: sum(by_class.get(other, 0) for by_class in measured) for other in classes if other != name},
        mixed=sum(census.mixed for census in counts),
    )


def _reason(served: int, cells: int, poorest: int, needed: int, wanted: str) -> str:
    how = "asked for; " if wanted != AUTO else ""
    if not cells:
        return f"{how}no cell has a usable trial"
    if served == cells:
        return f"{how}all {cells} cells have at least {poorest} trials in it ({needed} needed)"
    return f"{how}{served} of {cells} cells have the {needed} trials needed"
