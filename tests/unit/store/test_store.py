"""The store gives back what was put in, and keeps it as it was."""

import json
import signal

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError

from nfvbed.errors import InternalError, StoreError, UnknownNameError
from nfvbed.records import Status, TrialRecord
from nfvbed.records.annotations import Mark
from nfvbed.store import Store, content_hash
from nfvbed.store.connect import locate
from nfvbed.store.rows import trial_row
from tests.stores import Stores
from tests.unit.store.store_records import (
    RUN_ID,
    acknowledgement,
    cell_record,
    fact_record,
    result_record,
    run_record,
    trial_record,
)


@pytest.fixture(name="filled")
def _filled(place: str) -> str:
    with Store.open(place) as store:
        store.start_run(run_record())
        store.add_cell(cell_record())
        store.add_trial(trial_record())
        store.add_result(result_record())
        store.add_fact(fact_record())
        store.put_blob("plan", {"a": 1})
        store.say(RUN_ID, {Mark.NOTE: "a note"}, "ann")
        store.acknowledge(acknowledgement())
    return place


def test_records_come_back_equal(filled: str) -> None:
    with Store.open(filled, read_only=True) as store:
        assert store.runs() == [run_record()]
        assert store.cells(RUN_ID) == [cell_record()]
        assert store.trials(RUN_ID) == [trial_record()]
        assert store.trials(RUN_ID, "ovs-dpdk/p2p/64") == [trial_record()]
        assert store.trials(RUN_ID, "other") == []
        assert store.facts(RUN_ID) == [fact_record()]
        assert store.results(RUN_ID) == [result_record()]


def test_the_mix_and_missing_values_come_back(filled: str) -> None:
    cell = cell_record(id="x/p2p/imix", frame_size="imix", status=Status.UNSUPPORTED, reason="no vhost")
    trial = trial_record(sequence=2, core_distance_ns=None, latency_hdr=(), directions=(), status=Status.FAILED)
    with Store.open(filled) as store:
        store.add_cell(cell)
        store.add_trial(trial)
        assert store.cells(RUN_ID)[1] == cell
        assert store.trials(RUN_ID)[1] == trial


