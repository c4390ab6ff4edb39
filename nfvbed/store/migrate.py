"""Brings an opened database to the format that this nfvbed writes, or says why not."""

from importlib import resources
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from nfvbed.errors import StoreError
from nfvbed.store.bounds import require_own_schema
from nfvbed.store.serverlock import require_no_writers, wait_for_format

if TYPE_CHECKING:
    from alembic.config import Config

FORMATS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
"""All formats, oldest first; the last one is written."""


def prepare(connection: Connection, where: str, *, read_only: bool) -> None:
    """Check the format and, where this process may write, migrate an older or empty database.

    Raises:
        StoreError: it is another program's database, of a newer format, or too old to be only read.
        BusyError: others write to a server's database that is of an older format.
    """
    on_server = connection.dialect.name == "postgresql"
    if on_server and not read_only:
        wait_for_format(connection)
    found = _format(connection, where)
    if found == FORMATS[-1]:
        return
    if found is not None and found not in FORMATS:
        raise StoreError(
            "the results were written by a newer nfvbed",
            where=where,
            observed=f"format {found}; this nfvbed knows up to {FORMATS[-1]}",
            fix="update nfvbed, or name another file with --store",
        )
    if read_only:
        raise StoreError(
            "there are no results yet" if found is None else "the results are of an older format",
            where=where,
            observed="the database is empty" if found is None else f"format {found}",
            fix="measure something first: nfvbed run <experiment>"
            if found is None
            else "`nfvbed runs` with the same --store migrates it once; keep a copy where it must stay as it is",
        )
    if on_server and found is not None:
        require_no_writers(connection, where)
    _upgrade(connection)


def is_outdated(connection: Connection, where: str) -> bool:
    """Return whether a database holds results of an older format that this nfvbed can migrate.

    Raises:
        StoreError: it is another program's database.
    """
    return _format(connection, where) in FORMATS[:-1]


def _format(connection: Connection, where: str) -> str | None:
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return None
    if "alembic_version" not in tables or "trial" not in tables:
        raise StoreError(
            "this database holds something other than nfvbed's results",
            where=where,
            observed=f"tables {', '.join(sorted(tables)[:6])}",
            fix="name another file with --store",
        )
    if connection.dialect.name == "sqlite":
        require_own_schema(connection, where)
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())


def _upgrade(connection: Connection) -> None:
    # Alembic is imported only when there is something to migrate: it would slow every other command down.
    from alembic import command

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(resources.files("nfvbed.store.migrations")))
    config.set_main_option("path_separator", "os")
    return config
