"""The dashboard's pages and its API have the headline of every kind of test, and the marks of every number."""

import csv
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.records.headlines import HEADLINES
from nfvbed.records.quality import QualityWarning
from nfvbed.records.results import ResultKind
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.sample_results import DECOY, headline_value, of_every_kind
from tests.stored_runs import put

pytestmark = pytest.mark.xdist_group("dashboard_headlines")  # One worker makes what they share.

MARKS = (QualityWarning.EMULATED_ACCELERATOR, QualityWarning.CORES_SHARED)
STOLEN = QualityWarning.CPU_STOLEN


@pytest.fixture(scope="module", name="marked")
def _marked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    path: Path = tmp_path_factory.mktemp("headlines") / "nfvbed.sqlite"
    scenario = Scenario(systems=(BRIDGE, OVS), rounds=3, far_rounds=(), changing=(), warnings=(("ovs", STOLEN),))
    with Store.open(path) as store:
        put(store, of_every_kind(build(scenario), MARKS))
    with Store.open(path, read_only=True, migrated=False) as opened:
        app = make_app(opened, Access(hosts=("localhost",)), lambda: datetime(2026, 1, 4, tzinfo=UTC))
        yield TestClient(app, base_url="http://localhost:8080")


@pytest.fixture(scope="module", name="compared")
def _compared(marked: TestClient) -> str:
    """The page of its comparison."""
    return marked.get(f"/compare?runs={RUN}").text


def rows_of(page: str) -> list[str]:
    """Return the text of every row of a page's tables."""
    return [unescape(re.sub(r"<[^>]+>", " ", row)) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.DOTALL)]


@pytest.mark.parametrize("kind", [kind for kind in ResultKind if kind.is_table], ids=lambda kind: kind.value)
def test_the_page_has_a_headline_before_all_else_with_its_marks(compared: str, kind: ResultKind) -> None:
    (row,) = [row for row in rows_of(compared) if f"condition of {kind.value} " in row]
    places = [row.index(f"{headline_value(kind, place):g}") for place in range(len(HEADLINES[kind]))]
    assert places == sorted(places)
    assert DECOY not in row or row.index(DECOY) > places[-1]
    assert all(mark.value in row for mark in MARKS)


def test_the_api_names_what_is_read_first_and_what_calls_it_into_question(marked: TestClient) -> None:
    comparison = marked.get(f"/api/compare?runs={RUN}").json()["comparison"]
    told = {test["result"]["kind"]: test for test in comparison["tests"]}
    assert set(told) == {kind.value for kind in ResultKind}
    for kind in ResultKind:
        assert told[kind.value]["headline"] == list(HEADLINES[kind])
        assert told[kind.value]["result"]["warnings"] == [mark.value for mark in MARKS]
    lines = list(csv.DictReader(io.StringIO(marked.get(f"/compare/tests.csv?runs={RUN}").text)))
    assert all(set(line["warnings"].split()) >= {mark.value for mark in MARKS} for line in lines)
    flagged = {(line["kind"], line["quantity"]) for line in lines if line["headline"] == "1"}
    assert flagged == {(kind.value, name) for kind in ResultKind if kind.is_table for name in HEADLINES[kind]}


def test_a_rate_has_its_marks_on_every_page_that_shows_it(marked: TestClient, compared: str) -> None:
    (tile,) = [
        tile for tile in re.findall(r'<li class="tile">(.*?)</li>', compared, re.DOTALL) if "p2p, 1518 B" in tile
    ]
    (bar,) = [row for row in rows_of(tile) if "ovs-dpdk" in row]
    (letter,) = re.findall(r"Mpps\s+([A-Za-z]+)", bar)
    assert any(re.search(rf"<li>{one} cpu-stolen: ", compared) for one in (letter[0], letter[-1]))
    why = marked.get(f"/runs/{RUN}/why?cell=ovs-dpdk/p2p/1518").text
    assert "cpu-stolen: measuring threads had to wait for their cores (all)" in unescape(why)
    trials = marked.get(f"/runs/{RUN}?cell=ovs-dpdk/p2p/1518").text
    of_cell = [row for row in rows_of(trials) if "ovs-dpdk/p2p/1518" in row and "mrr" in row]
    assert of_cell and all("cpu-stolen" in row for row in of_cell)
