"""What is read from the store, inside a transaction that the caller holds."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, Final, NoReturn

from sqlalchemy import Connection, Select, Text, cast, or_, select

from nfvbed.errors import UnknownNameError
from nfvbed.records import CellRecord, FactRecord, RunRecord, TrialRecord
from nfvbed.records.annotations import LATEST
from nfvbed.records.results import ResultRecord
from nfvbed.records.selection import Selection
from nfvbed.store.annotating import labelled
from nfvbed.store.damage import RowError, Tell, UnparsedValue, parsed, readable, refuse
from nfvbed.store.former import judged_again
from nfvbed.store.rows import cell_of, fact_of, result_of, run_of
from nfvbed.store.schema import BLOB, CELL, FACT, HISTOGRAM, RESULT, RUN, TRIAL
from nfvbed.store.selecting import left_out, only
from nfvbed.store.trialcolumns import TRIAL_COLUMNS, trials_of

IN_ORDER: Final = (HISTOGRAM.c.sequence, HISTOGRAM.c.direction)


def blobs(connection: Connection, hashes: Collection[str], tell: Tell) -> dict[str, Any]:
    """Return the values of blobs by their hashes; what is not what its hash says is told, and left out."""
    query = select(BLOB.c.sha256, BLOB.c.json).where(BLOB.c.sha256.in_(sorted(hashes)))
    found = {}
    for sha256, text in connection.execute(query):
        value = parsed(text)
        digest = hashlib.sha256(str(text).encode("utf-8", "surrogateescape")).hexdigest()
        if isinstance(value, UnparsedValue) or digest != sha256:
            why = value.why if isinstance(value, UnparsedValue) else f"its hash is {digest}"
            tell(RowError("blob", {"sha256": sha256}, why))
        elif text is not None:
            found[sha256] = value
    return found


NEWEST_FIRST: Final = (RUN.c.started_at.desc(), RUN.c.id.desc())
"""Version 7 ids grow with time."""
NAMED: Final = 10
"""Runs that a message names."""
NOTHING_YET: Final = "measure something first: nfvbed run <experiment>"


def runs(connection: Connection, selection: Selection, tell: Tell) -> list[RunRecord]:
    """Return runs, newest first; what cannot be read is told, and left out."""
    return _found(connection, select(RUN).where(*only(selection)).order_by(*NEWEST_FIRST), tell)


def run(connection: Connection, name: str, where: str, selection: Selection, tell: Tell) -> RunRecord:
    """Return a run by its id, the beginning or the end of it, its label, or `latest`; of others little is read.

    Args:
        connection: in a transaction.
        where: the store, for messages.
        selection: those among which `latest` is the newest; a run that is named may be any.
        tell: is told of runs that cannot be read, which `latest` passes over.

    Raises:
        UnknownNameError: there is no such run, or several are named so.
        RowError: the one that is named cannot be read.
    """
    newest = select(RUN).order_by(*NEWEST_FIRST)
    if name == LATEST:
        found = _found(connection, newest.where(*only(selection)).limit(NAMED), tell)
        return found[0] if found else _refuse_latest(connection, where)
    if found := _found(connection, newest.where(RUN.c.id == name), refuse) or _named_so(connection, name):
        return _only_one(found, name, where)
    known = _found(connection, newest.limit(NAMED), tell)
    raise UnknownNameError(
        f"there is no run {name!r}",
        where=where,
        observed=f"runs: {_named(known)}" if known else "no runs yet",
        fix="give an id, its first or last digits, a label, or `latest`; `nfvbed runs --all` lists all"
        if known
        else NOTHING_YET,
    )


def _named_so(connection: Connection, name: str) -> list[RunRecord]:
    """Return the newest runs whose id begins or ends so, or whose label it is; some, where there are many."""
    if not name:
        return []
    part = or_(
        RUN.c.id.startswith(name, autoescape=True),
        RUN.c.id.endswith(name, autoescape=True),
        RUN.c.id.in_(labelled(connection, name)),
    )
    newest = select(RUN).order_by(*NEWEST_FIRST)
    return _found(connection, newest.where(part).limit(NAMED + 1), refuse)


def _found(connection: Connection, query: Select[Any], tell: Tell) -> list[RunRecord]:
    return readable(connection.execute(query).mappings(), run_of, tell)


def _named(found: Sequence[RunRecord]) -> str:
    names = [f"{run.id} ({run.experiment}, {run.started_at[:16].replace('T', ' ')})" for run in found[:NAMED]]
    return ", ".join(names) + (" and more" if len(found) > NAMED else "")


def _only_one(found: Sequence[RunRecord], name: str, where: str) -> RunRecord:
    if len(found) > 1:
        raise UnknownNameError(
            f"several runs are named {name!r}",
            where=where,
            observed=f"runs: {_named(found)}",
            fix="give more digits of the one that is meant; the last ones differ most",
        )
    return found[0]


def _refuse_latest(connection: Connection, where: str) -> NoReturn:
    others = left_out(connection)
    raise UnknownNameError(
        "there is no measured run" if others else f"there is no run {LATEST!r}",
        where=where,
        observed=f"{others.words}, which are not taken unless they are asked for" if others else "no runs yet",
        fix="name the run, or give --simulated; `nfvbed runs --all` lists all" if others else NOTHING_YET,
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
        cell: only trials of this one; None: of all.
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
    latency_hdr = {sequence: tuple(found) for sequence, found in histograms.items()}
    return trials_of(connection.execute(query).all(), latency_hdr)


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
    return trials_of(connection.execute(query).all())


def facts(connection: Connection, run: str) -> list[FactRecord]:
    """Return a run's facts in the order in which they were added."""
    query = select(FACT).where(FACT.c.run == run).order_by(FACT.c.id)
    return [fact_of(row) for row in connection.execute(query).mappings()]
