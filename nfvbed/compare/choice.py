"""Which placement class a comparison is made in; classes are never mixed."""

from collections.abc import Sequence

from nfvbed.compare.summary import Census
from nfvbed.errors import NotComparableError
from nfvbed.records import Record


class ClassChoice(Record):
    """The class that is shown, and why that one."""

    name: str
    reason: str
    complete: bool
    """Whether every cell that ran at all has enough trials in it."""
    others: dict[str, int]
    """Usable trials at maximum load of the compared cells in the other classes."""
    mixed: int
    """Trials whose class changed while they ran; kept, not used."""


def choose_class(counts: Sequence[Census], classes: Sequence[str], needed: int, wanted: str = "auto") -> ClassChoice:
    """Choose the class in which all compared cells have enough trials.

    With several such classes the one with more trials in its poorest cell is taken; with none the one that
    serves most cells. On a tie the first class (nearest cores).

    Args:
        counts: one census for each compared cell.
        classes: the classes found on this host, nearest first.
        needed: trials that are enough.
        wanted: a class by name, or `auto`.

    Raises:
        NotComparableError: the class asked for was not found on this host.
    """
    measured = [census.by_class for census in counts if any(census.by_class.values())]
    if wanted != "auto" and wanted not in classes:
        raise NotComparableError(
            f"no trial ran in placement class {wanted}",
            observed=f"classes found on this host: {', '.join(classes)}",
            fix="leave out --class, or measure longer until the host changes its state",
        )

    def merit(name: str) -> tuple[int, int]:
        numbers = [by_class.get(name, 0) for by_class in measured]
        return sum(number >= needed for number in numbers), min(numbers, default=0)

    name = max(classes, key=merit) if wanted == "auto" else wanted
    served, poorest = merit(name)
    return ClassChoice(
        name=name,
        reason=_reason(served, len(measured), poorest, needed, wanted),
        complete=served == len(measured),
        others={other: sum(by_class.get(other, 0) for by_class in measured) for other in classes if other != name},
        mixed=sum(census.mixed for census in counts),
    )


def _reason(served: int, cells: int, poorest: int, needed: int, wanted: str) -> str:
    how = "asked for; " if wanted != "auto" else ""
    if not cells:
        return f"{how}no cell has a usable trial"
    if served == cells:
        return f"{how}all {cells} cells have at least {poorest} trials in it ({needed} needed)"
    return f"{how}{served} of {cells} cells have the {needed} trials needed"
