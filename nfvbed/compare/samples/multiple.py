"""Correction of p-values for being many."""

from collections.abc import Sequence


def holm_adjusted(p_values: Sequence[float], family: int | None = None) -> tuple[float, ...]:
    """Return p-values corrected by Holm's step-down method, in the order given.

    A p-value that is at most the level is decided at that level over all of them together, whatever depends on whatever
    (Holm, Scandinavian Journal of Statistics 6, 1979).

    Args:
        family: number of comparisons, those without a test included; None: as many as there are p-values.
    """
    number = len(p_values) if family is None else family
    adjusted = [0.0] * len(p_values)
    greatest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        greatest = max(greatest, min(1.0, (number - rank) * p_values[place]))
        adjusted[place] = greatest
    return tuple(adjusted)
