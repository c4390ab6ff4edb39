"""Stores on both engines, for whatever reads or writes one."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import hypothesis
import pytest
from sqlalchemy import Connection, inspect

from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.host.ledger import hostlock, places
from nfvbed.host.workspace import trialsign, workspace
from nfvbed.spec import document
from nfvbed.store import connect, migrate
from nfvbed.vnfs.descriptors import imports
from tests.parsed_once import parsed_once
from tests.postgresql import Server
from tests.stores import Databases, Files, Stores

# How long an example takes says how busy the host is.
hypothesis.settings.register_profile("nfvbed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("nfvbed")
document.parse_document = imports.parse_document = parsed_once(document.parse_document)
UPGRADE = migrate._upgrade
"""As it is without `_new_files_are_migrated_once`."""
ENDING_S = 30.0
# One worker has the server: it is started once.
ON_SERVER = pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql"))


@pytest.fixture(scope="session", name="server")
def _server() -> Iterator[Server]:
    server = Server(durable=False)
    try:
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture(scope="session", name="stores", params=["sqlite", ON_SERVER])
def _stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stores:
    if request.param == "postgresql":
        return Databases(request.getfixturevalue("server"))
    return Files(tmp_path_factory.mktemp("stores"))


@pytest.fixture(name="place")
def _place(stores: Stores) -> str:
    """An empty store, as `--store` names it."""
    return stores.new()


@pytest.fixture(autouse=True, scope="session")
def _signs_of_trials_stay_here(tmp_path_factory):
    """Trials of tests are no trials of this host's."""
    trialsign.RUN_DIRECTORY = tmp_path_factory.mktemp("run") / "signs"


@pytest.fixture(autouse=True, scope="session")
def _no_process_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests start works in their folders, which go. What is ending needs a core for it, which others may have."""
    yield
    folder = str(tmp_path_factory.getbasetemp())
    deadline = time.monotonic() + ENDING_S
    while (left := _working_in(folder)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, f"tests left processes: {left}"


def _working_in(folder: str) -> list[str]:
    """Return the command lines of other processes that work below a folder."""
    found = list[str]()
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if str(cwd.readlink()).startswith(f"{folder}/") and cwd.parent.name != str(os.getpid()):
                found.append((cwd.parent / "cmdline").read_text().replace("\0", " "))
    return found


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_deployed_here() -> None:
    """Functional tests run at the same time, and find in the host's run directory what is another's."""

    def make(directory: Path) -> None:
        assert directory != places.RUN_DIRECTORY, f"a unit test deploys on this host: {directory}"
        made(directory)

    made = workspace.make_run_directory
    workspace.make_run_directory = hostlock.make_run_directory = make


@pytest.fixture(autouse=True, scope="session")
def _no_cloud_runs_here() -> Iterator[None]:
    """A devcloud of this checkout is another's: what would fit on it is asked of one that is stopped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DevCloud, "find_node", lambda cloud: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _files_need_not_outlive_a_power_cut() -> Iterator[None]:
    """A transaction of a test does not wait for the disk; processes that tests start are as a user has them."""
    opened = connect._open_to_write

    def open_to_write(path: Path) -> sqlite3.Connection:
        connection = opened(path)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "_open_to_write", open_to_write)
        yield


@pytest.fixture(autouse=True, scope="session")
def _new_files_are_migrated_once() -> Iterator[None]:
    """A file with nothing in it goes through all formats once in a session; later ones get what came of that."""
    dumped = list[str]()

    def upgraded(connection: Connection) -> None:
        file = connection.connection.driver_connection
        if not isinstance(file, sqlite3.Connection) or inspect(connection).get_table_names():
            UPGRADE(connection)
        elif dumped:
            for statement in dumped:
                connection.exec_driver_sql(statement)
        else:
            UPGRADE(connection)
            dumped.extend(line for line in file.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "_upgrade", upgraded)
        yield