def test_an_interrupt_in_a_transaction_waits_until_it_is_written(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted_row(trial: TrialRecord) -> dict[str, object]:
        signal.raise_signal(signal.SIGINT)
        return trial_row(trial)

    with Store.open(place) as store:
        store.start_run(run_record())
        store.add_cell(cell_record())
        monkeypatch.setattr("nfvbed.store.store.trial_row", interrupted_row)
        with pytest.raises(KeyboardInterrupt):
            store.add_trial(trial_record())
        assert store.trials(RUN_ID) == [trial_record()]


def test_equal_values_are_one_blob_however_they_are_ordered(place: str) -> None:
    with Store.open(place) as store:
        first = store.put_blob("plan", {"b": (1, 2), "a": {"y": None}})
        second = store.put_blob("plan", {"a": {"y": None}, "b": [1, 2]})
        assert first == second == content_hash({"a": {"y": None}, "b": [1, 2]})
        assert store.get_blob(first) == {"a": {"y": None}, "b": [1, 2]}
        with pytest.raises(StoreError, match="no blob"):
            store.get_blob("0" * 64)


def test_a_model_and_its_plain_form_hash_alike() -> None:
    assert content_hash(cell_record()) == content_hash(json.loads(cell_record().model_dump_json()))


@pytest.mark.parametrize("table", ["trial", "blob", "fact", "histogram", "result", "annotation", "acknowledgement"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET {} = {}", "DELETE FROM {}"])
def test_rows_cannot_be_changed_even_from_outside(filled: str, table: str, statement: str) -> None:
    engine = create_engine(locate(filled).url)
    column = {"trial": "reason", "blob": "kind", "fact": "step", "histogram": "encoded", "result": "reason"}.get(
        table, "by"
    )
    with engine.connect() as connection, pytest.raises(IntegrityError, match=f"{table} is append-only"):
        connection.execute(text(statement.format(table, column, "'x'")))
    engine.dispose()


def test_a_run_ends_and_may_be_resumed_but_ok_is_final(filled: str) -> None:
    with Store.open(filled) as store:
        store.finish_run(RUN_ID, Status.INTERRUPTED, "Ctrl-C")
        ended = store.run(RUN_ID)
        assert (ended.status, ended.reason) == (Status.INTERRUPTED, "Ctrl-C")
        assert ended.ended_at is not None
        store.reopen_run(RUN_ID)
        assert store.run(RUN_ID) == run_record()
        store.finish_run(RUN_ID, Status.OK, "")
        for change in (lambda: store.reopen_run(RUN_ID), lambda: store.finish_run(RUN_ID, Status.FAILED, "x")):
            with pytest.raises(StoreError, match="final"):
                change()


def test_a_cell_is_settled_once(filled: str) -> None:
    with Store.open(filled) as store:
        store.set_cell_status(RUN_ID, "ovs-dpdk/p2p/64", Status.BLOCKED, "placement")
        assert store.cells(RUN_ID)[0].status is Status.BLOCKED
        store.set_cell_status(RUN_ID, "ovs-dpdk/p2p/64", Status.OK, "")
        with pytest.raises(StoreError, match="settled once"):
            store.set_cell_status(RUN_ID, "ovs-dpdk/p2p/64", Status.FAILED, "x")
        with pytest.raises(InternalError):
            store.set_cell_status(RUN_ID, "none", Status.OK, "")


def test_a_trial_needs_its_cell_and_its_own_number(filled: str) -> None:
    with Store.open(filled) as store:
        with pytest.raises(StoreError, match="(?i)unique"):
            store.add_trial(trial_record())
        with pytest.raises(StoreError, match="(?i)foreign key"):
            store.add_trial(trial_record(sequence=2, cell="nobody's"))
        assert store.trials(RUN_ID) == [trial_record()]


def test_runs_are_found_by_the_beginning_of_their_id(filled: str) -> None:
    other = "01890a5d-ac96-774b-bcce-b302099a9999"
    with Store.open(filled) as store:
        store.start_run(run_record(id=other, started_at="2024-02-01T00:00:00.000+00:00"))
        assert [run.id for run in store.runs()] == [other, RUN_ID]
        assert store.run("latest").id == other
        assert store.run(RUN_ID).id == RUN_ID
        assert store.run(RUN_ID[:-3]).id == RUN_ID
        with pytest.raises(UnknownNameError, match="several runs are named '0189'"):
            store.run("0189")
        with pytest.raises(UnknownNameError, match="there is no run 'zz'"):
            store.run("zz")


def test_an_exported_run_is_the_same_elsewhere(stores: Stores) -> None:
    from nfvbed.errors import ConfigurationError
    from nfvbed.store.transfer import export_run, import_run, read_run

    with Store.open(stores.new()) as store:
        digest = store.put_blob("host", {"cpu": "x"})
        run = run_record(host_hash=digest, plan_hash=digest, status=Status.OK, ended_at="2024-01-01T00:02:00.000+00:00")
        store.start_run(run)
        store.add_cell(cell_record(config_hash=digest, rig_hash=""))
        store.add_trial(trial_record())
        store.add_result(result_record())
        store.add_fact(fact_record())
        document = export_run(store, run)
    assert document.results == (result_record(),)
    text = document.model_dump_json()
    with Store.open(stores.new()) as store:
        import_run(store, read_run(text, "e.json"))
        assert export_run(store, run) == document
        with pytest.raises(StoreError, match="has run .* already"):
            import_run(store, document)
    with pytest.raises(ConfigurationError, match="not what its hash says"):
        read_run(text.replace('"cpu":"x"', '"cpu":"y"'), "e.json")
    with pytest.raises(ConfigurationError, match="no run that nfvbed exported"):
        read_run("{}", "e.json")


def test_a_test_has_one_result_in_a_round(filled: str) -> None:
    with Store.open(filled) as store:
        store.add_result(result_record(round=2, status=Status.BLOCKED, reason="no PDR", first_sequence=None))
        with pytest.raises(StoreError):
            store.add_result(result_record(placement_class="far"))
        with pytest.raises(StoreError):
            store.add_result(result_record(cell="none/p2p/64"))
        first, second = store.results(RUN_ID)
        assert first.key == (1, "ovs-dpdk/p2p/64", "search")
        assert (first.holds(2), first.holds(9), first.holds(10), second.holds(2)) == (True, True, False, False)


def test_results_that_end_in_one_millisecond_keep_their_order(place: str) -> None:
    names = ("z", "a", "m", "b")
    with Store.open(place) as store:
        store.start_run(run_record())
        store.add_cell(cell_record())
        for name in names:
            store.add_result(result_record(test=name))
        assert [result.test for result in store.results(RUN_ID)] == list(names)
