"""The store: what is measured goes in once, and comes out as it went in."""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final

from sqlalchemy import Connection, Engine, Table, func, insert, select, update

from nfvbed.errors import DamagedError, InternalError, StoreError, UsageError
from nfvbed.records import CellRecord, FactRecord, MissingPrerequisite, Record, RunRecord, Status, TrialRecord
from nfvbed.records.acknowledgements import Acknowledgement
from nfvbed.records.annotations import Annotation, Mark, Marks, marks_of
from nfvbed.records.quality import QualityWarning
from nfvbed.records.results import ResultRecord
from nfvbed.records.selection import EVERY, OmittedRuns, Selection
from nfvbed.signals import signals_held
from nfvbed.store import annotating, queries, series, summaries
from nfvbed.store.canonical import canonical_json, content_hash
from nfvbed.store.clock import utc_now
from nfvbed.store.connect import Location, connect, faults, locate, written_out
from nfvbed.store.damage import RowError, refuse
from nfvbed.store.lock import LockHolder, WriterLock, holder_of
from nfvbed.store.migrate import is_outdated, prepare
from nfvbed.store.readonly import FileReader, back_up, back_up_to, may_write
from nfvbed.store.rows import cell_row, histogram_rows, put_once, result_row, trial_row
from nfvbed.store.schema import BLOB, CELL, EXPERIMENT, FACT, HISTOGRAM, RESULT, RUN, TRIAL
from nfvbed.store.selecting import left_out, simulated_runs
from nfvbed.store.series import VisitRate
from nfvbed.store.serverlock import ServerLock, holder_on_server
from nfvbed.store.summaries import CoverageSummary, Extent, Part


class StoredAnnotations(Record):
    """What people said of a run and of the steps that begin with it, in the order in which they did."""

    annotations: tuple[Annotation, ...] = ()
    acknowledgements: tuple[Acknowledgement, ...] = ()


NOTHING_SAID: Final = StoredAnnotations()
MOST_TOLD: Final = 20
"""Rows that cannot be read of which it is told; those after them are left out alike."""


class UnreadableRow(Record):
    """A row that cannot be read; what else there is can."""

    run: str
    """Id of the run that cannot be read for it; empty: none is lost."""
    where: str
    observed: str

    @property
    def words(self) -> str:
        """A sentence."""
        what = f"run {self.run} cannot be read" if self.run else "a row cannot be read"
        return f"{what}: {self.where}: {self.observed}"


