"""Traffic points of a plan: where variants meet, and how many of them."""

from collections.abc import Iterable
from typing import Final

from nfvbed.plan.cells import CellPlan
from nfvbed.records import CellRole
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.spec.experiment import Experiment

MANY_COMPARISONS: Final = 3
"""With more comparisons at one traffic point there is the last look alone; as `compare.verdict` has it."""


def compared_points(experiment: Experiment, cells: Iterable[CellPlan]) -> dict[TrafficPoint, tuple[str, ...]]:
    """Return the traffic points at which variants are compared by their MRR, each with its cells.

    There are none in a survey. Where one variant is alone at a point there is nothing to compare it with: its cell then
    needs what it would in a survey.

    Args:
        cells: those of the plan; ceilings are left out.
    """
    if experiment.purpose != "compare" or not experiment.has_mrr:
        return {}
    found: dict[TrafficPoint, list[str]] = {}
    for cell in cells:
        if cell.role is CellRole.SUBJECT:
            found.setdefault(cell.point, []).append(cell.id)
    return {point: tuple(ids) for point, ids in found.items() if len(ids) > 1}


def looks_at(experiment: Experiment, cells: int) -> tuple[int, ...]:
    """Return the rounds after which a traffic point of so many cells is looked at."""
    looks = experiment.repetitions.looks
    return looks[-1:] if cells - 1 > MANY_COMPARISONS else looks
