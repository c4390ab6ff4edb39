"""`/healthz` and `/metrics`: who may ask, what Prometheus reads, and that nothing is read during a trial."""

import re
from types import SimpleNamespace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.errors import StoreError
from nfvbed.records.selection import MEASURED
from nfvbed.report.openmetrics import LABELS, metric_unit
from nfvbed.spec.root import find_root
from nfvbed.store import Store
from nfvbed.store.summaries import Part

TOKEN = "0123456789abcdef0123456789abcdef"


def families(text, parse=text_string_to_metric_families):
    return {family.name: family for family in parse(text)}


def asked(store: Store, **access) -> TestClient:
    app = make_app(store, Access(hosts=("localhost",), **access))
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False, follow_redirects=False)


def test_prometheus_reads_what_is_stored(store: Store):
    answer = asked(store).get("/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    found = families(answer.text)
    assert all(name.startswith("nfvbed_") for name in found), "its own prefix"
    assert found["nfvbed_trial_active"].samples[0].value == 0
    assert sum(sample.value for sample in found["nfvbed_runs"].samples) > 0
    rates = found["nfvbed_measured_frames_per_second"].samples
    assert {sample.labels["variant"] for sample in rates} == {"linux-bridge", "ovs-dpdk"}
    assert "nfvbed_process_cpu_seconds" in found
    runs = [run.id for run in store.runs()]
    assert runs and not any(run in answer.text for run in runs), "ids of runs are no labels"


def test_what_grafana_asks_for_is_told(store: Store, monkeypatch):
    """The file of Grafana's dashboard, held against what is told while a run goes on, names and labels alike."""
    runs, number = store.runs_page(Part(limit=10), MEASURED)
    going = [runs[0].model_copy(update={"status": None}), *runs[1:]]
    monkeypatch.setattr(store, "runs_page", lambda *_: (going, number))
    monkeypatch.setattr(store, "writer", lambda run=None: run == going[0].id)
    monkeypatch.setattr("nfvbed.dashboard.metrics.Plans.of", lambda *_: "its plan")
    monkeypatch.setattr("nfvbed.dashboard.metrics.progress_of", lambda *_: SimpleNamespace(done=3, whole=12))
    found = families(asked(store).get("/metrics").text)
    told = {sample.name for family in found.values() for sample in family.samples}
    wanted = set(re.findall(r"\bnfvbed_[a-z_]*[a-z]\b", (find_root(None) / "deploy/grafana/nfvbed.json").read_text()))
    of_tests = {f"nfvbed_measured_{metric_unit(unit)[0]}" for unit in ("s", "cycles/packet")}
    assert len(wanted) > 7 and wanted - told <= of_tests, "all but units that these runs have no figure in"
    measured = found["nfvbed_measured_frames_per_second"].samples
    assert measured and all(set(sample.labels) == set(LABELS) for sample in measured)


def test_openmetrics_is_spoken_too(store: Store):
    answer = asked(store).get("/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert "nfvbed_runs" in families(answer.text, openmetrics)


def test_a_token_is_needed_for_metrics_and_not_for_health(store: Store):
    guarded = asked(store, token=TOKEN)
    assert guarded.get("/metrics").status_code == 401
    assert guarded.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    answer = guarded.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "store": "read"})
    assert guarded.get("/healthz/more").status_code == 303


def test_nothing_is_read_while_a_trial_is_going(store: Store, monkeypatch):
    client = asked(store)
    before = families(client.get("/metrics").text)
    monkeypatch.setattr("nfvbed.dashboard.metrics.trial_is_going", lambda: True)
    monkeypatch.setattr(store, "runs_page", lambda *_: pytest.fail("it reads the store"))
    monkeypatch.setattr("nfvbed.dashboard.metrics.FRESH_S", 0)
    found = families(client.get("/metrics").text)
    assert found["nfvbed_trial_active"].samples[0].value == 1
    for name in ("nfvbed_store_read_timestamp_seconds", "nfvbed_measured_frames_per_second"):
        assert found[name].samples == before[name].samples
    assert client.get("/healthz").json() == {"status": "ok", "store": "not read: a trial is running"}
    fresh = families(asked(store).get("/metrics").text)
    assert "nfvbed_runs" not in fresh, "what was never read is missing, not zero"


def test_a_store_that_cannot_be_read_is_no_health(store: Store, monkeypatch):
    def fail(*_):
        raise StoreError("the runs could not be read", where="/secret/place")

    monkeypatch.setattr(store, "runs_page", fail)
    client = asked(store)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "failed", "store": "cannot be read"})
    assert client.get("/metrics").status_code == 503