class Store:
    """Results of all runs. Every call is one transaction: when it returns, its rows are on disk."""

    def __init__(self, location: Location, engine: Engine, tell: Callable[[str], None] | None = None) -> None:
        self.location = location
        self._engine = engine
        self._told = tell
        self._unreadable: dict[str, UnreadableRow] = {}
        self._may_be_interrupted = False
        self._lock: WriterLock | None = None
        self._server: ServerLock | None = None
        self._copy: TemporaryDirectory[str] | None = None

    @classmethod
    def open(
        cls,
        url_or_path: str | Path,
        read_only: bool = False,
        *,
        migrated: bool = True,
        tell: Callable[[str], None] | None = None,
    ) -> "Store":
        """Return an open store, made where needed; one of an older format is migrated first, also to be read.

        A file of an older format that cannot be written is read through a migrated copy of it as it is now.

        Args:
            url_or_path: a file, or a database's URL.
            read_only: write no results.
            migrated: with `read_only`: migrate it where that is needed and possible; False: refuse it, and write
                nothing.
            tell: is told once of each row that cannot be read and was left out, and of rights of others that were taken
                away from the files, in a sentence.

        Raises:
            StoreError: there are no results yet (read_only), a newer format, no database, no space, or no right to
                write.
            BusyError: another process writes to it.
            ConfigurationError: the URL cannot be used.
        """
        location = locate(url_or_path)
        store = cls(location, connect(location, read_only=read_only, tell=tell), tell)
        # A server's driver ends a query with the signal; SQLite's reader looks for signals itself.
        store._may_be_interrupted = read_only and location.path is None
        try:
            if not read_only and location.path is not None:
                store._lock = WriterLock(_lock_path(location.path))
                store._lock.acquire()
            with store._transaction("the results cannot be opened") as connection:
                outdated = read_only and is_outdated(connection, str(location))
            if outdated and not store.is_writable:
                store._read_migrated_copy()
            elif outdated and migrated:
                cls.open(url_or_path, tell=tell).close()
            with store._transaction("the results cannot be opened") as connection:
                prepare(connection, str(location), read_only=read_only)
            if not read_only and location.path is None:
                store._server = ServerLock(store._engine, location)
                store._server.acquire()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close it and let the next writer in; idempotent."""
        if self._server is not None:
            self._server.release()
            self._server = None
        self._engine.dispose()
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def writer(self, run: str | None = None) -> LockHolder | None:
        """Return who writes to this store now; None when no process does.

        Args:
            run: look for who writes this run; a file has one writer for all of them.
        """
        if self.location.path:
            return holder_of(_lock_path(self.location.path))
        with self._transaction("the writer could not be asked for") as connection:
            return holder_on_server(connection, run)

    # Writing

    def put_blob(self, kind: str, value: Any) -> str:
        """Keep a value under the SHA-256 of its canonical JSON, and return that; a second time costs nothing.

        Args:
            kind: what it is, for people: `plan`, `host`, `rig`, `variant`, `doctor`.
        """
        digest = content_hash(value)
        with self._transaction("a blob could not be stored") as connection:
            if connection.execute(select(BLOB.c.kind).where(BLOB.c.sha256 == digest)).first() is None:
                put_once(connection, BLOB, {"sha256": digest, "kind": kind, "json": canonical_json(value)})
        return digest

    def start_run(self, run: RunRecord) -> None:
        """Write a run that begins; no other process can write it until it ends or this store is closed."""
        self._hold(run.id)
        with self._transaction(f"run {run.id} could not be stored") as connection:
            _insert_run(connection, run)

    def add_run_whole(
        self,
        run: RunRecord,
        cells: Sequence[CellRecord],
        trials: Sequence[TrialRecord],
        facts: Sequence[FactRecord],
        results: Sequence[ResultRecord] = (),
        said: StoredAnnotations = NOTHING_SAID,
    ) -> None:
        """Write a run that was measured elsewhere, with what people said of it, all of it or nothing."""
        with self._transaction(f"run {run.id} could not be stored") as connection:
            _insert_run(connection, run)
            _insert_all(connection, CELL, [cell_row(cell, position) for position, cell in enumerate(cells)])
            _insert_all(connection, TRIAL, [trial_row(trial) for trial in trials])
            _insert_all(connection, HISTOGRAM, [row for trial in trials for row in histogram_rows(trial)])
            _insert_all(connection, RESULT, [result_row(found, position) for position, found in enumerate(results)])
            _insert_all(connection, FACT, [fact.model_dump(mode="json") for fact in facts])
            for word in said.acknowledgements:
                series.acknowledge(connection, word)
            for annotation in said.annotations:
                annotating.add(connection, annotation)

    def reopen_run(self, run: str) -> None:
        """Let a run that did not end `ok` go on.

        Raises:
            BusyError: another process writes it.
        """
        self._hold(run)
        with self._transaction(f"run {run} could not be resumed") as connection:
            connection.execute(update(RUN).where(RUN.c.id == run).values(status=None, ended_at=None, reason=""))

    def finish_run(
        self, run_id: str, status: Status, reason: str = "", cells: Mapping[str, tuple[Status, str]] | None = None
    ) -> None:
        """Write how a run ended; `ok` is final.

        Args:
            reason: why, where it is not `ok`.
            cells: status and reason of cells that ended with it; a crash leaves all of them or none.
        """
        with self._transaction(f"the end of run {run_id} could not be stored") as connection:
            for cell, (cell_status, cell_reason) in (cells or {}).items():
                _settle(connection, (run_id, cell), cell_status, cell_reason)
            values = {"status": status.value, "reason": reason, "ended_at": utc_now()}
            changed = connection.execute(update(RUN).where(RUN.c.id == run_id).values(**values))
            _expect_one(changed.rowcount, f"run {run_id}")
        if self._server is not None:
            self._server.leave(run_id)

    def add_cell(self, cell: CellRecord) -> None:
        """Write a cell, before its first trial."""
        with self._transaction(f"cell {cell.id} could not be stored") as connection:
            position = connection.execute(select(func.count()).where(CELL.c.run == cell.run)).scalar_one()
            connection.execute(insert(CELL).values(**cell_row(cell, position)))

    def set_cell_status(
        self, run: str, cell: str, status: Status, reason: str = "", lacks: MissingPrerequisite | None = None
    ) -> None:
        """Write how a cell ended; only `blocked`, `failed` and `interrupted` can be followed by another status."""
        with self._transaction(f"the status of cell {cell} could not be stored") as connection:
            _settle(connection, (run, cell), status, reason, lacks)

    def add_trial(self, trial: TrialRecord) -> None:
        """Write a trial that ended, with its histograms."""
        with self._transaction(f"trial {trial.sequence} of {trial.cell} could not be stored") as connection:
            _insert_trial(connection, trial)

    def add_result(self, result: ResultRecord) -> None:
        """Write what came of a test, after its trials."""
        with self._transaction(f"the result of {result.test} of {result.cell} could not be stored") as connection:
            position = connection.execute(select(func.count()).where(RESULT.c.run == result.run)).scalar_one()
            connection.execute(insert(RESULT).values(**result_row(result, position)))

    def add_fact(self, fact: FactRecord) -> None:
        """Write a timed step."""
        with self._transaction(f"the fact {fact.step} could not be stored") as connection:
            connection.execute(insert(FACT).values(**fact.model_dump(mode="json")))

    def acknowledge(self, entry: Acknowledgement) -> None:
        """Write what a person said of a step, in a short transaction of its own: also where this store is only read.

        It waits for no run to end: nothing that a run writes is touched, and the database takes turns.

        Raises:
            StoreError: the store cannot be written, or has no such run.
            BusyError: another program holds the database for longer than a transaction takes.
        """
        with self._shortly() as connection:
            series.acknowledge(connection, entry)

    def say(self, run: str, words: Mapping[Mark, str], by: str) -> Marks:
        """Write what a person says of a run, in a short transaction of its own: also where this store is only read.

        Args:
            words: the text of each mark that is given; empty: it is taken back. What holds already is not written.

        Raises:
            UsageError: a text that cannot be kept, or a label that another run has.
            StoreError: the store cannot be written, or has no such run.
            BusyError: another program holds the database for longer than a transaction takes.
        """
        with self._shortly() as connection:
            return annotating.say(connection, run, words, by, utc_now())

    @contextlib.contextmanager
    def _shortly(self) -> Iterator[Connection]:
        """Yield a connection in a transaction of its own, whatever else writes.

        Raises:
            StoreError: the store can only be read, or what is written does not fit.
            BusyError: another program holds the database for longer than a transaction takes.
        """
        if not self.is_writable:
            raise StoreError(
                "this store can only be read",
                where=str(self.location),
                observed="its file or its folder is not writable",
                fix="say it in the store that is measured into, and copy that",
            )
        engine = connect(self.location, read_only=False)
        try:
            with signals_held(), faults(self.location, "it could not be stored"):
                with engine.begin() as connection:
                    yield connection
                written_out(engine)
        finally:
            engine.dispose()

    # Reading

    def copy_to(self, path: Path) -> None:
        """Write a copy of a file as it is now, in one step; readers of the copy hold up no writer here.

        Raises:
            UsageError: the store is a server's database.
            StoreError: the copy cannot be written; what was in its place before is still there.
        """
        if self.location.path is None:
            raise UsageError(
                "a server's database is not copied into a file",
                where=str(self.location),
                fix="let others read the database itself, or export single runs as JSON",
            )
        with (
            faults(self.location, "the results cannot be copied"),
            closing(FileReader(self.location.path)) as reader,
            closing(reader.open()) as connection,
        ):
            back_up_to(connection, path)

    @property
    def is_writable(self) -> bool:
        """Whether something could be written to it, as far as its file tells; a server says so only when asked to."""
        return self.location.path is None or may_write(self.location.path)

    def acknowledgements(self) -> list[Acknowledgement]:
        """Return all that people said of steps, in its order."""
        with self._transaction("what people said of steps could not be read") as connection:
            return series.acknowledgements(connection, self._tell)

    def get_blob(self, sha256: str) -> Any:
        """Return a kept value, as JSON has it.

        Raises:
            StoreError: there is no value of that hash.
            DamagedError: the value is not what its hash says.
        """
        with self._transaction("a value that a result refers to cannot be read") as connection:
            found = queries.blobs(connection, (sha256,), refuse).get(sha256)
        if found is None:
            raise StoreError(
                "a value that a result refers to is missing",
                where=str(self.location),
                observed=f"no blob {sha256}",
                fix="export the run again from the store it was measured into",
            )
        return found

    def find_blob(self, sha256: str) -> Any:
        """Return a kept value, as JSON has it; None: there is none of that hash, or it is damaged, which is told."""
        return self.find_blobs((sha256,)).get(sha256)

    def find_blobs(self, hashes: Collection[str]) -> dict[str, Any]:
        """Return kept values by their hashes; what is not there, or is damaged, which is told, is left out."""
        with self._transaction("a value that a result refers to could not be read") as connection:
            return queries.blobs(connection, hashes, self._tell)

    def leave_out(self, run: str, error: DamagedError) -> None:
        """Tell that a run is left out of what many runs are read for, as it cannot be read."""
        self._note(UnreadableRow(run=run, where=error.where, observed=error.observed))

    @property
    def unreadable(self) -> tuple[UnreadableRow, ...]:
        """Rows that could not be read, and were left out, as far as something was read: the first of them."""
        return tuple(self._unreadable.values())

    def runs(self, selection: Selection = EVERY) -> list[RunRecord]:
        """Return the runs that are meant, newest first."""
        with self._transaction("the runs could not be read") as connection:
            return queries.runs(connection, selection, self._tell)

    def run(self, name: str, selection: Selection = EVERY) -> RunRecord:
        """Return a run by its id, the beginning or the end of it, its label, or `latest`.

        Args:
            selection: those among which `latest` is the newest; a run that is named may be any.

        Raises:
            UsageError: there is no such run, or several are named so.
        """
        with self._transaction("the runs could not be read") as connection:
            return queries.run(connection, name, str(self.location), selection, self._tell)

    def left_out(self) -> OmittedRuns:
        """Count the runs that are not shown where nothing is asked for."""
        with self._transaction("the runs could not be read") as connection:
            return left_out(connection)

    def simulated_runs(self) -> frozenset[str]:
        """Return the ids of the simulated runs."""
        with self._transaction("the runs could not be read") as connection:
            return simulated_runs(connection)

    def labelled(self, label: str) -> list[str]:
        """Return the ids of the runs that have a label; several where runs of other stores were imported."""
        with self._transaction("the runs could not be read") as connection:
            return annotating.labelled(connection, label)

    def marks(self) -> dict[str, Marks]:
        """Return what holds of each run that people said something of, by its id."""
        return marks_of(self.annotations())

    def annotations(self, run: str | None = None) -> list[Annotation]:
        """Return all that people said of a run, or of all runs, in its order."""
        with self._transaction("what people said of runs could not be read") as connection:
            return annotating.annotations(connection, run, self._tell)

    def cells(self, run: str) -> list[CellRecord]:
        """Return a run's cells in the order in which they were added."""
        with self._transaction("the cells could not be read") as connection:
            return queries.cells(connection, run)

    def trials(self, run: str, cell: str | None = None, latency_of: Collection[str] | None = None) -> list[TrialRecord]:
        """Return a run's trials, or a cell's, in the order of their sequence.

        Args:
            cell: only trials of this one; None: of all.
            latency_of: only trials of these variants have their histograms, and no others are read; None: all have.
        """
        with self._transaction("the trials could not be read") as connection:
            return queries.trials(connection, run, cell, latency_of)

    # Reading parts, for pages: nothing of these reads a histogram.

    def runs_page(self, part: Part, selection: Selection = EVERY) -> tuple[list[RunRecord], int]:
        """Return some of the runs that are meant, newest first, and how many of those there are."""
        with self._transaction("the runs could not be read") as connection:
            return summaries.runs_page(connection, part, selection, self._tell)

    def newest_runs(self, most: int, selection: Selection = EVERY) -> list[RunRecord]:
        """Return of each host its newest runs of those meant, newest first.

        Args:
            most: of a host's that have ended, and of those that have not.
        """
        with self._transaction("the runs could not be read") as connection:
            return summaries.newest_runs(connection, most, selection, self._tell)

    def extent(self, run: str) -> Extent:
        """Return how much of a run is stored; it only grows."""
        with self._transaction("the run could not be read") as connection:
            return summaries.extent(connection, run)

    def trials_page(self, run: str, cell: str | None, part: Part) -> tuple[list[TrialRecord], int]:
        """Return some of a run's trials, or a cell's, without their histograms, and how many there are."""
        with self._transaction("the trials could not be read") as connection:
            return summaries.trials_page(connection, run, cell, part)

    def variants(self, run: str) -> list[str]:
        """Return the variants that a run measures, in the order of their first cells."""
        with self._transaction("the cells could not be read") as connection:
            return summaries.variants(connection, run)

    def trial_counts(self, run: str) -> dict[str, dict[Status, int]]:
        """Return how many trials each cell has, by how they ended."""
        with self._transaction("the trials could not be counted") as connection:
            return summaries.trial_counts(connection, run)

    def visit_trials(self, run: str) -> dict[str, int]:
        """Return how many plain trials each cell has: those of longer tests are left out."""
        with self._transaction("the trials could not be counted") as connection:
            return summaries.visit_trials(connection, run)

    def visit_rates(self, run: str) -> list[VisitRate]:
        """Return the rate of each visit of a run, by cell and round; no trial is read whole."""
        with self._transaction("the rates could not be read") as connection:
            return series.visit_rates(connection, run)

    def mrr_warnings(self, run: str) -> dict[str, tuple[QualityWarning, ...]]:
        """Return the warnings of a run's trials at maximum load, by cell; no trial is read whole."""
        with self._transaction("the warnings could not be read") as connection:
            return series.mrr_warnings(connection, run)

    def coverage(self, selection: Selection = EVERY) -> list[CoverageSummary]:
        """Return what became of each variant in each topology, over the runs that are meant, the newest first."""
        with self._transaction("the cells could not be read") as connection:
            return summaries.coverage(connection, selection, self._tell)

    def results(self, run: str) -> list[ResultRecord]:
        """Return the results of a run's tests, in the order in which they ended."""
        with self._transaction("the results could not be read") as connection:
            return queries.results(connection, run)

    def facts(self, run: str) -> list[FactRecord]:
        """Return a run's facts in the order in which they were added."""
        with self._transaction("the facts could not be read") as connection:
            return queries.facts(connection, run)

    # Inside

    def _tell(self, error: RowError) -> None:
        whole = error.run if error.table == RUN.name else ""
        self._note(UnreadableRow(run=whole, where=error.place, observed=error.observed))

    def _note(self, found: UnreadableRow) -> None:
        if found.where in self._unreadable or len(self._unreadable) >= MOST_TOLD:
            return
        self._unreadable[found.where] = found
        if self._told is not None:
            self._told(found.words)

    def _read_migrated_copy(self) -> None:
        path = self.location.path
        assert path is not None, "only files are copied"
        with (
            faults(self.location, "the results cannot be opened"),
            closing(FileReader(path)) as reader,
            closing(reader.open()) as connection,
        ):
            self._copy = back_up(connection, path)
        self._engine.dispose()
        copy = Path(self._copy.name) / path.name
        Store.open(copy).close()
        self._engine = connect(locate(copy), read_only=True)

    def _hold(self, run: str) -> None:
        if self._server is not None:
            self._server.keep()
            self._server.hold(run)

    @contextlib.contextmanager
    def _transaction(self, what: str) -> Iterator[Connection]:
        # A signal in the middle would leave a transaction open that the run's own end then waits for.
        held = contextlib.nullcontext() if self._may_be_interrupted else signals_held()
        with held, faults(self.location, what):
            if self._server is not None:
                self._server.keep()
            with self._engine.begin() as connection:
                yield connection


def _insert_run(connection: Connection, run: RunRecord) -> None:
    if connection.execute(select(EXPERIMENT).where(EXPERIMENT.c.name == run.experiment)).first() is None:
        put_once(connection, EXPERIMENT, {"name": run.experiment})
    connection.execute(insert(RUN).values(**run.model_dump(mode="json")))


def _insert_trial(connection: Connection, trial: TrialRecord) -> None:
    connection.execute(insert(TRIAL).values(**trial_row(trial)))
    _insert_all(connection, HISTOGRAM, histogram_rows(trial))


def _insert_all(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows with one statement; without any there is none, as it would insert a row of defaults."""
    if rows:
        connection.execute(insert(table), rows)


def _settle(
    connection: Connection,
    place: tuple[str, str],
    status: Status,
    reason: str,
    lacks: MissingPrerequisite | None = None,
) -> None:
    run, cell = place
    where = (CELL.c.run == run, CELL.c.id == cell)
    changed = connection.execute(update(CELL).where(*where).values(status=status.value, reason=reason, lacks=lacks))
    _expect_one(changed.rowcount, f"cell {cell} of run {run}")


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _expect_one(rows: int, what: str) -> None:
    if rows != 1:
        raise InternalError(f"{what} was never started")
