"""What pages show of many runs: rates by visit without their trials, and what people said of steps in them."""

from collections.abc import Sequence

from pydantic import Field
from sqlalchemy import Connection, Float, RowMapping, String, case, cast, func, insert, select

from nfvbed.records import Preset, QualityWarning, Record, Status, TrialRecord
from nfvbed.records.acknowledgements import Acknowledgement
from nfvbed.store.damage import RowError, Tell, parsed, readable, rebuilt
from nfvbed.store.queries import trials, trials_with_negative_loss
from nfvbed.store.schema import ACKNOWLEDGEMENT, TRIAL


class VisitRate(Record):
    """One cell in one round: its usable trials at maximum load together."""

    run: str
    cell: str
    round: int
    rate_pps: float = Field(ge=0, allow_inf_nan=False)
    """Both directions, over the time of all of them; to a frame/s, as trials keep their rates."""
    emulated: bool
    """Whether a guest of one of them was emulated: the rate means nothing."""
    at_most: bool = False
    """Whether one of them counted more frames back than were sent: the rate is at most this."""


def visit_rates(connection: Connection, run: str) -> list[VisitRate]:
    """Return a run's visits, by cell and round; the database adds them up, and no trial leaves it."""
    duration = cast(TRIAL.c.duration_ns, Float)
    emulated, at_most = (
        cast(TRIAL.c.warnings, String).contains(kind.value)
        for kind in (QualityWarning.EMULATED_ACCELERATOR, QualityWarning.LOSS_AT_LEAST)
    )
    query = (
        select(
            TRIAL.c.cell,
            TRIAL.c.round,
            (func.sum(TRIAL.c.forwarded_rate_pps * duration) / func.sum(duration)).label("rate_pps"),
            func.max(case((emulated, 1), else_=0)).label("emulated"),
            func.max(case((at_most, 1), else_=0)).label("at_most"),
        )
        .where(TRIAL.c.run == run, TRIAL.c.preset == Preset.MRR.value, TRIAL.c.status == Status.OK.value)
        .where(TRIAL.c.duration_ns > 0)
        .group_by(TRIAL.c.cell, TRIAL.c.round)
        .order_by(TRIAL.c.cell, TRIAL.c.round)
    )
    found = [
        rebuilt(VisitRate, {**row, "run": run}, "trial", ("run", "cell", "round"))
        for row in connection.execute(query).mappings()
    ]
    doubtful = {(trial.cell, trial.round) for trial in trials_with_negative_loss(connection, run)}
    if not doubtful:
        return found
    whole = trials(connection, run, None, ())
    return [_of_trials(visit, whole) if (visit.cell, visit.round) in doubtful else visit for visit in found]


def _of_trials(visit: VisitRate, whole: Sequence[TrialRecord]) -> VisitRate:
    """Return a visit by its trials as they can be: a former version stored rates of more frames than were sent."""
    own = [trial for trial in whole if (trial.cell, trial.round) == (visit.cell, visit.round)]
    at_maximum = [trial for trial in own if trial.preset is Preset.MRR and trial.status is Status.OK]
    duration_ns = sum(trial.duration_ns for trial in at_maximum)
    rate = sum(trial.forwarded_rate_pps * trial.duration_ns for trial in at_maximum) / duration_ns
    return visit.model_copy(update={"rate_pps": rate, "at_most": any(trial.has_surplus for trial in at_maximum)})


def mrr_warnings(connection: Connection, run: str) -> dict[str, tuple[QualityWarning, ...]]:
    """Return the warnings that a run's usable trials at maximum load were stored with, by cell."""
    stored = cast(TRIAL.c.warnings, String)
    query = select(TRIAL.c.cell, stored).where(
        TRIAL.c.run == run, TRIAL.c.preset == Preset.MRR.value, TRIAL.c.status == Status.OK.value
    )
    found: dict[str, set[str]] = {}
    for cell, text in connection.execute(query.distinct()):
        kinds = parsed(text) if text else ()
        if not isinstance(kinds, list | tuple):
            raise RowError("trial", {"run": run, "cell": cell}, "warnings: no list")
        found.setdefault(cell, set()).update(kind for kind in kinds if isinstance(kind, str))
    return {cell: tuple(kind for kind in QualityWarning if kind.value in kinds) for cell, kinds in found.items()}


def acknowledge(connection: Connection, entry: Acknowledgement) -> None:
    """Write what a person said."""
    connection.execute(insert(ACKNOWLEDGEMENT).values(**entry.model_dump()))


def acknowledgements(connection: Connection, tell: Tell) -> list[Acknowledgement]:
    """Return all that was said, in its order; what cannot be read is told, and left out."""
    query = select(ACKNOWLEDGEMENT).order_by(ACKNOWLEDGEMENT.c.id)
    rows = connection.execute(query).mappings()
    return readable(rows, _acknowledgement_of, tell)


def _acknowledgement_of(row: RowMapping) -> Acknowledgement:
    values = {key: value for key, value in row.items() if key != "id"}
    return rebuilt(Acknowledgement, values, "acknowledgement", ("run", "setting", "at"))
