"""Exported runs that were edited: ids that lead elsewhere and names that control a terminal are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from nfvbed.cli.main import main
from nfvbed.errors import ConfigurationError
from nfvbed.records import TrialRecord
from nfvbed.store import Store
from nfvbed.store.canonical import content_hash
from nfvbed.store.transfer import import_run, read_run
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.sample_results import with_tests

SAID = {"run": RUN, "by": "ann", "at": "2026-01-02T03:04:05Z"}


@pytest.fixture(scope="module", name="exported")
def _exported() -> str:
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS), rounds=1)))
    blob = {"name": OVS.name, "title": "Open vSwitch with DPDK"}
    host = {"cpu": "of a firmware \x1b"}
    document = {
        "run": data.run.model_dump(mode="json"),
        "cells": [cell.model_dump(mode="json") for cell in data.cells],
        "trials": [trial.model_dump(mode="json") for trial in data.trials],
        "results": [result.model_dump(mode="json") for result in data.results],
        "facts": [{"run": RUN, "cell": None, "round": 1, "step": "deploy", "duration_ns": 1, "detail": {}}],
        "blobs": {
            content_hash(blob): {"kind": "variant", "value": blob},
            content_hash(host): {"kind": "host", "value": host},
        },
        "annotations": [{**SAID, "mark": "label", "text": "before"}, {**SAID, "mark": "note", "text": "a note"}],
        "acknowledgements": [{**SAID, "setting": "a", "reason": "known", "expires_at": "2026-02-01"}],
    }  # fmt: skip
    return json.dumps(document)


def changed(exported: str, place: str, value: Any) -> str:
    """Return the document with another value at a place; the last part of it may be new."""
    document = json.loads(exported)
    *parents, last = place.split(".")
    target = document
    for part in parents:
        target = target[int(part) if isinstance(target, list) else part]
    target[int(last) if isinstance(target, list) else last] = value
    return json.dumps(document)


def refused(text: str) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as failure:
        read_run(text, "run.json")
    return failure.value


def test_the_document_is_fine(exported: str):
    """What programs of the host said may hold anything: a run that was measured there can be imported."""
    assert read_run(exported, "run.json").run.id == RUN


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x9b", "\u202e", "\ufffe"], ids=ascii)
@pytest.mark.parametrize(
    "place",
    ["run.experiment", "run.site", "cells.0.variant", "cells.0.vnf", "facts.0.step", "results.0.test",
     "trials.0.engine.name", "annotations.1.text", "annotations.0.by", "acknowledgements.0.reason"],
)  # fmt: skip
def test_no_name_has_a_control_character(exported: str, place: str, character: str):
    failure = refused(changed(exported, place, f"a{character}b"))
    assert failure.exit_code == 10
    assert place.partition(".")[0] in failure.where
    assert character not in str(failure)


def test_the_place_and_the_character_are_said(exported: str):
    failure = refused(changed(exported, "cells.0.variant", "ovs\x1b[2J"))
    assert (failure.where, failure.observed) == ("run.json at cells.0.variant", r"\u001b")


def test_no_name_in_what_a_variant_was_has_one(exported: str):
    blob = {"name": OVS.name, "title": "Open \x1b[2J"}
    failure = refused(changed(exported, f"blobs.{content_hash(blob)}", {"kind": "variant", "value": blob}))
    assert failure.where == f"run.json at blobs.{content_hash(blob)}.title"


@pytest.mark.parametrize(
    "identifier",
    ["/tmp/elsewhere", "../../elsewhere", "", ".", f"{RUN}/", f"{RUN}\n", f"{RUN}\x00", "A" + RUN[1:], "latest"],
    ids=ascii,
)
def test_a_run_whose_id_is_none_is_refused(exported: str, identifier: str):
    document = json.loads(exported)
    document["run"]["id"] = identifier
    for rows in ("cells", "trials", "results", "facts", "annotations", "acknowledgements"):
        for row in document[rows]:
            row["run"] = identifier
    failure = refused(json.dumps(document))
    assert failure.where == "run.json at run.id"
    assert failure.exit_code == 10


@pytest.mark.parametrize(
    "place",
    ["run.host_hash", "run.plan_hash", "run.doctor_hash", "cells.0.config_hash", "cells.0.rig_hash",
     "cells.0.run", "trials.0.run", "facts.0.run", "results.0.run", "annotations.0.run", "acknowledgements.0.run"],
)  # fmt: skip
def test_no_other_identifier_is_a_path(exported: str, place: str):
    assert refused(changed(exported, place, "../../etc/passwd")).where == f"run.json at {place}"


@pytest.mark.parametrize("text", ["latest", RUN, "no label", "\x1b"], ids=ascii)
def test_an_imported_label_is_one_that_could_have_been_given(exported: str, text: str):
    failure = refused(changed(exported, "annotations.0.text", text))
    assert failure.where == "run.json at annotations"
    assert "no label for a run" in failure.observed


def test_a_reason_is_kept_with_escapes(exported: str, tmp_path: Path):
    """It may quote a console: the run can be imported, and what controls a terminal is in no store."""
    reason = "the guest printed: \x1b[2J\x07 login\x9b"
    document = read_run(changed(exported, "trials.0.reason", reason), "run.json")
    with Store.open(tmp_path / "x.sqlite") as store:
        import_run(store, document)
        kept = next(iter(store.trials(RUN))).reason
    assert kept == r"the guest printed: \u001b[2J\u0007 login\u009b"
    assert TrialRecord.model_validate(document.trials[0].model_dump()).reason == kept, "and is the same again"


def test_half_a_character_is_refused(exported: str):
    text = exported.replace('"experiment": "demo"', '"experiment": "de\\ud800mo"')
    assert text != exported
    assert refused(text).exit_code == 10


def test_nothing_is_written_where_an_id_leads(exported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("NFVBED_STORE", str(tmp_path / "x.sqlite"))
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "run.json").write_text(changed(exported, "run.id", str(elsewhere)))
    assert main(["import", str(tmp_path / "run.json")]) == 10
    assert main(["import", "--dry-run", str(tmp_path / "run.json")]) == 10
    assert "run.json at run.id" in capsys.readouterr().err
    assert not elsewhere.exists()
