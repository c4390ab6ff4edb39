"""A store on a database server: several writers, a server that dies, and what is said when it is not there."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.errors import BusyError, ConfigurationError, StoreError
from nfvbed.records import Status, TrialRecord
from nfvbed.store import Store
from nfvbed.store.connect import LONGEST_STATEMENT_S
from nfvbed.store.rows import histogram_rows
from tests.dashboard_runs import two_variants
from tests.postgresql import OWNER, PASSWORD, Server
from tests.sample_records import RUN
from tests.stores import Databases
from tests.unit.dashboard.conftest import NOW
from tests.unit.store.store_records import (
    RUN_ID,
    cell_record,
    result_record,
    run_record,
    trial_record,
)

pytestmark = pytest.mark.xdist_group("postgresql")

OTHER_RUN = "01890a5d-ac96-774b-bcce-b302099a9999"
TRIALS = 60
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session", name="databases")
def _databases(server: Server) -> Databases:
    return Databases(server)


@pytest.fixture(name="mortal")
def _mortal() -> Iterator[Server]:
    """A server of this test's own, with the settings of one in use."""
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.close()


def write_run(place: str, run: str, trials: range) -> None:
    """Write trials as a testbed does."""
    with Store.open(place) as store:
        if trials.start == 1:
            store.put_blob("plan", {"the": "same"})
            store.start_run(run_record(id=run))
            store.add_cell(cell_record(run=run))
        else:
            store.reopen_run(run)
        for sequence in trials:
            store.add_trial(trial_record(run=run, sequence=sequence))
        store.add_result(result_record(run=run, round=trials.start))
        store.finish_run(run, Status.OK)


def test_two_testbeds_write_at_once_from_the_first_moment(databases: Databases) -> None:
    """Also when neither of them finds the tables there."""
    place = databases.blank()
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=write_run, args=(place, run, range(1, TRIALS + 1))) for run in (RUN_ID, OTHER_RUN)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    with Store.open(place, read_only=True) as store:
        assert {run.id: run.status for run in store.runs()} == {RUN_ID: Status.OK, OTHER_RUN: Status.OK}
        for run in (RUN_ID, OTHER_RUN):
            assert store.trials(run) == [trial_record(run=run, sequence=n) for n in range(1, TRIALS + 1)]
            assert len(store.results(run)) == 1
        assert store.writer() is None


