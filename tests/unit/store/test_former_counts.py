"""Runs of former versions, whose generators counted more frames back than were sent: read, and shown for what they are.

Their rows are in the store as those versions wrote them, and stay so.
"""

import dataclasses
import json
from pathlib import Path

import pytest
from sqlalchemy import create_engine, insert, text

from nfvbed.compare.comparison import compare
from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import QualityWarning, TrialRecord
from nfvbed.records.results import ResultKind
from nfvbed.report.history import History
from nfvbed.search.result import SearchResult
from nfvbed.store import Store
from nfvbed.store.rows import histogram_rows, trial_row
from nfvbed.store.schema import HISTOGRAM, TRIAL
from nfvbed.store.transfer import read_run
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.sample_results import with_tests
from tests.stored_runs import put

DOUBTFUL = (QualityWarning.DUPLICATED, QualityWarning.LOSS_AT_LEAST)


def of_ovs(records):
    return [one for one in records if one.cell.startswith(f"{OVS.name}/")]


def as_stored(trial: TrialRecord) -> dict:
    """Return a row of a former version: of each frame that was sent two were counted, and the loss is below zero."""
    row = trial_row(trial)
    for way in row["directions"]:
        way |= {"received": 2 * way["sent"], "lost": -way["sent"]}
    duration_s = trial.duration_ns / 1e9
    return row | {"forwarded_rate_pps": round(2 * sum(way["sent"] for way in row["directions"]) / duration_s)}


@pytest.fixture(name="data")
def _data() -> RunData:
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS))))
    own = next(trial.sequence for trial in reversed(data.trials) if trial.cell.startswith(f"{OVS.name}/"))
    # The searches of Open vSwitch took such a trial.
    took = {"first_sequence": own, "last_sequence": own}
    results = (
        entry.model_copy(update=took) if entry.kind is ResultKind.SEARCH and entry in of_ovs(data.results) else entry
        for entry in data.results
    )
    return dataclasses.replace(data, results=tuple(results))


@pytest.fixture(name="path")
def _path(tmp_path: Path, data: RunData) -> Path:
    """Every trial of Open vSwitch is of a former version."""
    own = {cell.id for cell in data.cells if cell.variant == OVS.name}
    path = tmp_path / "x.sqlite"
    with Store.open(path) as store:
        put(store, dataclasses.replace(data, trials=tuple(t for t in data.trials if t.cell not in own)))
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        for trial in data.trials:
            if trial.cell in own:
                connection.execute(insert(TRIAL).values(**as_stored(trial)))
                if trial.latency_hdr:
                    connection.execute(insert(HISTOGRAM), histogram_rows(trial))
    engine.dispose()
    return path


def read(store: Store, data: RunData) -> RunData:
    return dataclasses.replace(data, trials=tuple(store.trials(RUN)), results=tuple(store.results(RUN)))


def test_trials_are_read_as_they_can_be(path, data):
    with Store.open(path, read_only=True) as store:
        trials = store.trials(RUN)
    offered = {trial.sequence: trial.offered_load_pps for trial in data.trials}
    for trial in of_ovs(trials):
        assert all(way.received == way.sent and way.lost == 0 and way.surplus == way.sent for way in trial.directions)
        assert set(DOUBTFUL) <= set(trial.warnings)
        assert trial.forwarded_rate_pps == pytest.approx(offered[trial.sequence], rel=1e-3)
    assert {trial.cell.partition("/")[0] for trial in trials if trial.has_surplus} == {OVS.name}


def test_no_verdict_rests_on_them(path, data):
    with Store.open(path, read_only=True) as store:
        comparison = compare([read(store, data)])
    rows = [row for row in comparison.rows if row.variant == OVS.name]
    assert rows and all(row.at_most and row.mrr.loss_ratio == 0 and row.mrr.surplus for row in rows)
    judged = [entry for entry in comparison.differences if entry.cell.startswith(OVS.name)]
    assert judged and all(entry.scope.scope is Scope.NOT_COMPARABLE for entry in judged)
    assert all("more frames back than were sent" in entry.scope.reason for entry in judged)


def test_searches_of_them_have_no_throughput(path, data):
    with Store.open(path, read_only=True) as store:
        results = store.results(RUN)
    before = {result.key: result for result in data.results}
    searches = 0
    for result in results:
        mine = [trial for trial in of_ovs(data.trials) if result.holds(trial.sequence)]
        assert (QualityWarning.LOSS_AT_LEAST in result.warnings) is bool(mine)
        if result.kind is ResultKind.SEARCH and result.payload:
            regular = SearchResult.model_validate(result.payload).regular
            assert regular is (SearchResult.model_validate(before[result.key].payload).regular and not mine)
            searches += bool(mine)
    assert searches


def test_no_trend_has_them(path):
    with Store.open(path, read_only=True) as store:
        visits = store.visit_rates(RUN)
        series = History(store).series()
    assert {visit.at_most for visit in of_ovs(visits)} == {True}
    assert {visit.at_most for visit in visits if visit not in of_ovs(visits)} == {False}
    tests = {entry.setting.test for entry in series if entry.setting.variant == OVS.name}
    assert "mrr" not in {name.lower() for name in tests}


def test_an_export_of_a_former_version_is_read_as_its_store_is(path, data):
    former = [as_stored(trial) if trial in of_ovs(data.trials) else trial_row(trial) for trial in data.trials]
    whole = [row | {"latency_hdr": trial.latency_hdr} for row, trial in zip(former, data.trials, strict=True)]
    document = {
        "format": "nfvbed-run/1",
        "run": data.run.model_dump(mode="json"),
        "cells": [cell.model_dump(mode="json") for cell in data.cells],
        "trials": whole,
        "facts": [],
        "results": [result.model_dump(mode="json") for result in data.results],
        "blobs": {},
    }
    found = read_run(json.dumps(document), "a.json")
    with Store.open(path, read_only=True) as store:
        assert (list(found.trials), set(map(repr, found.results))) == (
            store.trials(RUN),
            set(map(repr, store.results(RUN))),
        )


def test_the_rows_stay_as_they_were_written(path):
    with Store.open(path):
        pass
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        count = connection.execute(text("""SELECT count(*) FROM trial WHERE directions LIKE '%"lost": -%'""")).scalar()
    engine.dispose()
    assert count
