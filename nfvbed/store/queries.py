"""What is read from the store, inside a transaction that the caller holds."""

from collections import defaultdict
from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection, Text, cast, func, select

from nfvbed.errors import StoreError, UsageError
from nfvbed.records import CellRecord, FactRecord, RunRecord, TrialRecord
from nfvbed.results import ResultRecord
from nfvbed.store.former import judged_again
from nfvbed.store.rows import TRIAL_COLUMNS, cell_of, fact_of, result_of, run_of, trial_of
from nfvbed.store.schema import BLOB, CELL, FACT, HISTOGRAM, RESULT, RUN, TRIAL

IN_ORDER: Final = (HISTOGRAM.c.sequence, HISTOGRAM.c.direction)


def blob(connection: Connection, sha256: str, where: str) -> str:
    """Return the JSON text of a blob.

    Raises:
        StoreError: there is none of that hash.
    """
    found: str | None = connection.execute(select(BLOB.c.json).where(BLOB.c.sha256 == sha256)).scalar()
    if found is None:
        raise StoreError(
            "a value that a result refers to is missing",
            where=where,
            observed=f"no blob {sha256}",
            fix="export the run again from the store it was measured into",
        )
    return found


NEWEST_FIRST: Final = (RUN.c.started_at.desc(), RUN.c.id.desc())
"""Version 7 ids grow with time."""
NAMED: Final = 5
"""Runs that a message names."""


def runs(connection: Connection) -> list[RunRecord]:
    """Return all runs, newest first."""
    return [run_of(row) for row in connection.execute(select(RUN).order_by(*NEWEST_FIRST)).mappings()]


def run(connection: Connection, name: str, where: str) -> RunRecord:
    """Find a run by id, beginning of an id, or `latest`; of all others nothing is read.

    Raises:
        UsageError: there is none, or several begin so.
    """
    newest = select(RUN).order_by(*NEWEST_FIRST).limit(NAMED)
    begins = func.substr(RUN.c.id, 1, len(name)) == name
    tried = [newest] if name == "latest" else [newest.where(RUN.c.id == name), newest.where(begins), newest]
    for query in tried:
        if found := [run_of(row) for row in connection.execute(query).mappings()]:
            return _choose(found, name, where)
    return _choose([], name, where)


def _choose(candidates: list[RunRecord], name: str, where: str) -> RunRecord:
    """Pick a run by id, beginning of an id, or `latest` out of runs ordered newest first.

    Raises:
        UsageError: there is none, or several begin so.
    """
    if name == "latest":
        found = candidates[:1]
    else:
        found = [run for run in candidates if run.id == name] or [run for run in candidates if run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{run.id} ({run.experiment})" for run in (found or candidates)[:NAMED])
    raise UsageError(
        f"several runs begin with {name!r}" if found else f"there is no run {name!r}",
        where=where,
        observed=f"runs: {known}" if known else "no runs yet",
        fix="give more of the id, or `latest`" if candidates else "measure something first: nfvbed run <experiment>",
    )


def cells(connection: Connection, run: str) -> list[CellRecord]:
    """Return a run's cells in the order in which they were added."""
    query = select(CELL).where(CELL.c.run == run).order_by(CELL.c.position)
    return [cell_of(row) for row in connection.execute(query).mappings()]


def trials(
    connection: Connection, run: str, cell: str | None, latency_of: Collection[str] | None = None
) -> list[TrialRecord]:
    """Return trials in the order of their sequence, with their histograms.

    Args:
        connection: in a transaction.
        run: its id.
        cell: of this one alone; None: of all.
        latency_of: only trials of these variants have their histograms, and no others are read; None: all have.
    """
    query = select(*TRIAL_COLUMNS).where(TRIAL.c.run == run).order_by(TRIAL.c.sequence)
    if cell is not None:
        query = query.where(TRIAL.c.cell == cell)
    histograms: dict[int, list[str | None]] = defaultdict(list)
    columns = select(HISTOGRAM.c.sequence, HISTOGRAM.c.encoded).where(HISTOGRAM.c.run == run)
    if latency_of is not None:
        own = select(CELL.c.id).where(CELL.c.run == run, CELL.c.variant.in_(latency_of))
        wanted = select(TRIAL.c.sequence).where(TRIAL.c.run == run, TRIAL.c.cell.in_(own))
        columns = columns.where(HISTOGRAM.c.sequence.in_(wanted))
    if latency_of is None or latency_of:
        for sequence, encoded in connection.execute(columns.order_by(*IN_ORDER)).all():
            histograms[sequence].append(encoded)
    found = connection.execute(query).all()
    return [trial_of(row, tuple(histograms[row.sequence])) for row in found]


def results(connection: Connection, run: str) -> list[ResultRecord]:
    """Return the results of a run's tests, in the order in which they ended; of former versions as they can be."""
    query = select(RESULT).where(RESULT.c.run == run).order_by(RESULT.c.ended_at, RESULT.c.position)
    found = [result_of(row) for row in connection.execute(query).mappings()]
    doubtful = trials_with_negative_loss(connection, run) if found else []
    return [judged_again(result, doubtful) for result in found]


def trials_with_negative_loss(connection: Connection, run: str) -> list[TrialRecord]:
    """Return the trials of a run that a former version stored with more frames received than sent, as they can be."""
    negative = cast(TRIAL.c.directions, Text).like('%"lost": -%')
    query = select(*TRIAL_COLUMNS).where(TRIAL.c.run == run).where(negative).order_by(TRIAL.c.sequence)
    return [trial_of(row, ()) for row in connection.execute(query).all()]


def facts(connection: Connection, run: str) -> list[FactRecord]:
    """Return a run's facts in the order in which they were added."""
    query = select(FACT).where(FACT.c.run == run).order_by(FACT.c.id)
    return [fact_of(row) for row in connection.execute(query).mappings()]
