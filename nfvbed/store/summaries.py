"""Parts and counts of what is stored, for pages that must not read a whole run; none of them reads a histogram."""

from collections import defaultdict
from typing import Final

from pydantic import Field, ValidationError
from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    ScalarSelect,
    Subquery,
    Table,
    bindparam,
    case,
    exists,
    func,
    literal,
    select,
)

from nfvbed.records import CellRole, Preset, Record, RunRecord, Status, TrialRecord
from nfvbed.records.selection import Selection
from nfvbed.store.damage import RowError, Tell, readable, rebuilt
from nfvbed.store.rows import run_of
from nfvbed.store.schema import CELL, FACT, RESULT, RUN, TRIAL
from nfvbed.store.selecting import only
from nfvbed.store.trialcolumns import TRIAL_COLUMNS, trials_of

_STATUSES: Final = frozenset(Status)


class Part(Record):
    """Some of many rows."""

    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=50, ge=1)


class Extent(Record):
    """How much of a run is stored; equal extents of an ended run are the same rows."""

    status: Status | None
    cells: int
    trials: int = Field(ge=0)
    """The greatest sequence number."""
    results: int
    facts: int


class CoverageSummary(Record):
    """Cells of one variant in one topology of one run that ended alike, for the same reason."""

    variant: str
    topology: str
    run: str
    started_at: str
    """Start of the run."""
    run_status: Status | None
    """None: it has not ended."""
    status: Status | None
    """None: no row says how they ended. `ok` too where the run has ended, in whatever way, and they were measured."""
    reason: str
    cells: int


def runs_page(connection: Connection, part: Part, selection: Selection, tell: Tell) -> tuple[list[RunRecord], int]:
    """Return some of the runs that are meant, newest first, and how many of those there are.

    What cannot be read is told, and is not among them.
    """
    meant = only(selection)
    query = select(RUN).where(*meant).order_by(RUN.c.started_at.desc(), RUN.c.id.desc())
    rows = connection.execute(query.limit(part.limit).offset(part.offset)).mappings()
    return readable(rows, run_of, tell), connection.execute(
        select(func.count()).select_from(RUN).where(*meant)
    ).scalar_one()


def newest_runs(connection: Connection, most: int, selection: Selection, tell: Tell) -> list[RunRecord]:
    """Return of each host its newest runs, at most so many that have ended and so many that have not; newest first.

    What cannot be read is told, and is not among them.
    """
    order = (RUN.c.started_at.desc(), RUN.c.id.desc())
    place = func.row_number().over(partition_by=(RUN.c.host_hash, RUN.c.status.is_(None)), order_by=order)
    placed = select(RUN.c.id, place.label("place")).where(*only(selection)).subquery()
    query = select(RUN).join(placed, placed.c.id == RUN.c.id).where(placed.c.place <= most).order_by(*order)
    return readable(connection.execute(query).mappings(), run_of, tell)


def _rows_of_run(table: Table) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(table.c.run == bindparam("run")).scalar_subquery()


_EXTENT: Final = select(
    select(RUN.c.status).where(RUN.c.id == bindparam("run")).scalar_subquery().label("status"),
    _rows_of_run(CELL).label("cells"),
    func.coalesce(select(func.max(TRIAL.c.sequence)).where(TRIAL.c.run == bindparam("run")).scalar_subquery(), 0).label(
        "trials"
    ),
    _rows_of_run(RESULT).label("results"),
    _rows_of_run(FACT).label("facts"),
)
"""In one statement: a page asks for the extents of many runs."""


def extent(connection: Connection, run: str) -> Extent:
    """Return how much of a run is stored."""
    (values,) = connection.execute(_EXTENT, {"run": run}).mappings()
    try:
        return Extent.model_validate(dict(values))
    except ValidationError as error:
        raise RowError("run", {"id": run}, f"status or number of trials: {error.errors()[0]['msg']}") from error


def trials_page(connection: Connection, run: str, cell: str | None, part: Part) -> tuple[list[TrialRecord], int]:
    """Return some trials without their histograms, in the order of their sequence, and how many there are."""
    wanted = (TRIAL.c.run == run,) if cell is None else (TRIAL.c.run == run, TRIAL.c.cell == cell)
    query = select(*TRIAL_COLUMNS).where(*wanted).order_by(TRIAL.c.sequence).limit(part.limit).offset(part.offset)
    found = trials_of(connection.execute(query).all())
    return found, connection.execute(select(func.count()).select_from(TRIAL).where(*wanted)).scalar_one()


