"""Whether what the doctor says of each variant is what happened when it was deployed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nfvbed.records import CellRecord, CellRole, MissingPrerequisite, Readiness, Record, Status, Support, TrialRecord


class VariantOutcome(Record):
    """What became of a variant that was tried."""

    variant: str
    worked: bool
    """Whether frames came through it, at least once."""
    reason: str = ""
    """Why none did."""


def disagreements(said: Iterable[Support], happened: Iterable[VariantOutcome]) -> tuple[str, ...]:
    """Return a sentence for each variant that did not do what the doctor says; those that were not tried have none."""
    answers = {support.variant: support for support in said}
    found = []
    for outcome in happened:
        support = answers.get(outcome.variant)
        if support is None:
            found.append(f"{outcome.variant}: the doctor says nothing of it")
        elif support.readiness is Readiness.UNSUPPORTED and outcome.worked:
            found.append(
                f"{outcome.variant}: the doctor says unsupported ({support.reason}), and frames came through it"
            )
        elif support.readiness is not Readiness.UNSUPPORTED and not outcome.worked:
            found.append(
                f"{outcome.variant}: the doctor says {support.readiness.value}, and it did not work: {outcome.reason}"
            )
    return tuple(found)


def supports_of(doctor: Mapping[str, Any]) -> tuple[Support, ...]:
    """Return the doctor's answers on variants from its stored report; none where there is no report."""
    return tuple(Support.model_validate(entry) for entry in doctor.get("variants", ()))


def outcomes_of(cells: Sequence[CellRecord], trials: Sequence[TrialRecord]) -> tuple[VariantOutcome, ...]:
    """Return what became of a run's variants: those with a cell that ended unsupported or failed, or with frames.

    A variant of which nothing was begun (blocked, skipped, not applicable) was not tried; a cell that lacks its VNF
    says nothing of its variant.
    """
    found = []
    for variant in dict.fromkeys(cell.variant for cell in cells if cell.role is CellRole.SUBJECT):
        own = {cell.id: cell for cell in cells if cell.variant == variant and cell.role is CellRole.SUBJECT}
        worked = any(
            trial.cell in own and trial.status is Status.OK and any(d.received for d in trial.directions)
            for trial in trials
        )
        ended = (Status.UNSUPPORTED, Status.FAILED)
        bad = [c for c in own.values() if c.status in ended and c.lacks is not MissingPrerequisite.VNF]
        if worked or bad:
            reason = "" if worked else f"{bad[0].id} {bad[0].status.value}: {bad[0].reason}"
            found.append(VariantOutcome(variant=variant, worked=worked, reason=reason))
    return tuple(found)
