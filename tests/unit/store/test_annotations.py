"""Labels, notes and hidden runs: the newest word holds, those before it stay, and runs are found by all their names."""

import json

import pytest

from nfvbed.errors import ConfigurationError, StoreError, UnknownNameError, UsageError
from nfvbed.records.annotations import Mark, Marks
from nfvbed.records.selection import EVERY, MEASURED, SIMULATED, OmittedRuns, Selection
from nfvbed.store import Store
from nfvbed.store.transfer import export_run, import_run, read_run
from tests.stores import Stores
from tests.unit.store.store_records import RUN_ID, acknowledgement, cell_record, run_record, trial_record

OTHER = "01890a5d-ac96-774b-bcce-b302099a9999"
THIRD = "01990a5d-ac96-774b-bcce-b30209000057"


@pytest.fixture(name="several")
def _several(place: str) -> str:
    """Three runs, the newest of them simulated."""
    with Store.open(place) as store:
        for number, run in enumerate((RUN_ID, OTHER, THIRD), start=1):
            store.start_run(run_record(id=run, started_at=f"2024-0{number}-01T00:00:00.000+00:00"))
            store.add_cell(cell_record(run=run, simulated=run == THIRD))
    return place


def test_the_newest_word_holds_and_those_before_it_stay(several: str) -> None:
    with Store.open(several, read_only=True) as store:
        assert store.marks() == {}
        assert store.say(RUN_ID, {Mark.LABEL: "before", Mark.NOTE: " two\nlines "}, "ann").label == "before"
        store.say(RUN_ID, {Mark.LABEL: "before"}, "bob")  # It holds already.
        store.say(RUN_ID, {Mark.HIDDEN: "yes"}, "bob")
        found = store.say(RUN_ID, {Mark.LABEL: "baseline-6.12", Mark.NOTE: ""}, "ann")
        assert found == Marks(label="baseline-6.12", hidden=True) == store.marks()[RUN_ID]
        said = [(entry.mark.value, entry.text, entry.by) for entry in store.annotations(RUN_ID)]
        assert said == [
            ("label", "before", "ann"),
            ("note", "two lines", "ann"),
            ("hidden", "yes", "bob"),
            ("label", "baseline-6.12", "ann"),
            ("note", "", "ann"),
        ]
        assert store.annotations(OTHER) == []
        assert store.say(RUN_ID, {Mark.LABEL: "", Mark.HIDDEN: ""}, "ann") == Marks()
        assert store.labelled("before") == store.labelled("baseline-6.12") == []


def test_it_is_said_while_another_writes(several: str) -> None:
    with Store.open(several) as writer, Store.open(several, read_only=True) as reader:
        reader.say(RUN_ID, {Mark.NOTE: "meanwhile"}, "ann")
        writer.add_trial(trial_record())
        assert writer.marks()[RUN_ID].note == "meanwhile"


BAD = ["latest", RUN_ID, RUN_ID.upper(), "two words", "-x", "a/b", "x" * 41, "ünder"]


@pytest.mark.parametrize("label", BAD)
def test_what_is_no_label_is_refused_and_nothing_is_written(several: str, label: str) -> None:
    with Store.open(several, read_only=True) as store:
        with pytest.raises(UsageError, match="no label for a run"):
            store.say(RUN_ID, {Mark.NOTE: "a note", Mark.LABEL: label}, "ann")
        assert store.annotations() == []


def test_a_label_is_of_one_run_until_it_is_taken_back(several: str) -> None:
    with Store.open(several, read_only=True) as store:
        store.say(RUN_ID, {Mark.LABEL: "best"}, "ann")
        with pytest.raises(UsageError, match="another run has this label") as caught:
            store.say(OTHER, {Mark.LABEL: "best"}, "bob")
        assert RUN_ID in caught.value.observed and f"nfvbed runs {RUN_ID} --no-label" in caught.value.fix
        store.say(RUN_ID, {Mark.LABEL: ""}, "ann")
        store.say(OTHER, {Mark.LABEL: "best"}, "bob")
        assert store.run("best").id == OTHER


def test_of_a_run_that_is_not_there_nothing_is_said(several: str) -> None:
    with Store.open(several, read_only=True) as store, pytest.raises(StoreError):
        store.say("01990a5d-0000-774b-bcce-b30209000057", {Mark.NOTE: "x"}, "ann")


NAMES = [
    (RUN_ID, RUN_ID),
    ("01990", THIRD),  # the first digits
    ("9a8057", RUN_ID),  # the last ones, as pages show them
    ("best", OTHER),
    ("c0ffee", OTHER),  # a label of digits alone
    ("latest", THIRD),
]


@pytest.mark.parametrize(("name", "run"), NAMES)
def test_a_run_is_found_by_all_its_names(several: str, name: str, run: str) -> None:
    with Store.open(several, read_only=True) as store:
        store.say(OTHER, {Mark.LABEL: name if name in ("best", "c0ffee") else "best"}, "ann")
        assert store.run(name).id == run


AMBIGUOUS = [("0189", (RUN_ID, OTHER)), ("57", (RUN_ID, THIRD)), ("0", (RUN_ID, OTHER, THIRD))]


