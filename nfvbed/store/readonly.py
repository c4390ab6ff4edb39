"""Reads a SQLite file that this process may not write to, or in whose folder it may not.

SQLite keeps a store's newest rows in a log beside the file (WAL), and a map of that log which readers have to write to,
or to make. Where they can do neither there are three cases. The map is there, as a process writes: it is read. There is
no log: the file is whole, and is read as it is, each time anew, as a process may begin to write. There is a log without
a map, as after a copy: both are copied, and the copy is read.
"""

import os
import secrets
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from nfvbed.errors import StoreError
from nfvbed.store.bounds import BoundedConnection, harden

BUSY_TIMEOUT_MS: Final = 5000
_NEEDS_TO_WRITE: Final = ("SQLITE_CANTOPEN", "SQLITE_READONLY")
"""How the names of SQLite's errors begin where a reader would have to write."""

Stamp = tuple[tuple[int, int, int], ...]
"""State of a file and its log: inode, time and size of each."""


def may_write(path: Path) -> bool:
    """Return whether a file could be written to, or made, as far as it and its folder tell.

    The superuser may write to any file: one that is marked as only to be read is left alone all the same.
    """
    if path.exists() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK, effective_ids=True)):
        return False
    return may_write_beside(path)


def may_write_beside(path: Path) -> bool:
    """Return whether something could be written into a file's folder."""
    return os.access(path.parent, os.W_OK, effective_ids=True)


def opened(path: Path, how: str) -> BoundedConnection:
    """Open a file; `how` are the parameters of SQLite's URI."""
    target = f"{path.resolve().as_uri()}?{how}"
    timeout_s = BUSY_TIMEOUT_MS / 1000
    connection = sqlite3.connect(
        target, timeout=timeout_s, uri=True, check_same_thread=False, factory=BoundedConnection
    )
    # None: the module must not begin transactions by itself, else DDL would be committed statement by statement.
    connection.isolation_level = None
    harden(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


class FileReader:
    """Opens connections that only read a file; may be asked by several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._copy: tuple[Stamp, TemporaryDirectory[str]] | None = None
        self._one_at_a_time = threading.Lock()
        self._ended = False

    def open(self) -> BoundedConnection:
        """Open the file as it is, or a copy of it; a copy is made again when the file or its log has changed.

        Raises:
            StoreError: the copy cannot be made.
            sqlite3.Error: the file cannot be read.
        """
        self._ended = False
        connection = self._opened()
        connection.bound(lambda: self._ended)
        return connection

    def close(self) -> None:
        """End queries that still go on, and remove the copy; idempotent."""
        self._ended = True
        with self._one_at_a_time:
            if self._copy is not None:
                self._copy[1].cleanup()
                self._copy = None

    def _opened(self) -> BoundedConnection:
        connection = opened(self._path, "mode=ro")
        try:
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            if not error.sqlite_errorname.startswith(_NEEDS_TO_WRITE) or not os.access(
                self._path, os.R_OK, effective_ids=True
            ):
                raise
        except BaseException:
            connection.close()
            raise
        else:
            return connection
        if not self._log.exists() or not self._log.stat().st_size:
            return opened(self._path, "mode=ro&immutable=1")
        return opened(self._copied(), "mode=ro")

    def _copied(self) -> Path:
        with self._one_at_a_time:
            stamp = tuple((s.st_ino, s.st_mtime_ns, s.st_size) for s in (self._path.stat(), self._log.stat()))
            if self._copy is None or self._copy[0] != stamp:
                folder = folder_for_copy(self._path)
                for file in (self._path, self._log):
                    copy_into(folder, file)
                if self._copy is not None:
                    self._copy[1].cleanup()
                self._copy = stamp, folder
            return Path(self._copy[1].name) / self._path.name


def folder_for_copy(path: Path) -> "TemporaryDirectory[str]":
    """Make the folder of a private copy; it goes when it is not held any more."""
    try:
        return TemporaryDirectory(prefix="nfvbed-store-")
    except OSError as error:
        raise _no_copy(path, error) from error


def copy_into(folder: "TemporaryDirectory[str]", file: Path) -> None:
    """Copy a file into the folder of a private copy.

    Raises:
        StoreError: the file cannot be read, or does not fit.
    """
    try:
        shutil.copyfile(file, Path(folder.name) / file.name)
    except OSError as error:
        folder.cleanup()
        raise _no_copy(file, error) from error


def back_up(reader: sqlite3.Connection, path: Path) -> "TemporaryDirectory[str]":
    """Copy an open database into a folder, under the name of its file, and return the folder.

    Raises:
        StoreError: the copy does not fit.
    """
    folder = folder_for_copy(path)
    try:
        with closing(sqlite3.connect(Path(folder.name) / path.name)) as target:
            reader.backup(target)
    except (OSError, sqlite3.Error) as error:
        folder.cleanup()
        raise _no_copy(path, error) from error
    return folder


def back_up_to(reader: sqlite3.Connection, path: Path) -> None:
    """Copy an open database to a file, which is there whole or not at all.

    Raises:
        StoreError: the file cannot be written.
    """
    draft = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        try:
            with closing(sqlite3.connect(draft)) as target:
                reader.backup(target)
                # One file: its readers have to write nothing beside it.
                target.execute("PRAGMA journal_mode = DELETE")
            draft.rename(path)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            "the copy of the results could not be written",
            where=str(path),
            observed=str(error),
            fix="name another file with --output",
        ) from error


def _no_copy(path: Path, error: Exception) -> StoreError:
    return StoreError(
        "these results can only be read through a copy, which cannot be made",
        where=str(path),
        observed=str(error),
        fix="set TMPDIR to a folder with as much space as the file takes, or copy the file to where it can be written",
    )
