"""A file of results that cannot be written is read all the same: whatever SQLite left beside it, by whatever user."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest

from nfvbed.errors import StoreError
from nfvbed.records import Status
from nfvbed.records.annotations import Mark
from nfvbed.store import Store, readonly
from tests.another_user import ALL_SEE_THE_CHECKOUT, may_only_read, seen_by_all
from tests.unit.store.store_records import RUN_ID, cell_record, run_record, trial_record
from tests.unit.store.test_store_migrations import old_store, upgrade

OTHER = "01890a5d-ac96-774b-bcce-b302099a9999"


def fill(path: Path) -> None:
    with Store.open(path) as store:
        store.start_run(run_record())
        store.add_cell(cell_record())
        store.add_trial(trial_record())


def add_another(path: Path) -> None:
    with Store.open(path) as store:
        store.start_run(run_record(id=OTHER, started_at="2024-02-01T00:00:00.000+00:00"))


WRITER = """
import sys
from nfvbed.store import Store
from tests.unit.store.store_records import run_record
store = Store.open(sys.argv[1])
store.start_run(run_record(id=sys.argv[2], started_at="2024-02-01T00:00:00.000+00:00"))
print("written", flush=True)
sys.stdin.read()
"""
"""A process that writes, and goes on: the newest row is in the log alone."""


@contextmanager
def written_to(path: Path) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-c", WRITER, str(path), OTHER]
    around = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(argv, env=around, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == "written\n"
        try:
            yield process
        finally:
            process.kill()


def closed(path: Path) -> AbstractContextManager[object]:
    """Nothing is beside it."""
    add_another(path)
    return nullcontext()


def not_wal(path: Path) -> AbstractContextManager[object]:
    """As a program that knows no log leaves it, `sqlite3 .dump` for one."""
    add_another(path)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    database.close()
    return nullcontext()


def open_elsewhere(path: Path) -> AbstractContextManager[object]:
    """Another process of another user writes to it."""
    return written_to(path)


def crashed(path: Path) -> AbstractContextManager[object]:
    """The writer was killed: the log and its map are left."""
    with written_to(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert path.with_name("x.sqlite-wal").stat().st_size
    return nullcontext()


def without_map(path: Path) -> AbstractContextManager[object]:
    """The log was copied, its map was not."""
    with crashed(path):
        path.with_name("x.sqlite-shm").unlink()
    return nullcontext()


STATES: dict[str, Callable[[Path], AbstractContextManager[object]]] = {
    "closed": closed,
    "no log": not_wal,
    "written to": open_elsewhere,
    "crashed": crashed,
    "without its map": without_map,
}
MODES = {"the folder": (0o555, 0o644), "the file": (0o755, 0o444), "both": (0o555, 0o444)}
"""What cannot be written, and the modes of folder and file."""


@pytest.fixture(name="place")
def _place() -> Iterator[Path]:
    with seen_by_all() as folder:
        (folder / "results").mkdir()
        yield folder / "results" / "x.sqlite"


def let_others_read(path: Path, mode: int = 0o644) -> None:
    """Give the rights away that nfvbed keeps for the owner."""
    for ending in ("", "-wal", "-shm"):
        if (entry := path.with_name(path.name + ending)).exists():
            entry.chmod(mode)


@contextmanager
def kept_from_writing(path: Path, mode: str) -> Iterator[None]:
    """Take the permission to write away, and be a user whom that binds."""
    folder, file = MODES[mode]
    let_others_read(path, file)
    path.parent.chmod(folder)
    before = {entry.name for entry in path.parent.iterdir()}
    with may_only_read():
        yield
    left = {entry.name for entry in path.parent.iterdir()}
    assert left == before, "a reader leaves nothing behind"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("state", STATES)
def test_all_rows_are_read(place: Path, state: str, mode: str) -> None:
    fill(place)
    with STATES[state](place), kept_from_writing(place, mode):
        for _ in range(2):
            with Store.open(place, read_only=True, migrated=False) as store:
                assert [run.id for run in store.runs()] == [OTHER, RUN_ID], "the newest row may be in the log"
                assert store.trials(RUN_ID) == [trial_record()]
                assert not store.is_writable


def test_what_is_written_meanwhile_is_seen(place: Path) -> None:
    """Another user begins to write after a reader has opened the file as one without a writer."""
    fill(place)
    with Store.open(place, read_only=True) as writable:
        assert writable.is_writable
    let_others_read(place)
    place.parent.chmod(0o555)
    with may_only_read():
        store = Store.open(place, read_only=True)
        assert len(store.runs()) == 1
    # The superuser writes all the same.
    place.parent.chmod(0o755)
    with written_to(place):
        let_others_read(place)
        place.parent.chmod(0o555)
        with may_only_read():
            assert len(store.runs()) == 2
    place.parent.chmod(0o755)
    add = Store.open(place)
    add.finish_run(RUN_ID, Status.OK)
    add.close()
    let_others_read(place)
    place.parent.chmod(0o555)
    with may_only_read():
        assert store.run(RUN_ID).status is Status.OK
        store.close()


def test_a_log_that_grows_is_copied_again(place: Path) -> None:
    fill(place)
    with without_map(place), kept_from_writing(place, "both"):
        reader = readonly.FileReader(place)
        first = reader._copied()
        assert reader._copied() == first
    log = place.with_name("x.sqlite-wal")
    place.parent.chmod(0o755)
    os.utime(log, (1, 1))
    with kept_from_writing(place, "both"):
        second = reader._copied()
        assert second != first and not first.exists()
        reader.close()
        assert not second.exists()


@pytest.mark.skipif(not ALL_SEE_THE_CHECKOUT, reason="the checkout is in a folder into which nobody else comes")
@pytest.mark.parametrize("migrated", [True, False])
def test_one_of_an_older_format_is_read_through_a_migrated_copy(place: Path, migrated: bool) -> None:
    old_store(place)
    upgrade(place, "0007")
    before = place.read_bytes()
    with kept_from_writing(place, "both"), Store.open(place, read_only=True, migrated=migrated) as store:
        assert store.run(RUN_ID).reason == "placement" and store.annotations() == []
        assert str(store.location) == str(place)
        with pytest.raises(StoreError, match="can only be read"):
            store.say(RUN_ID, {Mark.LABEL: "before"}, "ann")
    assert place.read_bytes() == before


def test_what_cannot_be_read_says_so(place: Path) -> None:
    fill(place)
    place.chmod(0)
    if os.geteuid() == 0:
        with may_only_read(), pytest.raises(StoreError, match="their owner's alone") as caught:
            Store.open(place, read_only=True)
        assert str(place) in caught.value.where and "export --format sqlite" in caught.value.fix


def test_without_room_for_the_copy_that_is_needed_it_says_what_to_do(place: Path, monkeypatch) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    fill(place)
    with without_map(place), kept_from_writing(place, "both"):
        monkeypatch.setattr(shutil, "copyfile", full)
        with pytest.raises(StoreError, match="through a copy, which cannot be made") as caught:
            Store.open(place, read_only=True)
    assert "No space left" in caught.value.observed and "TMPDIR" in caught.value.fix


def test_nothing_is_said_in_a_store_that_can_only_be_read(place: Path) -> None:
    fill(place)
    kept, refused = kept_from_writing(place, "the folder"), pytest.raises(StoreError, match="can only be read")
    with kept, Store.open(place, read_only=True) as store, refused:
        store.say(RUN_ID, {Mark.NOTE: "x"}, "ann")
