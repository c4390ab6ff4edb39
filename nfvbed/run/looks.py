"""Looks at a run between its rounds: which traffic points are decided, so that their time goes to others."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from nfvbed.compare.rows.labelling import label_run
from nfvbed.compare.rows.visits import LabelledTrial, Visit, pair, visits_of
from nfvbed.compare.verdict import Judgement, Rules, Verdict, judge
from nfvbed.plan.cells import CellPlan, Point
from nfvbed.records import TrialRecord
from nfvbed.spec.experiment import BEST, Experiment


@dataclass(frozen=True)
class Look:
    """The undecided traffic points and the trials that are known when verdicts are made."""

    experiment: Experiment
    points: Mapping[Point, Sequence[CellPlan]]
    """Traffic points that are not decided yet, each with the cells that are compared there."""
    trials: Sequence[TrialRecord]
    """All that ended well before, in order."""


Decide = Callable[[Look], Collection[Point]]
"""Gives the traffic points at which every comparison is decided; the rule itself belongs to `compare`."""


def decided(look: Look) -> frozenset[Point]:
    """Return the traffic points at which every verdict is final: no further round would change it.

    Limits are left aside, as more rounds lift none.
    """
    visits = visits_by_cell(look.trials)
    return frozenset(point for point, cells in look.points.items() if _is_decided(look.experiment, cells, visits))


def visits_by_cell(trials: Sequence[TrialRecord]) -> dict[str, tuple[Visit, ...]]:
    """Return the visits of each cell, with the placement classes as all these trials show them."""
    classes, labelled = label_run(trials)
    by_cell: dict[str, list[LabelledTrial]] = {}
    for entry in labelled:
        by_cell.setdefault(entry.trial.cell, []).append(entry)
    return {cell: visits_of(own, classes) for cell, own in by_cell.items()}


def _is_decided(experiment: Experiment, cells: Sequence[CellPlan], visits: Mapping[str, Sequence[Visit]]) -> bool:
    judged = judgements(experiment, cells, visits)[1]
    return all(judgement.verdict is not Verdict.UNDECIDED for judgement in judged.values())


def judgements(
    experiment: Experiment, cells: Sequence[CellPlan], visits: Mapping[str, Sequence[Visit]]
) -> tuple[str, dict[str, Judgement]]:
    """Return the baseline of a traffic point, and what is known of the others against it, by cell; limits left aside.

    Args:
        cells: those that are compared there.
    """
    baseline = _baseline(experiment, cells, visits)
    repetitions = experiment.repetitions
    rules = Rules(looks=repetitions.looks, needed=repetitions.needed, max_spread=repetitions.max_spread)
    others = [cell for cell in cells if cell != baseline]
    return baseline.id, {
        cell.id: judge(pair(visits.get(cell.id, ()), visits.get(baseline.id, ())), rules, comparisons=len(others))
        for cell in others
    }


def _baseline(experiment: Experiment, cells: Sequence[CellPlan], visits: Mapping[str, Sequence[Visit]]) -> CellPlan:
    """Return the cell that the others are judged against, as the comparison will choose it."""
    if experiment.baseline == BEST:
        return max(cells, key=lambda cell: median([visit.rate_pps for visit in visits.get(cell.id, ())] or [0.0]))
    return next((cell for cell in cells if cell.variant == experiment.baseline), cells[0])
