"""Rates by visit out of the database, and what people said of steps: kept as it was said."""

import dataclasses
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError

from nfvbed.compare.comparison import compare
from nfvbed.errors import StoreError
from nfvbed.records.acknowledgements import Acknowledgement
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.stored_runs import put

SAID = Acknowledgement(
    setting="a", run=RUN, reason="new kernel", by="ann", at="2026-01-01T00:00:00.000+00:00",
    expires_at="2026-02-01T00:00:00.000+00:00",
)  # fmt: skip


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "x.sqlite"
    with Store.open(path) as store:
        put(store, build(Scenario(systems=(BRIDGE, OVS))))
    return path


def test_rates_of_visits_are_those_of_a_comparison(path: Path):
    rows = {row.cell: row for row in compare([build(Scenario(systems=(BRIDGE, OVS)))]).rows}
    with Store.open(path, read_only=True) as store:
        found = store.visit_rates(RUN)
    assert {entry.cell for entry in found} == set(rows)
    for cell, row in rows.items():
        own = [entry for entry in found if entry.cell == cell]
        assert [entry.round for entry in own] == [visit.round for visit in row.mrr.visits]
        assert [entry.rate_pps for entry in own] == pytest.approx(row.mrr.samples_pps, abs=2)
        assert not any(entry.emulated for entry in own)


def test_visits_with_emulated_guests_say_so(tmp_path: Path):
    system = dataclasses.replace(OVS, emulated=True)
    with Store.open(tmp_path / "x.sqlite") as store:
        put(store, build(Scenario(systems=(system,))))
        assert all(entry.emulated for entry in store.visit_rates(RUN))


def test_what_is_said_is_kept_in_its_order_also_through_a_reader_and_beside_a_writer(path: Path):
    later = SAID.model_copy(update={"reason": "and a new switch"})
    with Store.open(path, read_only=True) as reader, Store.open(path):
        reader.acknowledge(SAID)
        reader.acknowledge(later)
        assert reader.acknowledgements() == [SAID, later]


def test_what_was_said_cannot_be_changed(path: Path):
    with Store.open(path, read_only=True) as store:
        store.acknowledge(SAID)
    for statement in ("UPDATE acknowledgement SET reason = 'x'", "DELETE FROM acknowledgement"):
        with create_engine(f"sqlite:///{path}").connect() as connection, pytest.raises(IntegrityError, match="append"):
            connection.execute(text(statement))


def test_a_word_on_a_run_that_is_not_there_is_refused(path: Path):
    with Store.open(path, read_only=True) as store:
        with pytest.raises(StoreError):
            store.acknowledge(SAID.model_copy(update={"run": "none"}))
        assert store.acknowledgements() == []


def test_a_file_that_is_marked_as_only_to_be_read_is_not_writable(path: Path):
    with Store.open(path, read_only=True) as store:
        assert store.is_writable
        path.chmod(0o444)
        assert not store.is_writable
