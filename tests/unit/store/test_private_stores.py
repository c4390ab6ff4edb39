"""What is measured is its owner's alone: no other user can hold a lock that a writer needs."""

import fcntl
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.errors import StoreError
from nfvbed.store import Store
from tests.another_user import NOBODY, PYTHON, may_only_read, seen_by_all
from tests.unit.store.store_records import RUN_ID, cell_record, run_record, trial_record

FILES = ("x.sqlite", "x.sqlite-shm", "x.sqlite-wal", "x.sqlite.lock")


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    with seen_by_all() as folder:
        yield folder


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fill(store: Store) -> None:
    store.start_run(run_record())
    store.add_cell(cell_record())
    store.add_trial(trial_record())


def test_a_store_and_its_folder_are_made_for_their_owner_alone(folder: Path) -> None:
    path = folder / "results" / "x.sqlite"
    said: list[str] = []
    with Store.open(path, tell=said.append) as store:
        fill(store)
        assert sorted(entry.name for entry in path.parent.iterdir()) == sorted(FILES)
        assert {mode_of(entry) for entry in path.parent.iterdir()} == {0o600}
    assert mode_of(path.parent) == 0o700 and said == []


LOCKS = """
import fcntl, os, sys
for path in sys.argv[1:]:
    try:
        handle = os.open(path, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB, 8, 120)
        print("held", path)
    except OSError as error:
        print(error.strerror)
"""
"""What another user may try with each file: open it, and lock it as SQLite's readers do."""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("shared", [False, True], ids=["own folder", "shared folder"])
def test_another_user_can_lock_none_of_its_files(folder: Path, shared: bool) -> None:
    place = folder if shared else folder / "results"
    folder.chmod(0o1777 if shared else 0o755)
    with Store.open(place / "x.sqlite") as store:
        fill(store)
        tried = subprocess.run(
            [PYTHON, "-c", LOCKS, *(str(place / name) for name in FILES)],
            user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert tried.stdout.splitlines() == ["Permission denied"] * len(FILES)


def test_rights_of_others_are_taken_away_and_that_is_said(folder: Path) -> None:
    path = folder / "x.sqlite"
    with Store.open(path) as store:
        fill(store)
    for name in FILES:
        (folder / name).touch()
        (folder / name).chmod(0o644)
    said: list[str] = []
    with Store.open(path, tell=said.append) as store:
        assert store.trials(RUN_ID) == [trial_record()]
    assert [line.partition(" had rights 0644")[0] for line in said] == [
        str(folder / name) for name in ("x.sqlite", "x.sqlite-wal", "x.sqlite-shm", "x.sqlite.lock")
    ]
    assert mode_of(path) == 0o600


def test_the_usual_folder_of_results_is_tightened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NFVBED_STORE", raising=False)
    monkeypatch.setenv("NFVBED_ROOT", "")  # The verb sets it.
    for name in ("deploy", "vsperf-conf", "vnfd", "flavors"):
        (tmp_path / name).symlink_to(Path(__file__).parents[3] / name)
    (tmp_path / "results").mkdir(mode=0o755)
    run = ["--root", str(tmp_path), "run", "simulated", "--repetitions", "2", "--frame-size", "64"]
    assert main(run) == 0
    assert f"{tmp_path / 'results'} had rights 0755" in capsys.readouterr().err
    assert mode_of(tmp_path / "results") == 0o700
    assert main(run) == 0
    assert "had rights" not in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_measures_in_a_users_folder_is_that_users(folder: Path) -> None:
    os.chown(folder, NOBODY, NOBODY)
    path = folder / "results" / "x.sqlite"
    with Store.open(path) as store:
        fill(store)
        assert {entry.stat().st_uid for entry in (path.parent, *path.parent.iterdir())} == {NOBODY}
    with may_only_read(), Store.open(path, read_only=True) as store:
        assert store.trials(RUN_ID) == [trial_record()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("name", FILES)
def test_what_another_user_put_there_is_not_written_to(folder: Path, name: str) -> None:
    folder.chmod(0o1777)
    with may_only_read():
        (folder / name).touch(mode=0o666)
    with pytest.raises(StoreError, match="another user") as caught:
        Store.open(folder / "x.sqlite")
    assert caught.value.where == str(folder / name) and f"of user {NOBODY}" in caught.value.observed


@pytest.mark.parametrize("name", ["x.sqlite-wal", "x.sqlite.lock"])
def test_a_link_beside_the_file_is_not_followed(folder: Path, name: str) -> None:
    (folder / "precious").write_text("precious")
    (folder / name).symlink_to(folder / "precious")
    with pytest.raises(StoreError):
        Store.open(folder / "x.sqlite")
    assert (folder / "precious").read_text() == "precious"


def test_a_link_to_the_results_is_its_owners_to_make(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "x.sqlite").symlink_to(folder / "elsewhere" / "real.sqlite")
    with Store.open(folder / "x.sqlite") as store:
        fill(store)
    assert mode_of(folder / "elsewhere" / "real.sqlite") == 0o600


def test_a_folder_in_which_everybody_may_write_is_spoken_of(folder: Path) -> None:
    folder.chmod(0o777)
    said: list[str] = []
    Store.open(folder / "x.sqlite", tell=said.append).close()
    assert [line for line in said if f"all users may write in {folder}" in line]


def test_a_copy_is_for_others_and_holds_up_nobody(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, copy = folder / "results" / "x.sqlite", folder / "shared" / "copy.sqlite"
    copy.parent.mkdir()
    monkeypatch.setenv("NFVBED_STORE", str(path))
    with Store.open(path) as store:
        fill(store)
        assert main(["export", "--format", "sqlite", "--output", str(copy)]) == 0
        with may_only_read():
            lock = os.open(copy, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_SH)
            with Store.open(copy, read_only=True) as read:
                assert read.trials(RUN_ID) == [trial_record()]
        store.add_trial(trial_record(sequence=2))
        assert main(["export", "--format", "sqlite", "--output", str(copy)]) == 0
        os.close(lock)
    with may_only_read(), Store.open(copy, read_only=True) as read:
        assert len(read.trials(RUN_ID)) == 2
    assert [entry.name for entry in copy.parent.iterdir()] == ["copy.sqlite"] and mode_of(copy) == 0o644
    assert capsys.readouterr().err == ""


def test_a_copy_that_cannot_be_written_leaves_the_old_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, copy = folder / "x.sqlite", folder / "copy.sqlite"
    with Store.open(path) as store:
        fill(store)
    copy.write_text("before")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", fails)
    with Store.open(path, read_only=True) as store, pytest.raises(StoreError, match="could not be written"):
        store.copy_to(copy)
    assert copy.read_text() == "before" and not list(folder.glob(".copy*"))


@pytest.mark.parametrize(
    "arguments", [(), (RUN_ID, "--output", "x"), ("--output", "-")], ids=["no file", "one run", "a stream"]
)
def test_a_copy_is_of_all_runs_into_a_file(arguments: tuple[str, ...]) -> None:
    assert main(["export", "--format", "sqlite", *arguments]) == 2


def test_an_export_that_cannot_be_written_leaves_the_old_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NFVBED_STORE", str(folder / "x.sqlite"))
    with Store.open(folder / "x.sqlite") as store:
        digest = store.put_blob("host", {"cpu": "x"})
        store.start_run(run_record(host_hash=digest, plan_hash=digest))
    (folder / "e.json").write_text("before")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "rename", fails)
        assert main(["export", RUN_ID, "--output", str(folder / "e.json")]) == 30
    assert "No space left" in capsys.readouterr().err
    assert (folder / "e.json").read_text() == "before" and not list(folder.glob(".e.json*"))
    assert main(["export", RUN_ID, "--output", str(folder / "e.json")]) == 0
    assert RUN_ID in (folder / "e.json").read_text()
