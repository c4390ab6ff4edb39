"""The documented views of a store, on both engines: their columns, and numbers that are those of the records."""

import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text

from nfvbed.records import Preset
from nfvbed.records.annotations import Mark
from nfvbed.store import Store
from nfvbed.store.connect import locate
from nfvbed.store.migrate import FORMATS
from nfvbed.store.views import VIEWS_VERSION, views_text
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.sample_results import with_tests
from tests.stored_runs import put

DATA = with_tests(build(Scenario(systems=(BRIDGE, OVS), rounds=3, far_rounds=(), changing=())))
COLUMNS = {
    "nfvbed_views": "version store_format",
    "nfvbed_run": "run experiment site status reason started_at ended_at host_hash label hidden simulated",
    "nfvbed_cell": "run cell variant role topology vnf frame_size flows bidirectional port_kind status reason simulated"
    " rig_hash config_hash",
    "nfvbed_trial": "run sequence cell round preset status started_at duration_ns intended_load_pps offered_load_pps"
    " forwarded_rate_pps sent_frames received_frames lost_frames warnings simulated",
    "nfvbed_visit": "run cell round median_rate_pps trials",
    "nfvbed_result": "run cell round test kind status reason warnings first_sequence last_sequence started_at ended_at"
    " simulated payload",
}
"""A column that goes away, or a new one, is another version: docs/howto/sql.md promises it."""


@pytest.fixture(name="views")
def _views(place: str):
    with Store.open(place) as store:
        put(store, DATA)
        store.say(RUN, {Mark.LABEL: "quiet"}, "somebody")
    engine = create_engine(locate(place).url)
    with engine.connect() as connection:
        for statement in _statements():
            connection.execute(text(statement.replace(":", "\\:")))
        yield connection
    engine.dispose()


def _statements() -> list[str]:
    plain = re.sub(r"--[^\n]*", "", views_text())
    return [statement.strip() for statement in plain.split(";") if statement.strip()]


def rows(connection: Connection, view: str) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(text(f"SELECT * FROM {view}")).mappings()]


def test_views_have_the_columns_that_are_documented(views: Connection):
    found = {view: " ".join(rows(views, view)[0]) for view in COLUMNS}
    assert found == COLUMNS
    assert rows(views, "nfvbed_views") == [{"version": VIEWS_VERSION, "store_format": int(FORMATS[-1])}]


def test_trials_and_visits_have_the_numbers_of_the_records(views: Connection):
    trials = {row["sequence"]: row for row in rows(views, "nfvbed_trial")}
    assert len(trials) == len(DATA.trials)
    for trial in DATA.trials:
        row = trials[trial.sequence]
        assert row["forwarded_rate_pps"] == trial.forwarded_rate_pps
        assert row["lost_frames"] == sum(way.lost for way in trial.directions)
        assert row["sent_frames"] == sum(way.sent for way in trial.directions)
    visits = {(row["cell"], row["round"]): float(row["median_rate_pps"]) for row in rows(views, "nfvbed_visit")}
    rates: dict[tuple[str, int], list[int]] = {}
    for trial in DATA.trials:
        if trial.preset is Preset.MRR:
            rates.setdefault((trial.cell, trial.round), []).append(trial.forwarded_rate_pps)
    assert visits == {key: pytest.approx(median(found)) for key, found in rates.items()}


def test_words_of_people_and_results_are_there(views: Connection):
    [run] = rows(views, "nfvbed_run")
    assert (run["label"], bool(run["hidden"]), bool(run["simulated"])) == ("quiet", False, False)
    assert len(rows(views, "nfvbed_result")) == len(DATA.results)


def test_the_page_names_every_view_and_the_version():
    page = (Path(__file__).parents[3] / "docs" / "howto" / "sql.md").read_text()
    assert all(f"`{view}`" in page for view in COLUMNS)
    assert f"**Version {VIEWS_VERSION}.**" in page
