"""Bounds on what a SQLite file may do to its reader: every user can make one, and one with views is a program.

A file is opened so that its schema can call nothing and no value is beyond a size; what it consists of is looked at
before the first query; and a query that takes too long, or during which the command is to end, is interrupted.
"""

import sqlite3
from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, text

from nfvbed.errors import StoreError
from nfvbed.signals import signal_waits
from nfvbed.store.schema import METADATA

MOST_STEPS: Final = 10_000_000_000
"""Steps of SQLite's machine that one transaction of a reader may take: minutes. A page of a million trials takes less
than a hundredth of it."""
STEPS_BETWEEN: Final = 200_000
"""Steps between two looks at how many there were, and at signals: some milliseconds."""
INTERRUPTED: Final = "interrupted"
"""SQLite's word for a query that was."""
LONGEST_VALUE: Final = 256 * 2**20
"""Bytes of a value or of a row. The largest value is the description of a host or of a plan, some hundred kilobytes."""

_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 8),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_FORMER: Final = ("alembic_version", "sample")
"""Tables beside those of the newest format: of the migrations, and of former formats."""
_TABLES: Final = frozenset(METADATA.tables) | frozenset(_FORMER)
_TRIGGERS: Final = frozenset(f"{table}_no_{event}" for table in _TABLES for event in ("update", "delete"))
_SCHEMA: Final = text("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master")
_HIDDEN: Final = text("SELECT name FROM pragma_table_xinfo(:table) WHERE hidden <> 0")


class BoundedConnection(sqlite3.Connection):
    """A connection whose transactions have a budget of steps, and end where the command is to end."""

    _left = 0

    def bound(self, ended: Callable[[], bool]) -> None:
        """Begin to look at the budget and at signals.

        Args:
            ended: whether the reader has gone.
        """

        def interrupts() -> bool:
            self._left -= STEPS_BETWEEN
            return self._left < 0 or signal_waits() or ended()

        self.renew()
        self.set_progress_handler(interrupts, STEPS_BETWEEN)

    def renew(self) -> None:
        """Give the next transaction the whole budget."""
        self._left = MOST_STEPS


def harden(connection: sqlite3.Connection) -> None:
    """Let the file's schema call nothing that has effects, and no value be too large."""
    for limit, value in _LIMITS:
        connection.setlimit(limit, value)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    # A truncated file that is mapped would end the process.
    connection.execute("PRAGMA mmap_size = 0")
    # What is no UTF-8 becomes text that no record takes, so that its row can be named.
    connection.text_factory = _decoded


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def require_own_schema(connection: Connection, where: str) -> None:
    """Check that a file consists of what nfvbed makes: tables that are tables, their indexes, and its own triggers.

    Raises:
        StoreError: it has something else: a view, a virtual table, a trigger that does something.
    """
    for kind, name, table, root, sql in connection.execute(_SCHEMA):
        if not _is_own(kind, name, table, root, sql):
            _refuse(where, f"{kind} {name!r}"[:120])
    for table in sorted(_TABLES):
        if hidden := connection.execute(_HIDDEN, {"table": table}).scalar():
            _refuse(where, f"a computed column {hidden!r} in table {table}"[:120])


def _is_own(kind: object, name: object, table: object, root: object, sql: object) -> bool:
    words = sql.upper() if isinstance(sql, str) else ""
    if kind == "table":
        is_known = name in _TABLES or str(name).startswith("sqlite_")
        return is_known and name == table and isinstance(root, int) and root > 0 and words.startswith("CREATE TABLE")
    if kind == "index":
        return table in _TABLES or str(table).startswith("sqlite_")
    # Its own triggers refuse a change, and do nothing else.
    condition, _, body = words.partition(" BEGIN ")
    is_refusal = "SELECT" not in condition and body.startswith("SELECT RAISE(ABORT,") and body.count(";") == 1
    return kind == "trigger" and name in _TRIGGERS and is_refusal


def _refuse(where: str, observed: str) -> None:
    raise StoreError(
        "this file holds something that nfvbed does not make, and is not read",
        where=where,
        observed=observed,
        fix="name another file with --store; of one whose rows are wanted, let its owner export the runs",
    )
