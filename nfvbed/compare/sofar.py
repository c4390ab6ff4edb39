"""What is known between the rounds of a run: visits so far, and what its looks say of them, limits left aside."""

from collections.abc import Mapping, Sequence
from statistics import median

from nfvbed.compare.rows.labelling import label_run
from nfvbed.compare.rows.visits import LabelledTrial, Visit, pair, visits_of
from nfvbed.compare.verdict import Judgement, Rules, judge
from nfvbed.records import TrialRecord
from nfvbed.spec.experiment import BEST, Experiment


def visits_by_cell(trials: Sequence[TrialRecord]) -> dict[str, tuple[Visit, ...]]:
    """Return the visits of each cell, with the placement classes as all these trials show them."""
    classes, labelled = label_run(trials)
    by_cell: dict[str, list[LabelledTrial]] = {}
    for entry in labelled:
        by_cell.setdefault(entry.trial.cell, []).append(entry)
    return {cell: visits_of(own, classes) for cell, own in by_cell.items()}


def judgements(
    experiment: Experiment, variants: Mapping[str, str], visits: Mapping[str, Sequence[Visit]]
) -> tuple[str, dict[str, Judgement]]:
    """Return the baseline of a traffic point, and what is known of the others against it, by cell.

    Args:
        variants: of the cells that are compared there, by cell, in the experiment's order.
    """
    baseline = _baseline(experiment, variants, visits)
    repetitions = experiment.repetitions
    rules = Rules(looks=repetitions.looks, needed=repetitions.needed, max_spread=repetitions.max_spread)
    others = [cell for cell in variants if cell != baseline]
    return baseline, {
        cell: judge(pair(visits.get(cell, ()), visits.get(baseline, ())), rules, comparisons=len(others))
        for cell in others
    }


def _baseline(experiment: Experiment, variants: Mapping[str, str], visits: Mapping[str, Sequence[Visit]]) -> str:
    """Return the cell that the others are judged against, as the comparison will choose it."""
    if experiment.baseline == BEST:
        return max(variants, key=lambda cell: median([visit.rate_pps for visit in visits.get(cell, ())] or [0.0]))
    return next((cell for cell, name in variants.items() if name == experiment.baseline), next(iter(variants)))
