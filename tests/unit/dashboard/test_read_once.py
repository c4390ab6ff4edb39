"""What a request reads of a store, counted; and that nothing which is kept outlives what it was made from.

An answer is compared with that of a dashboard which has kept nothing.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine
from starlette.testclient import TestClient

from nfvbed.compare.rows.rundata import RunData
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.records import Status, TrialRecord
from nfvbed.records.annotations import Mark
from nfvbed.store import Store, queries, trialcolumns
from tests.sample_runs import began, plane, run_of
from tests.stored_runs import put
from tests.unit.dashboard.conftest import NOW

RUNS = tuple(f"01940000-0000-7000-8000-00000000000{number}" for number in range(3))
ROUNDS = 8


def data_of(number: int) -> RunData:
    systems = plane("fast", 9e6 - 1e5 * number), plane("slow", 4e6), plane("third", 6e6)
    return began(run_of(*systems, run=RUNS[number], rounds=ROUNDS), f"2026-01-0{1 + number}T03:04:05Z")


TRIALS = len(data_of(0).trials)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    """Return a store of two runs."""
    path = tmp_path / "nfvbed.sqlite"
    with Store.open(path) as store:
        for number in (0, 1):
            put(store, data_of(number))
    return path


@pytest.fixture(name="read_trials")
def _read_trials(monkeypatch: pytest.MonkeyPatch) -> list[TrialRecord]:
    """Return the trials that are read of stores from now on."""
    found: list[TrialRecord] = []
    original = trialcolumns.trials_of

    def told(rows: Sequence[Any], latency_hdr: Mapping[int, Any] | None = None) -> list[TrialRecord]:
        trials = original(rows, latency_hdr)
        found.extend(trials)
        return trials

    monkeypatch.setattr(queries, "trials_of", told)
    return found


def of(store: Store) -> TestClient:
    return TestClient(make_app(store, Access(hosts=("localhost",)), lambda: NOW), base_url="http://localhost:8080")


@pytest.fixture(name="store")
def _store(path: Path) -> Iterator[Store]:
    with Store.open(path, read_only=True, migrated=False) as opened:
        yield opened


@pytest.fixture(name="client")
def _client(store: Store) -> TestClient:
    return of(store)


PAIR = f"/compare?runs={RUNS[0]}&runs={RUNS[1]}&variants=fast&variants=slow"
PAGES = (PAIR, PAIR.replace("/compare", "/api/compare"), "/needs", "/", "/api/recommend?need=latency")


def fresh(store: Store, page: str) -> str:
    return of(store).get(page).text


def test_a_comparison_reads_each_trial_of_its_runs_once(client: TestClient, read_trials: list[TrialRecord]) -> None:
    assert client.get(PAIR).status_code == 200
    assert len(read_trials) == 2 * TRIALS
    assert len({(trial.run, trial.sequence) for trial in read_trials}) == 2 * TRIALS
    # Of variants that are not shown no histogram is read.
    assert {trial.cell.split("/")[0] for trial in read_trials if trial.latency_hdr} == {"fast", "slow"}
    read_trials.clear()
    for page in (PAIR, PAIR.replace("/compare", "/api/compare"), PAIR.replace("/compare", "/compare/rows.csv")):
        assert client.get(page).status_code == 200
    assert not read_trials


STATEMENTS = 45
"""SQL statements of a comparison of two runs, whatever their trials are."""


@pytest.mark.parametrize("rounds", [2, 9])
def test_statements_of_a_comparison_do_not_grow_with_trials(tmp_path: Path, rounds: int) -> None:
    path = tmp_path / "nfvbed.sqlite"
    systems = plane("fast", 9e6), plane("slow", 4e6)
    with Store.open(path) as store:
        for run in RUNS[:2]:
            put(store, began(run_of(*systems, run=run, rounds=rounds), "2026-01-01T03:04:05Z"))
    statements: list[str] = []

    def told(*given: Any) -> None:
        statements.append(given[2])

    with Store.open(path, read_only=True, migrated=False) as store:
        client = of(store)
        event.listen(Engine, "before_cursor_execute", told)
        try:
            assert client.get(PAIR).status_code == 200
        finally:
            event.remove(Engine, "before_cursor_execute", told)
    assert len(statements) == STATEMENTS


def test_another_baseline_is_another_comparison(client: TestClient, store: Store) -> None:
    pages = [f"{PAIR}&baseline={name}" for name in ("fast", "slow", "best")]
    shown = [client.get(page).text for page in (*pages, *reversed(pages))]
    assert shown[:3] == shown[:2:-1] == [fresh(store, page) for page in pages]
    assert len(set(shown)) == 3


def test_needs_read_only_what_is_new(
    client: TestClient, store: Store, path: Path, read_trials: list[TrialRecord]
) -> None:
    first = client.get("/needs").text
    assert len(read_trials) == 2 * TRIALS
    read_trials.clear()
    assert client.get("/needs").text == first
    # Their runs were looked at, with latency; what is asked of one need alone reads nothing more.
    for need in ("throughput", "latency", "cpu"):
        assert client.get(f"/api/recommend?need={need}&size=64").status_code == 200
    assert not read_trials
    with Store.open(path) as writer:
        put(writer, data_of(2))
    second = client.get("/needs").text
    assert {trial.run for trial in read_trials} == {RUNS[2]} and len(read_trials) == TRIALS
    assert second == fresh(store, "/needs")


def test_what_is_asked_without_latency_is_not_taken_for_what_has_it(client: TestClient, store: Store) -> None:
    for need in ("cpu", "latency", "jitter"):
        page = f"/api/recommend?need={need}"
        assert client.get(page).json() == of(store).get(page).json()


def test_a_run_that_grows_is_read_again(client: TestClient, store: Store, path: Path) -> None:
    data = data_of(2)
    asked = PAIR.replace(RUNS[1], RUNS[2])
    with Store.open(path) as writer:
        half = [trial for trial in data.trials if trial.round <= ROUNDS // 2]
        host, rigs = (
            writer.put_blob("host", data.host),
            {key: writer.put_blob("rig", rig) for key, rig in data.rigs.items()},
        )
        cells = [cell.model_copy(update={"rig_hash": rigs[cell.rig_hash]}) for cell in data.cells]
        run = data.run.model_copy(update={"host_hash": host, "status": None, "ended_at": None})
        writer.add_run_whole(run, cells, half, ())
        seen = [{page: client.get(page).text for page in (*PAGES, asked)}]
        for trial in data.trials[len(half) :]:
            writer.add_trial(trial)
        seen.append({page: client.get(page).text for page in (*PAGES, asked)})
        assert all(seen[-1][page] == fresh(store, page) for page in (*PAGES, asked))
        writer.finish_run(run.id, Status.OK)
        seen.append({page: client.get(page).text for page in (*PAGES, asked)})
    assert all(seen[-1][page] == fresh(store, page) for page in (*PAGES, asked))
    assert len({shown[asked] for shown in seen}) == 3


def test_a_run_that_is_hidden_or_gone_is_in_no_answer(client: TestClient, store: Store, path: Path) -> None:
    with Store.open(path) as writer:
        put(writer, data_of(2))
        before = {page: client.get(page).text for page in PAGES}
        writer.say(RUNS[2], {Mark.HIDDEN: "yes"}, "ann")
    hidden = {page: client.get(page).text for page in PAGES}
    assert all(hidden[page] == fresh(store, page) for page in PAGES)
    assert RUNS[2] in before["/api/recommend?need=latency"] and RUNS[2] not in hidden["/api/recommend?need=latency"]
    with sqlite3.connect(path) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        for table in ("histogram", "trial", "cell", "annotation", "run"):
            database.execute(f"DELETE FROM {table} WHERE {'id' if table == 'run' else 'run'} = ?", (RUNS[1],))
    database.close()
    for page in PAGES:
        assert client.get(page).text == fresh(store, page)
    assert client.get(PAIR).status_code == 404
