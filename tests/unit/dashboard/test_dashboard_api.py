"""The API: everything that pages show, paged and bounded; errors as problem+json."""

import pytest
from starlette.testclient import TestClient

from nfvbed.store import Store
from tests.dashboard_runs import ELSEWHERE
from tests.sample_records import RUN


def test_the_overview_is_data_too(client: TestClient):
    found = client.get("/api/overview").json()
    assert found["runs"] == 2 and [entry["run"]["id"] for entry in found["newest"]] == [RUN, ELSEWHERE]
    assert found["newest"][0]["age_days"] == 2
    assert {change["verdict"] for change in found["changes"]} <= {"higher", "lower"} and found["changes"]
    assert sum(found["decided"].values()) >= len(found["changes"]) and set(found["decided"]) == {RUN, ELSEWHERE}
    sriov = next(row for row in found["coverage"]["rows"] if row["variant"] == "sriov")
    assert {place["state"] for place in sriov["places"]} == {"unsupported"}


def test_a_run_with_its_cells_and_its_host(client: TestClient):
    found = client.get(f"/api/runs/{RUN[:8]}").json()
    assert found["run"]["state"] == "ok" and found["host"]["kernel"] == "6.18.0"
    by_id = {entry["cell"]["id"]: entry for entry in found["cells"]}
    assert by_id["linux-bridge/p2p/1518"]["trials"] == 0
    assert by_id["linux-bridge/p2p/1518"]["cell"]["status"] == "failed"
    assert sum(entry["trials"] for entry in by_id.values()) == found["extent"]["trials"]


def test_pages_of_trials_are_all_of_them_once_and_have_no_histograms(client: TestClient, store: Store):
    first = client.get(f"/api/runs/{RUN}/trials").json()
    pages = [client.get(f"/api/runs/{RUN}/trials?page={n}").json() for n in range(1, first["pages"]["last"] + 1)]
    trials = [trial for page in pages for trial in page["trials"]]
    assert [trial["sequence"] for trial in trials] == [trial.sequence for trial in store.trials(RUN)]
    assert all(len(page["trials"]) <= 50 for page in pages)
    assert all(trial["latency_hdr"] == [] for trial in trials)
    assert client.get(f"/api/runs/{RUN}/trials?page=9999").json()["trials"] == []


def test_a_comparison_is_that_of_the_command_line(client: TestClient):
    found = client.get(f"/api/compare?runs={RUN}").json()
    assert {row["variant"] for row in found["comparison"]["rows"]} == {"linux-bridge", "ovs-dpdk"}
    assert any(row["common"]["latency"] for row in found["comparison"]["rows"] if row["common"])
    assert client.get(found["figures"][0]["svg"]).text.startswith("<svg")
    one = client.get(f"/api/compare?runs={RUN}&variants=ovs-dpdk").json()
    assert {row["variant"] for row in one["comparison"]["rows"]} == {"ovs-dpdk"}


def test_limits_of_a_row_do_not_depend_on_what_is_shown(client: TestClient):
    def limits(address: str) -> dict[str, list]:
        rows = client.get(address).json()["comparison"]["rows"]
        return {row["cell"]: row["limits"] for row in rows if row["variant"] == "ovs-dpdk"}

    assert limits(f"/api/compare?runs={RUN}") == limits(f"/api/compare?runs={RUN}&variants=ovs-dpdk")


def test_why_has_the_trials_and_the_frames(client: TestClient):
    found = client.get(f"/api/runs/{RUN}/why?cell=ovs-dpdk/p2p/64").json()
    assert found["explanation"]["row"]["cell"] == "ovs-dpdk/p2p/64" and found["explanation"]["trials"]
    frames = {entry["place"]: entry["frames"] for entry in found["frames"]}
    assert frames["sent"] == frames["received"] + frames["lost after sending"]
    assert {entry["result"]["kind"] for entry in found["explanation"]["searches"]} == {"search"}


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/nothing", 404),
        ("/api/runs/no-such", 404),
        (f"/api/runs/{RUN}/why?cell=none", 404),
        ("/api/runs?page=0", 422),
        ("/api/runs?page=1000000000", 422),
        (f"/api/runs/{RUN}/why?cell={'x' * 500}", 422),
        ("/api/compare?" + "&".join(f"variants=v{n}" for n in range(9)), 422),
        ("/api/compare?variants=%3Cscript%3E", 422),
        (f"/api/compare?runs={RUN}&variants=none", 404),
        (f"/api/compare?runs={RUN}&baseline=none", 404),
    ],
)
def test_errors_are_problems(client: TestClient, address: str, status: int):
    answer = client.get(address)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status and found["title"] and found["what"] and found["fix"]


def test_a_person_gets_a_page_instead(client: TestClient):
    answer = client.get("/runs/no-such")
    assert answer.status_code == 404 and answer.headers["content-type"].startswith("text/html")
    assert "There is no run" in answer.text and RUN in answer.text


def test_only_reading_is_possible(client: TestClient):
    for method in ("post", "put", "patch", "delete"):
        assert getattr(client, method)("/api/runs").status_code == 403
        page = {"origin": "http://localhost:8080"}
        assert getattr(client, method)("/api/runs", headers=page).status_code == 405
    described = client.get("/api/openapi.json").json()
    assert {method for path in described["paths"].values() for method in path} == {"get"}
    assert set(described["paths"]) == {
        "/api/overview", "/api/runs", "/api/runs/{name}", "/api/runs/{name}/annotations",
        "/api/runs/{name}/trials", "/api/runs/{name}/why", "/api/runs/{name}/doctor", "/api/compare", "/api/diff",
        "/api/method", "/api/deployments", "/api/trend", "/api/trend/series", "/api/published", "/api/recommend",
    }  # fmt: skip


def test_a_fault_shows_nothing_of_itself(client: TestClient, monkeypatch):
    def fail(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Store, "runs_page", fail)
    answer = client.get("/api/runs")
    assert answer.status_code == 500 and "secret" not in answer.text
    assert answer.headers["content-security-policy"]
