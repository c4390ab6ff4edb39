"""Opens the database behind a store, and turns its faults into errors that say what to do."""

import contextlib
import os
import re
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    MultipleResultsFound,
    NoResultFound,
    NoSuchModuleError,
)
from sqlalchemy.pool import NullPool, QueuePool

from nfvbed.errors import BusyError, ConfigurationError, DamagedError, NfvbedError, StoreError
from nfvbed.store.bounds import INTERRUPTED, MOST_STEPS, BoundedConnection
from nfvbed.store.damage import FIX, RowError, parsed
from nfvbed.store.private import make_files, make_folder
from nfvbed.store.readonly import FileReader, may_write_beside, opened
from nfvbed.store.serverfaults import KEPT, server_fault, words_of

CONNECT_TIMEOUT_S = 10
LONGEST_STATEMENT_S = 300
"""Bound of a statement of who only reads a database: no query of nfvbed takes that long on results."""
SECRETS = ("password", "sslpassword")
"""Parameters of a URL that are never shown."""


@dataclass(frozen=True)
class Location:
    """Where a store is: a file, or a URL of a database server."""

    url: URL
    path: Path | None
    """The SQLite file; None for a server."""

    def __str__(self) -> str:
        return str(self.path) if self.path else _without_secrets(self.url.render_as_string(hide_password=True))


def locate(url_or_path: str | Path) -> Location:
    """Return the place that a path or a database's URL names.

    Raises:
        ConfigurationError: it looks like a URL, and is none that can be used.
    """
    text = str(url_or_path)
    if text == "-":
        raise _bad_url(text, "results are kept in no stream; a file of this name is ./-")
    if "://" not in text:
        path = Path(text)
        return Location(URL.create("sqlite", database=str(path)), path)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # Its cause would show the URL, or a part of it, as it was given.
        raise _bad_url(_masked(text), "it cannot be parsed") from None
    if url.get_backend_name() == "sqlite":
        return Location(url, Path(url.database or ""))
    if url.get_backend_name() != "postgresql":
        raise _bad_url(_masked(text), f"a {url.get_backend_name()} database")
    if "@" in (url.host or ""):
        raise _bad_url(_masked(text), "an @ in the name of the host: in a password it is written %40")
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return Location(url, None)


def connect(location: Location, *, read_only: bool, tell: Callable[[str], None] | None = None) -> Engine:
    """Return an engine; with SQLite every transaction of a writer takes the write lock at its start.

    Args:
        tell: is told where a writer takes rights of others away from its files.

    Raises:
        StoreError: the file is missing, or another user's (when only reading), or it or its folder cannot be made.
        ConfigurationError: the driver of a server's database is not installed.
    """
    if location.path is None:
        return _connect_server(location, read_only)
    if read_only:
        _require_readable(location.path)
    else:
        with faults(location, "the results file cannot be opened"):
            make_folder(location.path.parent)
            make_files(location.path, tell)
    engine = _reading(location.path) if read_only else _writing(location.path)
    event.listen(engine, "begin", _begin_to_read if read_only else _begin_to_write)
    return engine


def _require_readable(path: Path) -> None:
    try:
        path.stat()
        if os.access(path, os.R_OK, effective_ids=True):
            return
        observed = "no permission to read it"
    except FileNotFoundError as error:
        raise StoreError(
            "there are no results yet",
            where=str(path),
            observed="no such file",
            fix="measure something first: nfvbed run <experiment>, or name another file with --store",
        ) from error
    except OSError as error:
        observed = error.strerror or str(error)
    raise StoreError(
        "these results are their owner's alone",
        where=str(path),
        observed=observed,
        fix="let the owner give you a copy (nfvbed export --format sqlite --output FILE), and name that with --store",
    )


def _begin_to_read(connection: Connection) -> None:
    file = connection.connection.driver_connection
    assert isinstance(file, BoundedConnection)
    file.renew()
    connection.exec_driver_sql("BEGIN")


