"""Recommendations on a page: the order with evidence, what is not known, and what to run."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.compare.recommendation.needs import Need
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.evidence import recommendation
from nfvbed.store import Store
from tests.dashboard_runs import ELSEWHERE, with_series
from tests.sample_records import OVS, RUN


@pytest.mark.parametrize("need", list(Need))
def test_every_need_has_an_answer_or_says_what_is_missing(client: TestClient, need: Need):
    found = client.get(f"/api/recommend?need={need}").json()
    assert found["recommendation"]["need"] == need and found["headline"].startswith(f"For {need}: ")
    page = client.get(f"/recommend?need={need}").text
    assert f'<option value="{need}" selected>' in page
    if not found["recommendation"]["enough"]:
        assert "not enough data" in page and "What to run" in page


def test_the_order_leads_to_its_evidence(client: TestClient):
    page = client.get("/recommend").text
    answer = client.get("/api/recommend").json()["recommendation"]["answer"]
    assert {entry["run"] for entry in answer["ranked"]} == {RUN}
    for entry in answer["ranked"]:
        link = f"/runs/{RUN}/why?cell={entry['cell'].replace('/', '%2F').replace('+', '%2B')}"
        assert f'href="{link}"' in page and client.get(link).status_code == 200
    assert f"/compare?runs={RUN}&amp;variants=" in page
    assert "What would change it" in page and "Costs" in page


def test_traffic_is_chosen_by_the_address(client: TestClient):
    found = client.get("/api/recommend?topology=p2p&frame_size=1518").json()["recommendation"]["answer"]
    assert (found["topology"], found["frame_size"]) == ("p2p", 1518)
    empty = client.get("/recommend?need=throughput&topology=&vnf=&frame_size=&flows=")
    assert empty.status_code == 200, "a form sends its empty fields"
    none = client.get("/recommend?topology=pv4p").text
    assert "not enough data" in none and "<span>run</span> <span>demo</span>" in none


@pytest.mark.parametrize(
    ("query", "status"), [("need=speed", 422), ("flows=x", 422), ("flows=0", 422), ("frame_size=big", 422),
                          ("host=zz", 422), ("host=0123456789", 404)],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(client: TestClient, query: str, status: int):
    answer = client.get(f"/api/recommend?{query}")
    assert answer.status_code == status and answer.json()["fix"]


def test_another_host_is_chosen(client: TestClient, store: Store):
    other = store.run(ELSEWHERE).host_hash
    found = client.get(f"/api/recommend?host={other[:12]}").json()["recommendation"]
    assert found["host_hash"] == other and [run["run"] for run in found["runs"]] == [ELSEWHERE]
    page = client.get(f"/recommend?host={other}").text
    assert f'<option value="{other}" selected>' in page and "Linux 6.12.9" in page


def test_histograms_are_read_where_latency_is_asked_for_and_the_same_again_reads_no_run(store: Store, monkeypatch):
    asked: list[object] = []
    trials = Store.trials

    def note(self, run, cell=None, latency_of=None):
        asked.append(latency_of)
        return trials(self, run, cell, latency_of)

    monkeypatch.setattr(Store, "trials", note)
    client = TestClient(make_app(store, Access(hosts=("localhost",))), base_url="http://localhost")
    for need in ("throughput", "throughput", "latency", "latency"):
        client.get(f"/api/recommend?need={need}")
    assert asked == [(), None]


def test_runs_that_are_too_large_together_are_left_and_named(store: Store, monkeypatch, tmp_path: Path):
    path = tmp_path / "x.sqlite"
    with_series(path, OVS)
    monkeypatch.setattr(recommendation, "MOST_TRIALS", 9)
    with Store.open(path, read_only=True) as small:
        client = TestClient(make_app(small, Access(hosts=("localhost",))), base_url="http://localhost")
        found = client.get("/api/recommend").json()
        assert found["left"] == 3 and len(found["recommendation"]["runs"]) == 1
        assert "3 older runs were not looked at" in client.get("/recommend").text


def test_a_store_without_runs_has_no_recommendation(tmp_path: Path):
    Store.open(tmp_path / "x.sqlite").close()
    with Store.open(tmp_path / "x.sqlite", read_only=True) as empty:
        client = TestClient(make_app(empty, Access(hosts=("localhost",))), base_url="http://localhost")
        for address in ("/recommend", "/trend", "/published"):
            assert client.get(address).status_code == 200
        assert "no run of this host is stored" in client.get("/recommend").text