def test_a_run_is_written_by_one_alone(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfvbed.store.serverlock.PATIENCE_S", 0.2)
    place = databases.new()
    with Store.open(place) as one, Store.open(place) as other:
        one.start_run(run_record())
        other.start_run(run_record(id=OTHER_RUN))
        with pytest.raises(BusyError, match=f"another nfvbed writes run {RUN_ID}") as caught:
            other.reopen_run(RUN_ID)
        assert caught.value.observed.startswith("nfvbed, process ")
        one.finish_run(RUN_ID, Status.INTERRUPTED, "Ctrl-C")
        assert one.writer(RUN_ID) is None and one.writer(OTHER_RUN) is not None
        other.reopen_run(RUN_ID)
        assert other.writer(RUN_ID) is not None


def test_a_writer_that_died_holds_nothing(databases: Databases) -> None:
    place = databases.new()
    dying = Store.open(place)
    dying.start_run(run_record())
    with Store.open(place, read_only=True) as reader:
        assert reader.writer(RUN_ID) is not None
        dying.close()  # The server sees the same when the process dies: a session that ends.
        while reader.writer(RUN_ID) is not None:
            pass
    with Store.open(place) as store:
        store.reopen_run(RUN_ID)


def test_nobody_migrates_under_a_writer(databases: Databases) -> None:
    place = databases.new()
    with Store.open(place):
        databases.server.execute("UPDATE alembic_version SET version_num = '0005'", place.split("?")[0].split("/")[-1])
        with pytest.raises(BusyError, match="older format, and others write") as caught:
            Store.open(place)
        assert "wait until they end" in caught.value.fix


def test_a_server_that_is_killed_loses_nothing(mortal: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It dies after the trial's row and before its histograms: the trial is not there, all before it are."""

    def killing(trial: TrialRecord) -> list[dict[str, Any]]:
        if trial.sequence == 3:
            mortal.kill()
        return histogram_rows(trial)

    place = mortal.url(mortal.database())
    monkeypatch.setattr("nfvbed.store.store.histogram_rows", killing)
    with Store.open(place) as store, Store.open(place, read_only=True) as reader:
        store.start_run(run_record())
        store.add_cell(cell_record())
        written = [trial_record(sequence=sequence) for sequence in (1, 2)]
        for trial in written:
            store.add_trial(trial)
        assert reader.trials(RUN_ID) == written
        with pytest.raises(StoreError, match="trial 3 of .* could not be stored") as died:
            store.add_trial(trial_record(sequence=3))
        assert "start the database server" in died.value.fix and "--resume" in died.value.fix
        with pytest.raises(StoreError):
            store.add_trial(trial_record(sequence=3))
        with pytest.raises(StoreError):
            reader.trials(RUN_ID)
        monkeypatch.undo()
        mortal.start()
        assert reader.trials(RUN_ID) == written
        store.add_trial(trial_record(sequence=3))
        assert store.writer(RUN_ID) is not None, "its locks are taken again"
        store.finish_run(RUN_ID, Status.FAILED, "the server died")
    mortal.stop()
    mortal.start()
    write_run(place, RUN_ID, range(4, 7))
    with Store.open(place, read_only=True) as store:
        assert store.trials(RUN_ID) == [trial_record(sequence=sequence) for sequence in range(1, 7)]
        assert store.run(RUN_ID).status is Status.OK


@pytest.mark.parametrize(
    ("url", "observed", "fix"),
    [
        ("postgresql+psycopg://{user}:{secret}@127.0.0.1:9/x", "refused", "start the database server"),
        ("postgresql://{user}@127.0.0.1:9/x?password={secret}", "refused", "start the database server"),
        ("postgresql+psycopg://guest:{wrong}@/postgres?host={folder}", "authentication failed", "pgpass"),
        ("postgresql+psycopg://nobody-there:{secret}@/postgres?host={folder}", "does not exist", "createuser"),
        ("postgresql+psycopg://{user}:{secret}@/not-there?host={folder}", "does not exist", "createdb"),
    ],
)
def test_what_is_said_of_a_server_that_does_not_let_one_in(
    guarded: Server, url: str, observed: str, fix: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = PASSWORD + "-wrong"
    place = url.format(user=OWNER, secret=PASSWORD, wrong=wrong, folder=guarded.folder)
    for read_only in (True, False):
        with pytest.raises(StoreError) as caught:
            Store.open(place, read_only=read_only)
        error = caught.value
        assert error.exit_code == 30 and "***" in error.where
        assert observed in error.observed and fix in error.fix
        assert PASSWORD not in f"{error}{error.__cause__!r}{caplog.text}"


@pytest.fixture(scope="session", name="guarded")
def _guarded(server: Server) -> Server:
    """The server, with a user who needs a password."""
    server.execute(f"CREATE USER guest PASSWORD '{PASSWORD}'")
    rules = server.folder / "data" / "pg_hba.conf"
    rules.write_text("local all guest scram-sha-256\n" + rules.read_text())
    server.execute("SELECT pg_reload_conf()")
    return server


def test_a_user_with_a_password_comes_in_and_is_told_what_it_may_not(guarded: Server) -> None:
    place = f"postgresql+psycopg://guest:{PASSWORD}@/{guarded.database()}?host={guarded.folder}"
    with pytest.raises(StoreError, match="permission denied") as caught:
        Store.open(place)
    assert "CREATE on its schema" in caught.value.fix
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://user:an0ther-s@ecret@host/db",
        "postgresql+psycopg://user:an0ther-secret@host:port/db",
        "mysql://user:an0ther-secret@host/db",
        "mysql://host/db?password=an0ther-secret",
        "://user:an0ther-secret@host/db",
    ],
)
def test_a_url_that_cannot_be_used_keeps_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Store.open(url)
    shown = f"{caught.value}{caught.value.__cause__!r}"
    assert "an0ther" not in shown and "ecret" not in shown and "***" in shown


def test_the_api_answers_alike_on_both_engines(databases: Databases, tmp_path: Path) -> None:
    places = (str(tmp_path / "nfvbed.sqlite"), databases.new())
    answers = []
    for place in places:
        two_variants(place)
        with Store.open(place, read_only=True) as store:
            app = make_app(store, Access(hosts=("localhost",)), lambda: NOW)
            client = TestClient(app, base_url="http://localhost")
            addresses = ("overview", "runs", f"runs/{RUN}", f"runs/{RUN}/trials?page=2", f"compare?runs={RUN}",
                         f"runs/{RUN}/why?cell=ovs-dpdk/p2p/64", f"runs/{RUN}/doctor")  # fmt: skip
            found = [client.get(f"/api/{address}") for address in addresses]
        assert [answer.status_code for answer in found] == [200] * len(addresses)
        answers.append([_without_times(answer.json()) for answer in found])
    assert answers[0] == answers[1]


def _without_times(value: Any) -> Any:
    """Leave out when a run ended, which is the moment at which the test stored it."""
    if isinstance(value, dict):
        return {key: _without_times(entry) for key, entry in value.items() if key != "ended_at"}
    return [_without_times(entry) for entry in value] if isinstance(value, list) else value


def test_the_driver_is_not_loaded_for_a_file(tmp_path: Path) -> None:
    script = "import sys, nfvbed.store as s; s.Store.open(sys.argv[1]).close(); print('psycopg' in sys.modules)"
    argv = [sys.executable, "-c", script, str(tmp_path / "x.sqlite")]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_statement_of_a_reader_has_an_end(databases: Databases) -> None:
    place = databases.new()
    for read_only, limit in ((True, f"{LONGEST_STATEMENT_S // 60}min"), (False, "0")):
        with Store.open(place, read_only=read_only) as store, store._engine.connect() as connection:
            assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == limit


WAITS = """
import sys
from sqlalchemy import text
from nfvbed.store import Store, queries
def endless(connection, *_):
    print("begun", flush=True)
    return connection.execute(text("SELECT pg_sleep(600)")).all()
queries.runs = endless
from nfvbed.cli.main import main
sys.exit(main(["runs"]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_signal_ends_a_command_that_waits_for_the_server(databases: Databases, number: int, code: int) -> None:
    around = {**os.environ, "NFVBED_STORE": databases.new(), "NFVBED_ROOT": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], cwd=ROOT, env=around, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "begun\n"
            process.send_signal(number)
            assert process.wait(60) == code
        finally:
            process.kill()
