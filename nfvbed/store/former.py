"""What former versions of nfvbed wrote in other words, and this one still reads."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from nfvbed.records import CellRecord, MissingPrerequisite, QualityWarning, TrialRecord
from nfvbed.records.results import ResultKind, ResultRecord

VNF_LACKED = "the VNF cannot run here:"
"""How the reason of a cell began that lacked its VNF; before format 5 nothing else said so."""


def named(cell: CellRecord) -> CellRecord:
    """Return a cell of any format with what it lacks in its own field."""
    if cell.lacks is None and cell.reason.startswith(VNF_LACKED):
        return cell.model_copy(update={"lacks": MissingPrerequisite.VNF})
    return cell


LOSS_AT_LEAST: Final = QualityWarning.LOSS_AT_LEAST.value
"""The warning, and the reason of an irregular search (`search/stop.py`, a sibling)."""


def judged_again(result: ResultRecord, doubtful: Iterable[TrialRecord]) -> ResultRecord:
    """Return a former version's result with the warnings of its trials that received more frames than were sent.

    A search that used such a trial has no regular result.

    Args:
        doubtful: trials of its run with such counts.
    """
    own = [trial for trial in doubtful if result.holds(trial.sequence)]
    if not own:
        return result
    found = (QualityWarning.DUPLICATED, QualityWarning.LOSS_AT_LEAST)
    changes: dict[str, Any] = {"warnings": tuple(dict.fromkeys((*result.warnings, *found)))}
    if result.kind is ResultKind.SEARCH and result.payload:
        goals = [_judged_goal(goal, len(own)) for goal in result.payload["goals"]]
        changes["payload"] = {**result.payload, "goals": goals, "surplus_trials": len(own)}
    return result.model_copy(update=changes)


def _judged_goal(goal: Mapping[str, Any], trials: int) -> Mapping[str, Any]:
    if goal["irregularity"] is not None:
        return goal
    said = f"{trials} trials counted more frames back than were sent, so that any may have lost more than was counted"
    return {**goal, "irregularity": LOSS_AT_LEAST, "explanation": said}