@pytest.mark.parametrize(("name", "runs"), AMBIGUOUS)
def test_what_is_not_clear_lists_the_candidates(several: str, name: str, runs: tuple[str, ...]) -> None:
    with Store.open(several, read_only=True) as store:
        with pytest.raises(UnknownNameError, match=f"several runs are named '{name}'") as caught:
            store.run(name)
        assert {run for run in (RUN_ID, OTHER, THIRD) if run in caught.value.observed} == set(runs)


def test_a_label_that_is_the_end_of_another_id_is_not_clear(several: str) -> None:
    with Store.open(several, read_only=True) as store:
        store.say(OTHER, {Mark.LABEL: RUN_ID[-6:]}, "ann")
        with pytest.raises(UnknownNameError, match="several runs are named"):
            store.run(RUN_ID[-6:])


@pytest.mark.parametrize("name", ["", "zz", "%", "_", "0189%"])
def test_what_is_no_name_finds_nothing(several: str, name: str) -> None:
    with Store.open(several, read_only=True) as store, pytest.raises(UnknownNameError, match="there is no run"):
        store.run(name)


def test_some_of_the_runs_are_meant(several: str) -> None:
    with Store.open(several, read_only=True) as store:
        store.say(OTHER, {Mark.HIDDEN: "yes"}, "ann")
        assert store.simulated_runs() == {THIRD}
        meant = {
            "every": (EVERY, [THIRD, OTHER, RUN_ID]),
            "measured": (MEASURED, [RUN_ID]),
            "simulated": (SIMULATED, [THIRD]),
            "measured, hidden ones too": (Selection(simulated=False), [OTHER, RUN_ID]),
        }
        for selection, ids in meant.values():
            assert [run.id for run in store.runs(selection)] == ids
            if ids:
                assert store.run("latest", selection).id == ids[0]
        assert store.left_out() == OmittedRuns(simulated=1, hidden=1)
        assert store.left_out().words == "1 simulated run and 1 hidden run"
        store.say(RUN_ID, {Mark.HIDDEN: "yes"}, "ann")
        with pytest.raises(UnknownNameError, match="there is no measured run") as caught:
            store.run("latest", MEASURED)
        assert "1 simulated run and 2 hidden runs" in caught.value.observed
        store.say(OTHER, {Mark.HIDDEN: ""}, "ann")
        assert store.run("latest", MEASURED).id == OTHER


def test_a_run_without_a_cell_is_simulated_where_its_host_is(place: str) -> None:
    with Store.open(place) as store:
        host = store.put_blob("host", {"simulated": True, "cpu": "none"})
        real = store.put_blob("host", {"simulated": False, "note": 'a "simulated" word'})
        store.start_run(run_record(host_hash=host))
        store.start_run(run_record(id=OTHER, host_hash=real))
        assert store.simulated_runs() == {RUN_ID}


def test_what_was_said_goes_along_with_a_run(stores: Stores) -> None:
    first, second = stores.new(), stores.new()
    with Store.open(first) as store:
        store.start_run(run_record(plan_hash="", host_hash=""))
        store.say(RUN_ID, {Mark.LABEL: "best", Mark.NOTE: "a note"}, "ann")
        store.say(RUN_ID, {Mark.NOTE: ""}, "bob")
        store.acknowledge(acknowledgement())
        document = export_run(store, store.run(RUN_ID))
        said, acknowledged = store.annotations(), store.acknowledgements()
    with Store.open(second) as store:
        store.start_run(run_record(id=OTHER))
        store.say(OTHER, {Mark.LABEL: "best"}, "cas")
        assert import_run(store, read_run(document.model_dump_json(), "a file")) == (OTHER,), "which has its label"
        assert store.annotations(RUN_ID) == said and store.acknowledgements() == acknowledged
        assert store.marks()[RUN_ID] == Marks(label="best")
        with pytest.raises(UnknownNameError, match="several runs are named 'best'"):
            store.run("best")


def test_an_export_without_words_is_as_before(place: str) -> None:
    with Store.open(place) as store:
        store.start_run(run_record(plan_hash="", host_hash=""))
        written = json.loads(export_run(store, store.run(RUN_ID)).model_dump_json())
    assert "annotations" not in written and "acknowledgements" not in written


ROWS = {
    "cells": cell_record(run=OTHER),
    "trials": trial_record(run=OTHER),
    "acknowledgements": acknowledgement(run=OTHER),
}


@pytest.mark.parametrize("kind", ROWS)
def test_an_import_says_nothing_of_other_runs(place: str, kind: str) -> None:
    with Store.open(place) as store:
        store.start_run(run_record(plan_hash="", host_hash=""))
        written = json.loads(export_run(store, store.run(RUN_ID)).model_dump_json())
    written[kind] = [json.loads(ROWS[kind].model_dump_json())]
    with pytest.raises(ConfigurationError, match="no run that nfvbed exported") as caught:
        read_run(json.dumps(written), "a file")
    assert f"rows of run {OTHER}" in caught.value.observed
