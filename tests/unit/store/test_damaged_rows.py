"""A row that nfvbed did not write costs what rests on it: it is named, and the other runs are read."""

import dataclasses
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Column
from starlette.testclient import TestClient

from nfvbed.cli.main import main
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.errors import DamagedError, UnknownNameError
from nfvbed.records.annotations import Mark
from nfvbed.store import Store
from nfvbed.store.damage import parsed
from nfvbed.store.schema import METADATA
from nfvbed.store.summaries import Part
from tests.dashboard_runs import DOCTOR, ELSEWHERE
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.sample_results import with_tests
from tests.stored_runs import put
from tests.unit.dashboard.conftest import NOW
from tests.unit.store.store_records import acknowledgement, fact_record

NO_UTF8 = object()
"""Text of bytes that no text has."""
VALUES = {
    "null": None,
    "bytes": b"\xff\xfe",
    "escape": "\x1b[31mx",
    "largest": 2**63 - 1,
    "negative": -1,
    "zero": 0,
    "huge float": 1e308,
    "no number": "NaN",
    "empty object": "{}",
    "empty list": "[]",
    "list of numbers": "[1]",
    "infinite": '[{"a": 1e999}]',
    "no UTF-8": NO_UTF8,
    "many digits": "9" * 30,
    "many digits within": '{"raw": {"a": 99999999999999999999999999}}',
    "JSON null": "null",
    "deep": "[" * 3000,
}
PER_COLUMN = 2
"""Values that are tried in each column; which ones is drawn by its name."""
COLUMNS: list[Column[object]] = [column for table in METADATA.sorted_tables for column in table.columns]


@pytest.fixture(scope="module", name="whole")
def _whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damaged") / "whole.sqlite"
    with Store.open(path) as store:
        other = build(Scenario(run=ELSEWHERE, systems=(BRIDGE, OVS), rounds=1, seed=2))
        began = {"started_at": "2025-12-02T03:04:05Z"}
        put(store, dataclasses.replace(other, run=other.run.model_copy(update=began)))
        put(store, with_tests(build(Scenario(systems=(BRIDGE, OVS), rounds=1)), rounds=1), DOCTOR)
        store.add_fact(fact_record(run=RUN))
        store.say(RUN, {Mark.LABEL: "before", Mark.NOTE: "a note"}, "ann")
        store.acknowledge(acknowledgement(run=RUN))
    return path


def damage(whole: Path, path: Path, table: str, column: str, value: object, row: int = 0) -> bool:
    """Copy a store and change one value of the newer run; False where the database itself refuses that."""
    path.unlink(missing_ok=True)
    shutil.copyfile(whole, path)
    database = sqlite3.connect(path)
    try:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        of_run = {"run": f"WHERE id = '{RUN}'", "blob": "", "experiment": ""}.get(table, f"WHERE run = '{RUN}'")
        ids = [found for (found,) in database.execute(f'SELECT rowid FROM "{table}" {of_run} ORDER BY rowid')]
        literal = "CAST(x'c3ff28' AS TEXT)" if value is NO_UTF8 else "?"
        given = () if value is NO_UTF8 else (value,)
        database.execute(f'UPDATE "{table}" SET "{column}" = {literal} WHERE rowid = ?', (*given, ids[row % len(ids)]))
        database.commit()
    except sqlite3.IntegrityError:
        return False
    finally:
        database.close()
    return True


READ: dict[str, Callable[[Store], object]] = {
    "runs": lambda store: store.runs(),
    "run": lambda store: store.run(RUN),
    "latest": lambda store: store.run("latest"),
    "cells": lambda store: store.cells(RUN),
    "trials": lambda store: store.trials(RUN),
    "results": lambda store: store.results(RUN),
    "facts": lambda store: store.facts(RUN),
    "annotations": lambda store: store.annotations(),
    "marks": lambda store: store.marks(),
    "acknowledgements": lambda store: store.acknowledgements(),
    "runs page": lambda store: store.runs_page(Part()),
    "extent": lambda store: store.extent(RUN),
    "trials page": lambda store: store.trials_page(RUN, None, Part(limit=10_000)),
    "variants": lambda store: store.variants(RUN),
    "trial counts": lambda store: store.trial_counts(RUN),
    "visit trials": lambda store: store.visit_trials(RUN),
    "visit rates": lambda store: store.visit_rates(RUN),
    "warnings": lambda store: store.mrr_warnings(RUN),
    "coverage": lambda store: store.coverage(),
    "left out": lambda store: store.left_out(),
}
OF_ALL = ("runs", "latest", "annotations", "marks", "acknowledgements", "runs page", "coverage", "left out")
"""What is read of all runs: one that cannot be read is left out of it."""


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_whatever_is_in_a_column_is_read_or_named(whole: Path, tmp_path: Path, column: Column[object]) -> None:
    path = tmp_path / "x.sqlite"
    chance = random.Random(str(column))
    for value in chance.sample(list(VALUES.values()), PER_COLUMN):
        if not damage(whole, path, column.table.name, column.name, value, chance.randrange(100)):
            continue
        with Store.open(path, read_only=True) as store:
            for name, read in READ.items():
                try:
                    read(store)
                except DamagedError as error:
                    assert name not in OF_ALL, f"{name}: {error}"
                    assert "table " in error.where, error
                except UnknownNameError:
                    assert name == "run" and str(column) == "run.id"
            assert store.run(ELSEWHERE).id == ELSEWHERE and store.trials(ELSEWHERE)


