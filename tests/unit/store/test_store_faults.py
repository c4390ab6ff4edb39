"""What goes wrong with a results file is reported with what, where, observed and the next step; earlier rows stay."""

import ctypes
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.pool import NullPool

from nfvbed.errors import BusyError, ConfigurationError, StoreError
from nfvbed.store import Store
from nfvbed.store.connect import locate
from nfvbed.store.lock import LockHolder, holder_of
from tests.stores import Stores
from tests.unit.store.store_records import RUN_ID, cell_record, run_record, trial_record

FILLER = "x" * 200_000


def _fill(store: Store) -> int:
    """Add large trials until the store refuses; give the number of those that were accepted."""
    for sequence in range(1, 1000):
        try:
            store.add_trial(trial_record(sequence=sequence, reason=FILLER))
        except StoreError as error:
            assert "trial" in error.what
            assert error.exit_code == 30
            assert "full" in error.observed
            assert "MiB free" in error.observed
            assert "kept" in error.fix
            assert "--resume" in error.fix
            assert str(store.location) == error.where
            return sequence - 1
    raise AssertionError("it was never full")


def test_a_full_database_keeps_the_rows_it_has(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with Store.open(path) as store:
        store.start_run(run_record())
        store.add_cell(cell_record())

        def limit(connection: sqlite3.Connection, _: object) -> None:
            connection.execute("PRAGMA max_page_count = 500")

        event.listen(store._engine, "connect", limit)
        store._engine.dispose()
        accepted = _fill(store)
    with Store.open(path, read_only=True) as store:
        assert len(store.trials(RUN_ID)) == accepted > 0


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root; the limit of pages is tested above")
    folder = tmp_path / "disk"
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"size=2m"):
        pytest.skip(f"tmpfs cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    yield folder
    libc.umount2(os.fsencode(folder), 2)


def test_a_full_disk_keeps_the_rows_it_has(tiny_disk: Path) -> None:
    path = tiny_disk / "x.sqlite"
    with Store.open(path) as store:
        store.start_run(run_record())
        store.add_cell(cell_record())
        accepted = _fill(store)
    with Store.open(path, read_only=True) as store:
        assert len(store.trials(RUN_ID)) == accepted > 0


def test_a_second_writer_is_reported_who_writes(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    script = "import sys, nfvbed.store as s; x = s.Store.open(sys.argv[1]); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(BusyError) as caught:
            Store.open(path)
        assert caught.value.exit_code == 13
        assert f"process {other.pid}: -c {path}" in caught.value.observed
        with Store.open(path, read_only=True) as reader:
            assert reader.writer() == LockHolder(other.pid, f"-c {path}")
            assert reader.runs() == []
        other.kill()
        other.wait()
    with Store.open(path) as store:
        assert store.writer() == LockHolder(os.getpid(), " ".join(sys.argv))
    assert holder_of(path.with_name("x.sqlite.lock")) is None


def test_one_process_cannot_write_twice_either(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.sqlite"), pytest.raises(BusyError):
        Store.open(tmp_path / "x.sqlite")


def test_no_results_yet(stores: Stores) -> None:
    place = stores.blank()
    with pytest.raises(StoreError, match="no results yet") as caught:
        Store.open(place, read_only=True)
    assert "nfvbed run" in caught.value.fix
    assert not Path(place).exists()


def test_not_a_database(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_text("cell,mrr\n" * 1000)
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert "not a database" in caught.value.observed
    assert "--store" in caught.value.fix
    assert path.read_text().startswith("cell,mrr")


def test_another_programs_database(stores: Stores) -> None:
    path = stores.blank()
    if "://" not in path:
        Path(path).parent.mkdir()
    _execute(path, "CREATE TABLE cookies (id INTEGER)")
    with pytest.raises(StoreError, match="something other") as caught:
        Store.open(path)
    assert "cookies" in caught.value.observed


def _execute(place: str, statement: str) -> None:
    with create_engine(locate(place).url, poolclass=NullPool).begin() as connection:
        connection.execute(text(statement))


def test_a_newer_format_is_left_alone(place: str) -> None:
    _execute(place, "UPDATE alembic_version SET version_num = '0999'")
    for read_only in (False, True):
        with pytest.raises(StoreError, match="newer nfvbed") as caught:
            Store.open(place, read_only=read_only)
        assert "0999" in caught.value.observed
        assert "update nfvbed" in caught.value.fix


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path / "file" / "x.sqlite")
    assert caught.value.exit_code == 30
    assert str(tmp_path) in caught.value.where


def test_a_read_only_store_refuses_to_write(place: str) -> None:
    with Store.open(place, read_only=True) as store, pytest.raises(StoreError) as caught:
        store.start_run(run_record())
    assert "readonly" in caught.value.observed.replace("read-only", "readonly")


@pytest.mark.parametrize("url", ["mysql://host/x", "nonsense://"])
def test_a_url_of_another_kind(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Store.open(url)
    assert "postgresql" in caught.value.fix


def test_a_missing_driver_is_named() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Store.open("postgresql+asyncpg_missing://user:secret@host/db")
    assert "secret" not in str(caught.value)