def variants(connection: Connection, run: str) -> list[str]:
    """Return the variants that a run measures, in the order of their first cells."""
    subjects = (CELL.c.run == run, CELL.c.role == CellRole.SUBJECT.value)
    query = select(CELL.c.variant).where(*subjects).group_by(CELL.c.variant).order_by(func.min(CELL.c.position))
    found = list(connection.execute(query).scalars())
    if not all(isinstance(name, str) for name in found):
        raise RowError("cell", {"run": run}, "variant: no text")
    return found


def trial_counts(connection: Connection, run: str) -> dict[str, dict[Status, int]]:
    """Return how many trials each cell has, by how they ended."""
    query = select(TRIAL.c.cell, TRIAL.c.status, func.count()).where(TRIAL.c.run == run)
    found: dict[str, dict[Status, int]] = defaultdict(dict)
    for cell, status, count in connection.execute(query.group_by(TRIAL.c.cell, TRIAL.c.status)):
        if status not in _STATUSES:
            raise RowError("trial", {"run": run, "cell": cell}, "status: none that there is")
        found[cell][Status(status)] = count
    return dict(found)


def visit_trials(connection: Connection, run: str) -> dict[str, int]:
    """Return how many plain trials each cell has: those of longer tests are left out."""
    presets = [preset.value for preset in Preset]
    query = select(TRIAL.c.cell, func.count().label("trials")).where(TRIAL.c.run == run, TRIAL.c.preset.in_(presets))
    return {row.cell: row.trials for row in connection.execute(query.group_by(TRIAL.c.cell))}


def coverage(connection: Connection, selection: Selection, tell: Tell) -> list[CoverageSummary]:
    """Return what became of each variant in each topology: in the newest run, and in the newest that measured it.

    The newest run comes first. Of those that are meant only these are read, however many there are. What cannot be read
    is told, and left out.
    """
    meant = select(RUN.c.id).where(*only(selection))
    subjects = (CELL.c.role == CellRole.SUBJECT.value) & CELL.c.run.in_(meant)
    places = select(CELL.c.variant, CELL.c.topology).where(subjects).distinct().subquery()
    there = subjects & (CELL.c.variant == places.c.variant) & (CELL.c.topology == places.c.topology)
    measured = func.coalesce(_own_status(), RUN.c.status) == Status.OK.value
    newest = select(*places.c, _newest_run(places, there), _newest_run(places, there & measured))
    wanted = {
        (variant, topology, run) for variant, topology, *runs in connection.execute(newest) for run in runs if run
    }
    what = (CELL.c.variant, CELL.c.topology, CELL.c.run, CELL.c.reason)
    of_run = (RUN.c.started_at, RUN.c.status.label("run_status"))
    cells = (
        select(*what, *of_run, _own_status().label("status"))
        .join(RUN, RUN.c.id == CELL.c.run)
        .where(subjects, CELL.c.run.in_({run for _, _, run in wanted}))
        .subquery()
    )
    query = (
        select(cells, func.count().label("cells"))
        .group_by(*cells.c)
        .order_by(cells.c.started_at.desc(), cells.c.run.desc(), cells.c.variant, cells.c.topology)
    )
    rows = connection.execute(query).mappings()
    return readable((row for row in rows if _place(row) in wanted), _covered, tell)


def _covered(row: RowMapping) -> CoverageSummary:
    return rebuilt(CoverageSummary, dict(row), "cell", ("run", "variant", "topology"))


def _own_status() -> ColumnElement[str | None]:
    """Return a cell's status; without one, `ok` where its run has ended and something of it was measured.

    A run that was interrupted, or that ended `blocked` as one of its cells lacked repetitions, has measured others.
    """
    trials = exists().where(TRIAL.c.run == CELL.c.run, TRIAL.c.cell == CELL.c.id, TRIAL.c.status == Status.OK.value)
    tests = exists().where(RESULT.c.run == CELL.c.run, RESULT.c.cell == CELL.c.id, RESULT.c.status == Status.OK.value)
    ended = CELL.c.status.is_(None) & RUN.c.status.is_not(None)
    return case(
        (ended & (trials.correlate(CELL) | tests.correlate(CELL)), literal(Status.OK.value)), else_=CELL.c.status
    )


def _newest_run(places: Subquery, having: ColumnElement[bool]) -> ScalarSelect[str]:
    """Return the newest run with a cell of which this holds; runs are tried from the newest on, until one has it."""
    has = exists().where(CELL.c.run == RUN.c.id, having).correlate(RUN, places)
    newest = select(RUN.c.id).where(has).order_by(RUN.c.started_at.desc(), RUN.c.id.desc()).limit(1)
    return newest.correlate(places).scalar_subquery()


def _place(row: RowMapping) -> tuple[str, str, str]:
    return row["variant"], row["topology"], row["run"]