def _begin_to_write(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _reading(path: Path) -> Engine:
    reader = FileReader(path)
    # Readers may be many threads, as a web server's are: a connection is one thread's until it is given back. Where
    # SQLite cannot follow a writer, none is kept: the next one sees what was written meanwhile.
    pool = QueuePool if may_write_beside(path) else NullPool
    engine = create_engine("sqlite://", creator=reader.open, poolclass=pool, json_deserializer=parsed)
    event.listen(engine, "engine_disposed", lambda _: reader.close())
    return engine


def _writing(path: Path) -> Engine:
    return create_engine("sqlite://", creator=lambda: _open_to_write(path), json_deserializer=parsed)


def written_out(engine: Engine) -> None:
    """Move what is in SQLite's log to the file itself, as far as no other program reads from it: for plain copies.

    A reader that stays open, as a web server is, keeps the log from being moved at the end of the writer.
    """
    if engine.dialect.name == "sqlite":
        with contextlib.closing(engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")


@contextlib.contextmanager
def faults(location: Location, what: str) -> Iterator[None]:
    """Turn faults of the database and of the system into StoreError.

    Raises:
        StoreError: there is a fault; the message has the file, the free space and what the database said.
        BusyError: another program holds the database.
    """
    try:
        yield
    except NfvbedError:
        raise
    except RowError as error:
        where = f"{location}, {error.place}"
        raise DamagedError(what, where=where, observed=error.observed, fix=FIX) from error
    except IntegrityError as error:
        fix = f"nothing was written; {KEPT}"
        raise StoreError(what, where=str(location), observed=words_of(error), fix=fix) from error
    except DBAPIError as error:
        if location.path is None:
            raise server_fault(error, what, str(location)) from error
        raise _translated(location, what, words_of(error)) from error
    except (OSError, sqlite3.Error) as error:
        raise _translated(location, what, str(error)) from error
    except (NoResultFound, MultipleResultsFound, UnicodeDecodeError) as error:
        # The last: SQLite names what is damaged, in its bytes.
        raise _translated(location, what, f"malformed: {' '.join(str(error).split())}") from error


def _translated(location: Location, what: str, words: str) -> NfvbedError:
    lower = words.lower()
    if "locked" in lower:
        return BusyError(
            what,
            where=str(location),
            observed=words,
            fix="wait for the program that has it open, or end it if it is yours, then repeat",
        )
    fix = "see what the message says, then repeat"
    if lower == INTERRUPTED:
        return StoreError(
            what,
            where=str(location),
            observed=f"a reading took more than {MOST_STEPS:,} steps of SQLite, and was ended",
            fix="name another file with --store: no query of nfvbed takes that long on results",
        )
    if "full" in lower or "no space" in lower:
        fix = "free space there, or name a file on another disk with --store; then `nfvbed run --resume`"
    elif "readonly" in lower or "read-only" in lower or "permission" in lower or "unable to open" in lower:
        fix = "make the file and its folder writable, or name another file with --store"
    elif "malformed" in lower:
        kept = "keep this file, `sqlite3 FILE .recover` may read it; name another one with --store"
        return DamagedError(what, where=str(location), observed=words, fix=kept)
    elif "not a database" in lower:
        fix = "name another file with --store; keep this one, `sqlite3 FILE .recover` may read it"
    return StoreError(what, where=str(location), observed=f"{words}{_free_space(location)}", fix=f"{fix} ({KEPT})")


def _free_space(location: Location) -> str:
    if location.path is None:
        return ""
    try:
        free = shutil.disk_usage(location.path.parent).free
    except OSError:
        return ""
    return f"; {free / 2**20:.1f} MiB free"


def _open_to_write(path: Path) -> sqlite3.Connection:
    connection = opened(path, "mode=rwc")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _connect_server(location: Location, read_only: bool) -> Engine:
    named = {"connect_timeout": CONNECT_TIMEOUT_S, "application_name": application_name()}
    try:
        # A connection is looked at before it is used: the server may have been restarted meanwhile.
        engine = create_engine(location.url, pool_pre_ping=True, connect_args=named, json_deserializer=parsed)
    except (ImportError, NoSuchModuleError) as error:
        raise ConfigurationError(
            "the driver of this database is not installed",
            where=str(location),
            observed=str(error),
            fix="write the URL as postgresql+psycopg://..., whose driver nfvbed brings along",
        ) from error
    if not read_only:
        return engine
    event.listen(engine, "connect", _limit_statements)
    return engine.execution_options(postgresql_readonly=True)


def _limit_statements(session: Any, _: object) -> None:
    with session.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = '{LONGEST_STATEMENT_S}s'")
    session.commit()


def application_name() -> str:
    """Return how a session names itself to the server: its process and its host."""
    return f"nfvbed, process {os.getpid()} on {socket.gethostname()}"[:63]


def _masked(text: str) -> str:
    """Return a URL that cannot be parsed without what may be a password."""
    return re.sub(r"://.*@", "://***@", _without_secrets(text))


def _without_secrets(text: str) -> str:
    return re.sub(rf"\b({'|'.join(SECRETS)})=[^&]*", r"\1=***", text)


def _bad_url(text: str, observed: str) -> ConfigurationError:
    return ConfigurationError(
        "this is no store that nfvbed can use",
        where=f"--store {text}",
        observed=observed,
        fix="give the path of a file, or postgresql+psycopg://user@host/database",
    )