CASES = {
    "a run": ("run", "status", "x", f"run {RUN} cannot be read: table run, id {RUN}: status"),
    "a trial": ("trial", "directions", '[{"sent": "many"}]', f"table trial, run {RUN}, sequence"),
    "a cell": ("cell", "port_kind", "x", f"table cell, run {RUN}"),
    "a result": ("result", "payload", "9", f"table result, run {RUN}"),
    "a time": ("run", "started_at", "yesterday", f"table run, id {RUN}"),
    "an annotation": ("annotation", "mark", "x", f"table annotation, run {RUN}"),
    "latency": ("histogram", "encoded", "x", "table histogram, column encoded"),
    "a description": ("blob", "json", '{"changed": 1}', "table blob, sha256"),
}


@pytest.mark.parametrize("case", CASES)
def test_commands_end_with_0_or_30_and_read_the_other_runs(
    whole: Path, tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, column, value, named = CASES[case]
    path = tmp_path / "x.sqlite"
    assert damage(whole, path, table, column, value)
    monkeypatch.setenv("NFVBED_STORE", str(path))
    of_run = (["compare", RUN], ["explain", RUN, "ovs-dpdk/p2p/64"], ["export", RUN])
    recommend = ["recommend", "--need", "throughput", "--host", "newest"]
    of_all = (["runs", "--all"], ["compare"], ["trend"], recommend, ["compare", ELSEWHERE])
    for command in of_all:
        assert main(command) in (0, 40), command
    for command in of_run:
        assert main(command) in (0, 30, 40), command
    said = capsys.readouterr().err
    assert named in said and "Traceback" not in said and "\x1b" not in said


@pytest.mark.parametrize("case", CASES)
def test_pages_of_the_other_runs_are_shown(whole: Path, tmp_path: Path, case: str) -> None:
    table, column, value, _ = CASES[case]
    path = tmp_path / "x.sqlite"
    assert damage(whole, path, table, column, value)
    with Store.open(path, read_only=True, migrated=False) as store:
        app = make_app(store, Access(hosts=("localhost",)), lambda: NOW)
        client = TestClient(app, base_url="http://localhost:8080")
        for page in ("/", "/runs?all=1", f"/runs/{ELSEWHERE}", "/trend", "/recommend?need=throughput", "/api/runs"):
            assert client.get(page).status_code == 200, page
        for page in (f"/runs/{RUN}", f"/compare?runs={RUN}"):
            assert client.get(page).status_code in (200, 503), page
        shown = client.get("/runs?all=1").text
        assert f"Run {RUN} cannot be read" in shown if table == "run" else True


def test_rows_that_cannot_be_read_are_told_once(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    damage(whole, path, "run", "status", "x")
    said: list[str] = []
    with Store.open(path, read_only=True, tell=said.append) as store:
        for _ in range(3):
            assert [run.id for run in store.runs()] == [ELSEWHERE]
        assert [found.run for found in store.unreadable] == [RUN]
    (sentence,) = said
    assert sentence.startswith(f"run {RUN} cannot be read: table run, id {RUN}: status: ")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1e999}',
        '{"a": NaN}',
        "[99999999999999999999]",
        "[9223372036854775808]",
        "[-9223372036854775808]",
        '{"a": {"b": [1.5E20]}}',
        "[1e+30]",
        "[1e30]",
        "{",
        5,
        None,
        b"\xff",
    ],
)
def test_what_is_no_json_of_ours_is_not_parsed(text: object) -> None:
    assert type(parsed(text)).__name__ == "UnparsedValue"


@pytest.mark.parametrize(
    "text", ['{"a": 9223372036854775807}', '["12345678901234567890"]', "1.5", "[1e-30, 2e5]", '"e00"']
)
def test_large_counts_and_texts_of_digits_are_parsed(text: str) -> None:
    assert type(parsed(text)).__name__ != "UnparsedValue"
