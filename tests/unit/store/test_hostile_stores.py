"""A file of another user is no program: nothing in it runs, and what takes too long is ended."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from nfvbed.cli.main import main
from nfvbed.errors import StoreError
from nfvbed.store import Store, bounds
from tests.unit.store.store_records import RUN_ID, cell_record, run_record, trial_record

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
ROOT = Path(__file__).parents[3]


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "x.sqlite"
    with Store.open(path) as store:
        store.start_run(run_record())
        store.add_cell(cell_record())
        store.add_trial(trial_record())
    return path


def view_of_trials(database: sqlite3.Connection) -> None:
    columns = ", ".join(f"i AS {column}" for _, column, *_ in database.execute("PRAGMA table_info(trial)"))
    for name in ("trial_no_update", "trial_no_delete"):
        database.execute(f"DROP TRIGGER {name}")
    database.execute("ALTER TABLE trial RENAME TO was")
    endless = ENDLESS.replace("max(i)", columns)
    database.execute(f"CREATE VIEW trial AS {endless}")


def another_view(database: sqlite3.Connection) -> None:
    database.execute("CREATE VIEW beside AS SELECT 1")


def virtual_table(database: sqlite3.Connection) -> None:
    database.execute("CREATE VIRTUAL TABLE beside USING fts5(text)")


def virtual_annotation(database: sqlite3.Connection) -> None:
    database.execute("DROP TABLE annotation")
    database.execute("CREATE VIRTUAL TABLE annotation USING fts5(id, run, mark, text, by, at)")


def own_trigger(database: sqlite3.Connection) -> None:
    database.execute("CREATE TRIGGER beside AFTER INSERT ON annotation BEGIN DELETE FROM fact; END")


def trigger_of_a_known_name(database: sqlite3.Connection) -> None:
    database.execute("DROP TRIGGER run_no_update")
    database.execute(
        "CREATE TRIGGER run_no_update BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'a'); DELETE FROM fact; END"
    )


def trigger_that_counts(database: sqlite3.Connection) -> None:
    database.execute("DROP TRIGGER run_no_update")
    database.execute(
        f"CREATE TRIGGER run_no_update BEFORE UPDATE ON run WHEN ({ENDLESS}) > 1 BEGIN SELECT RAISE(ABORT, 'a'); END"
    )


def computed_column(database: sqlite3.Connection) -> None:
    database.execute("ALTER TABLE run ADD COLUMN more TEXT AS (hex(zeroblob(400000000)))")


def another_table(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE beside (id INTEGER)")


FOREIGN: dict[str, Callable[[sqlite3.Connection], None]] = {
    "trials are a view": view_of_trials,
    "a view": another_view,
    "a virtual table": virtual_table,
    "annotations are a virtual table": virtual_annotation,
    "a trigger": own_trigger,
    "a trigger of a known name": trigger_of_a_known_name,
    "a trigger whose condition takes forever": trigger_that_counts,
    "a computed column": computed_column,
    "another table": another_table,
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_nfvbed_does_not_make_is_refused(path: Path, what: str) -> None:
    with sqlite3.connect(path) as database:
        FOREIGN[what](database)
    database.close()
    for read_only in (True, False):
        with pytest.raises(StoreError) as caught:
            Store.open(path, read_only=read_only)
        assert caught.value.where == str(path) and caught.value.exit_code == 30


def test_the_schema_can_call_nothing(path: Path) -> None:
    for read_only in (True, False):
        with Store.open(path, read_only=read_only) as store, store._engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA trusted_schema").scalar() == 0


def test_a_value_larger_than_any_is_not_read(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DROP TRIGGER run_no_update")
        database.execute("UPDATE run SET reason = zeroblob(?)", (bounds.LONGEST_VALUE + 1,))
    database.close()
    with Store.open(path, read_only=True) as store, pytest.raises(StoreError, match="could not be read"):
        store.runs()


def test_a_query_that_takes_too_long_is_ended(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_STEPS", 5 * bounds.STEPS_BETWEEN)
    with Store.open(path, read_only=True) as store:
        with pytest.raises(StoreError, match="the runs") as caught, store._transaction("the runs") as connection:
            connection.execute(text(ENDLESS)).all()
        assert "steps" in caught.value.observed and caught.value.where == str(path)
        assert len(store.runs()) == 1, "each transaction has its own budget"


def test_what_still_reads_when_a_store_is_closed_is_ended(path: Path) -> None:
    program = f"""
import threading, time
from sqlalchemy import text
from nfvbed.errors import StoreError
from nfvbed.store import Store
store = Store.open({str(path)!r}, read_only=True)
begun = threading.Event()
def read():
    try:
        with store._transaction("the runs") as connection:
            begun.set()
            connection.execute(text({ENDLESS!r})).all()
    except StoreError:
        print("ended")
thread = threading.Thread(target=read)
thread.start()
begun.wait()
store.close()
thread.join()
"""
    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (found.stdout, found.returncode) == ("ended\n", 0), found.stderr


READER = """
import sys
from sqlalchemy import text
from nfvbed.store import Store, queries
def endless(connection, *_):
    print("begun", flush=True)
    return connection.execute(text(sys.argv[1])).all()
queries.runs = endless
from nfvbed.cli.main import main
sys.exit(main(["runs"]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_signal_ends_a_command_in_a_long_query(path: Path, number: signal.Signals, code: int) -> None:
    around = {**os.environ, "NFVBED_STORE": str(path), "NFVBED_ROOT": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", READER, ENDLESS], cwd=ROOT, env=around, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "begun\n"
            process.send_signal(number)
            assert process.wait(60) == code
        finally:
            process.kill()


@pytest.mark.parametrize("seed", range(12))
def test_a_file_with_garbled_or_missing_pages_is_a_fault_of_the_store(
    path: Path, seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import random

    chance, content = random.Random(seed), bytearray(path.read_bytes())
    if seed % 3 == 0:
        content = content[: chance.randrange(100, len(content))]
    for _ in range(40 if seed % 3 else 0):
        place = chance.randrange(100 if seed % 3 == 1 else 0, len(content))
        content[place : place + 16] = chance.randbytes(16)
    path.write_bytes(content)
    monkeypatch.setenv("NFVBED_STORE", str(path))
    for command in (["runs", "--all"], ["compare", RUN_ID], ["export", RUN_ID], ["trend"]):
        assert main(command) in (0, 10, 30, 40), command
    assert "Traceback" not in capsys.readouterr().err
