"""Looks at a run between its rounds: which traffic points are decided, so that their time goes to others."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from nfvbed.compare.rows.visits import Visit
from nfvbed.compare.sofar import judgements, visits_by_cell
from nfvbed.compare.verdict import Verdict
from nfvbed.plan.cells import CellPlan
from nfvbed.records import TrialRecord
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.spec.experiment import Experiment


@dataclass(frozen=True)
class Look:
    """The undecided traffic points and the trials that are known when verdicts are made."""

    experiment: Experiment
    points: Mapping[TrafficPoint, Sequence[CellPlan]]
    """Traffic points that are not decided yet, each with the cells that are compared there."""
    trials: Sequence[TrialRecord]
    """All that ended well before, in order."""


Decide = Callable[[Look], Collection[TrafficPoint]]
"""Gives the traffic points at which every comparison is decided; the rule itself belongs to `compare`."""


def decided(look: Look) -> frozenset[TrafficPoint]:
    """Return the traffic points at which every verdict is final: no further round would change it.

    Limits are left aside, as more rounds lift none.
    """
    visits = visits_by_cell(look.trials)
    return frozenset(point for point, cells in look.points.items() if _is_decided(look.experiment, cells, visits))


def _is_decided(experiment: Experiment, cells: Sequence[CellPlan], visits: Mapping[str, Sequence[Visit]]) -> bool:
    judged = judgements(experiment, {cell.id: cell.variant for cell in cells}, visits)[1]
    return all(judgement.verdict is not Verdict.UNDECIDED for judgement in judged.values())
