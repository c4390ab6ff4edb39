"""Trials that are read by columns are those that are read row by row; what one row has wrong is said of that row."""

import dataclasses
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from nfvbed.errors import DamagedError
from nfvbed.records import NOT_SEPARABLE, CpuTime, QualityWarning, Role, TrialRecord
from nfvbed.store import Store, trialcolumns
from nfvbed.store.damage import read_together
from nfvbed.store.summaries import Part
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.sample_results import with_tests
from tests.stored_runs import put

NUMBERS: TypeAdapter[list[float | None]] = TypeAdapter(list[float | None])


@pytest.fixture(scope="module", name="path")
def _path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of trials of all kinds, of which some have what most have not."""
    path = tmp_path_factory.mktemp("columns") / "nfvbed.sqlite"
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS), rounds=2, common_load=True)))
    first, second, *rest = data.trials
    thread = CpuTime(
        role=Role.SWITCH, core=None, user_ns=NOT_SEPARABLE, system_ns=1, softirq_ns=0, busy_ns=7, source="made up"
    )
    counters = {"raw": {"a": [1, 2.5, None]}}
    first = first.model_copy(update={"cpu": (thread,), "switch_counters": counters, "core_distance_ns": None})
    second = second.model_copy(update={"warnings": (QualityWarning.CPU_STOLEN,), "reason": "\x1b[31mred", "cost": None})
    with Store.open(path) as store:
        put(store, dataclasses.replace(data, trials=(first, second, *rest)))
    return path


@pytest.fixture(name="by_rows")
def _by_rows(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Any]]:
    """Return the rows that are read by themselves from now on."""
    found: list[Sequence[Any]] = []
    read = trialcolumns._trial_of

    def told(row: Sequence[Any], latency_hdr: Any) -> TrialRecord:
        found.append(row)
        return read(row, latency_hdr)

    monkeypatch.setattr(trialcolumns, "_trial_of", told)
    return found


def changed(path: Path, to: Path, column: str, value: object, sequence: int = 2) -> Path:
    """Return a copy of the store in which one value is another."""
    to.write_bytes(path.read_bytes())
    with sqlite3.connect(to) as database:
        database.execute("DROP TRIGGER trial_no_update")
        database.execute(f"UPDATE trial SET {column} = ? WHERE sequence = ?", (value, sequence))
    database.close()
    return to


def test_trials_by_columns_are_those_by_rows(
    path: Path, by_rows: list[Sequence[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(path, read_only=True) as store:
        found = store.trials(RUN)
        part, count = store.trials_page(RUN, None, Part(limit=20))
        assert not by_rows
        monkeypatch.setattr(trialcolumns, "read_together", lambda texts, adapter: 1 / 0)
        each = store.trials(RUN)
    assert len(by_rows) == len(each) == count > 30
    assert found == each
    assert part == [trial.model_copy(update={"latency_hdr": ()}) for trial in found[:20]]
    for one, other in zip(found, each, strict=True):
        assert one.model_fields_set == other.model_fields_set
        assert one.model_dump(mode="json") == other.model_dump(mode="json")
    changed_copy = found[0].model_copy(update={"round": 9})
    assert (changed_copy.round, found[0].round) == (9, each[0].round)


def test_a_text_that_only_looks_like_a_large_number_is_read_with_the_others(
    path: Path, tmp_path: Path, by_rows: list[Sequence[Any]]
) -> None:
    place = changed(path, tmp_path / "x.sqlite", "switch_counters", '{"NaN": "1e99", "id": "e07f"}')
    with Store.open(path, read_only=True) as store, Store.open(place, read_only=True) as other:
        pairs = list(zip(store.trials(RUN), other.trials(RUN), strict=True))
    assert not by_rows
    assert [now.switch_counters for one, now in pairs if one != now] == [{"NaN": "1e99", "id": "e07f"}]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("directions", '[{"sent": "many"}]'),
        ("core_distance_ns", '{"before": NaN, "after": 1}'),
        ("core_distance_ns", '{"before": 1e999, "after": 1}'),
        ("cost", '{"busy_cycles": 99999999999999999999, "packets": 1, "source": ""}'),
        ("warnings", '[], ["cpu-stolen"]'),
        ("warnings", ""),
        ("engine", '{"name": "nfvgen"}'),
        ("started_at", "2025-01-01T00:00:00"),
        ("started_at", "yesterday"),
        ("duration_ns", "long"),
        ("status", "fine"),
    ],
)
def test_the_row_that_cannot_be_read_is_named(path: Path, tmp_path: Path, column: str, value: object) -> None:
    place = changed(path, tmp_path / "x.sqlite", column, value)
    with Store.open(place, read_only=True) as store, pytest.raises(DamagedError) as error:
        store.trials(RUN)
    assert f"table trial, run {RUN}, sequence 2" in error.value.where


def test_counts_of_former_versions_are_corrected_in_their_row(path: Path, tmp_path: Path) -> None:
    with Store.open(path, read_only=True) as store:
        before = store.trials(RUN)
    way = {"intended": 10, "sent": 10, "received": 12, "lost": -2}
    text = TypeAdapter(list[dict[str, int]]).dump_json([way]).decode()
    with Store.open(changed(path, tmp_path / "x.sqlite", "directions", text), read_only=True) as store:
        after = store.trials(RUN)
    (now,) = (other for one, other in zip(before, after, strict=True) if one != other)
    assert (now.sequence, now.directions[0].received, now.directions[0].surplus) == (2, 10, 2)
    assert QualityWarning.LOSS_AT_LEAST in now.warnings


@pytest.mark.parametrize(
    "texts", [["1,2"], ["1", ""], ["", "1,2"], ["NaN"], ["-Infinity"], ["1e999"], ["["], [b"1"], [2]]
)
def test_texts_that_are_not_one_value_each_are_refused(texts: list[Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        read_together(texts, NUMBERS)


def test_an_absent_value_keeps_its_place() -> None:
    assert read_together(["1.5", None, "null", "-2"], NUMBERS) == [1.5, None, None, -2.0]
    assert read_together([], NUMBERS) == []
