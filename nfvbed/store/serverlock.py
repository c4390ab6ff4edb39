"""Locks on a database server: several testbeds write to one at once, but no other writes a run that one writes."""

import time
import zlib
from typing import Final

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from nfvbed.errors import BusyError
from nfvbed.store.connect import Location, faults
from nfvbed.store.lock import LockHolder

ADVISORY_LOCK: Final = 0x6E667662
"""The first half of the key of all of nfvbed's advisory locks ("nfvb")."""
ALL_WRITERS: Final = 0
"""The second half of the lock that every writer shares."""
FORMAT: Final = 1
"""The second half of the lock of who looks at the format and may migrate it."""
PATIENCE_S: Final = 5
"""How long the locks of a session that died are waited for: the server may notice later than its client."""
MIGRATION_PATIENCE_S: Final = 60
"""How long a writer waits for another one that migrates the database, or for readers of tables that it migrates."""

_HELD = (
    "FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND objsubid = 2"
    " AND datname = current_database() AND classid::bigint = :nfvbed AND objid::bigint = :lock"
)
_HOLDER = text(f"SELECT pid, application_name {_HELD} LIMIT 1")
_HOLDERS = text(f"SELECT count(*) {_HELD}")


class ServerLock:
    """What one writer holds, in a session of its own: it ends with the process, however that ends.

    Args:
        location: that of the store, for messages.
    """

    def __init__(self, engine: Engine, location: Location) -> None:
        self._engine = engine
        self._location = location
        self._session: Connection | None = None
        self._runs: set[str] = set()

    def acquire(self) -> None:
        """Become one of the writers.

        Raises:
            StoreError: the server is not available.
        """
        with faults(self._location, "the results database cannot be opened"):
            self._session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._session.execute(
                text("SELECT pg_advisory_lock_shared(:nfvbed, :lock)"), {"nfvbed": ADVISORY_LOCK, "lock": ALL_WRITERS}
            )

    def release(self) -> None:
        """Give all locks back; idempotent."""
        if self._session is not None:
            self._session.invalidate()  # Its locks end with the session, which must not go back to the pool.
            self._session.close()
            self._session = None

    def keep(self) -> None:
        """Take the locks again where the server was restarted.

        Raises:
            BusyError: another process writes one of the runs by now.
            StoreError: the server is not available.
        """
        if self._session is not None and _is_alive(self._session):
            return
        self.release()
        self.acquire()
        for run in self._runs:
            self._take(run)

    def hold(self, run: str) -> None:
        """Become the only one that writes this run, until it is left or the process ends.

        Raises:
            BusyError: another process writes it.
        """
        if run not in self._runs:
            self._take(run)
            self._runs.add(run)

    def leave(self, run: str) -> None:
        """Let others write this run; idempotent."""
        if run in self._runs and self._session is not None:
            self._runs.remove(run)
            with faults(self._location, "the results database does not answer"):
                self._session.execute(text("SELECT pg_advisory_unlock(:nfvbed, :lock)"), _key(run))

    def _take(self, run: str) -> None:
        assert self._session is not None
        end = time.monotonic() + PATIENCE_S
        with faults(self._location, "the results database does not answer"):
            while not self._session.execute(text("SELECT pg_try_advisory_lock(:nfvbed, :lock)"), _key(run)).scalar():
                holder = holder_on_server(self._session, run)
                if time.monotonic() >= end:
                    raise BusyError(
                        f"another nfvbed writes run {run}",
                        where=str(self._location),
                        observed=holder.command if holder else "its lock is held",
                        fix="wait until it ends",
                    )
                time.sleep(0.1)


def holder_on_server(connection: Connection, run: str | None = None) -> LockHolder | None:
    """Return which session of the server writes, or writes this run; None: none does."""
    key = _key(run) if run else {"nfvbed": ADVISORY_LOCK, "lock": ALL_WRITERS}
    found = connection.execute(_HOLDER, key).first()
    return None if found is None else LockHolder(int(found[0]), str(found[1]))


def wait_for_format(connection: Connection) -> None:
    """Be alone with looking at the format, until the transaction ends."""
    connection.execute(text(f"SET LOCAL lock_timeout = '{MIGRATION_PATIENCE_S}s'"))
    key = {"nfvbed": ADVISORY_LOCK, "lock": FORMAT}
    connection.execute(text("SELECT pg_advisory_xact_lock(:nfvbed, :lock)"), key)


def require_no_writers(connection: Connection, where: str) -> None:
    """Check that no process writes, before the format is changed.

    Raises:
        BusyError: one does.
    """
    writers = connection.execute(_HOLDERS, {"nfvbed": ADVISORY_LOCK, "lock": ALL_WRITERS}).scalar_one()
    if writers:
        raise BusyError(
            "the results are of an older format, and others write to them",
            where=where,
            observed=f"sessions that write: {writers}",
            fix="wait until they end, then repeat: the format is migrated once",
        )


def _is_alive(session: Connection) -> bool:
    try:
        session.execute(text("SELECT 1"))
    except DBAPIError:
        return False
    return True


def _key(run: str) -> dict[str, int]:
    # The halves of a key are signed integers of 32 bits; the first few are other locks'.
    return {"nfvbed": ADVISORY_LOCK, "lock": max(zlib.crc32(run.encode()) & 0x7FFFFFFF, 2)}
