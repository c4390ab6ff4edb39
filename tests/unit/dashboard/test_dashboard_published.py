"""Published tables: their verdicts, and what was measured here, apart from them."""

import csv
import dataclasses
import io
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from nfvbed.spec.published import publications
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.stored_runs import put

OLDER = "01930000-0000-7000-8000-000000000009"
GBIT = 10**9


def row(streams: int, gbits: float, **more: str) -> MeasuredRow:
    figures = (
        Quantity(name="throughput", value=gbits * GBIT, unit="bit/s", low=0.9 * gbits * GBIT, high=1.1 * gbits * GBIT),
        Quantity(name="retransmits", value=3.0, unit="segments"),
    )
    parameters = {"tool": "iperf3", "streams": streams, **more}
    return MeasuredRow(
        label=f"{streams} streams", parameters=parameters, quantities=figures, sequences=tuple(range(1, 11))
    )


def result(run: str, variant: str, gbits: float, **changed: object) -> ResultRecord:
    rows = (row(4, 2 * gbits, offloads="none"), row(1, gbits, offloads="none"))
    payload = TablePayload(rows=rows).model_dump(mode="json")
    entry = ResultRecord(
        run=run, cell=f"{variant}/p2p/1518", round=1, test="tcp", kind=ResultKind.TCP_THROUGHPUT, payload=payload,
        started_at="2026-01-02T03:10:00Z", ended_at="2026-01-02T03:10:00Z",
    )  # fmt: skip
    return entry.model_copy(update=changed)


def measured(path: Path, *results: ResultRecord) -> Path:
    with Store.open(path) as store:
        for run, began in ((OLDER, "2025-12-01T00:00:00Z"), (RUN, "2026-01-02T00:00:00Z")):
            data = build(Scenario(run=run, systems=(BRIDGE, OVS), rounds=1))
            own = tuple(entry for entry in results if entry.run == run)
            record = data.run.model_copy(update={"started_at": began})
            put(store, dataclasses.replace(data, run=record, results=own))
    return path


def asked(path: Path) -> TestClient:
    store = Store.open(path, read_only=True, migrated=False)
    return TestClient(make_app(store, Access(hosts=("localhost",))), base_url="http://localhost")


def test_the_tables_name_their_source_and_their_experiments_are_there():
    found = publications()[0]
    tables = found.tables[:2]
    assert "KISTI" in found.source and [len(table.columns) for table in tables] == [3, 4]
    assert all(len(column.results) == 10 for table in tables for column in table.columns)
    project = open_project(None)
    for table in tables:
        experiment = project.load_study(table.experiment).experiment
        assert set(experiment.topologies) == {column.topology for column in table.columns}
        assert {column.variant for column in table.columns} == set(experiment.variants)
        (test,) = experiment.tests
        assert (test.kind, test.stream_counts, test.duration_s) == ("tcp-throughput", (1, 2, 3, 4, 5, 6), 60)
        assert test.repetitions == 1 and experiment.repetitions.needed == 10, "a repetition is a round"
    vepc = next(table for table in publications()[1].tables if table.key == "vepc")
    study = project.load_study(vepc.experiment)
    labels = {use.label for use in study.experiment.uses}
    # Beside what was published: a gateway that reads frames, as the published core's do.
    beside = {"process-xdp-gateway-vepc", "process-xdp-gateway-vepc-no-offloads"}
    assert ({column.vnf for column in vepc.columns} - {""}) | beside == labels
    assert not vepc.has_repetitions, "a text states them"


def test_published_results_are_judged_among_themselves(client: TestClient):
    found = client.get("/api/published").json()["publications"][0]
    vswitches = found["tables"][0]
    verdicts = {
        (entry["candidate"], entry["baseline"]): (entry["judgement"]["verdict"], entry["spread"]["verdict"])
        for entry in vswitches["differences"]
    }
    assert verdicts == {
        ("OVS", "Linux bridge"): ("undecided", "undecided"),
        ("OVS-DPDK", "Linux bridge"): ("higher", "steadier"),
        ("OVS-DPDK", "OVS"): ("undecided", "steadier"),
    }
    page = client.get("/published").text
    assert "0.0052" in page and "0.016" in page and "0.087" in page and "covers 96.8 %" in page
    assert "z = 2.53" in page and "never ranked with each other" in page


def test_what_was_not_measured_here_has_its_command(client: TestClient):
    found = client.get("/api/published").json()["publications"][0]
    assert {table["own"] for table in found["tables"]} == {None}
    page = client.get("/published").text
    for name in ("seed-kisti-vswitch", "seed-kisti-sfc"):
        assert f"<span>nfvbed</span> <span>run</span> <span>{name}</span></code>" in page


def test_the_run_that_measured_most_is_beside_the_table_and_in_no_verdict(tmp_path: Path):
    both = [result(OLDER, name, gbits) for name, gbits in (("linux-bridge", 30.0), ("ovs-dpdk", 0.7))]
    client = asked(measured(tmp_path / "x.sqlite", *both, result(RUN, "ovs-dpdk", 0.8)))
    found = client.get("/api/published").json()["publications"][0]
    own = found["tables"][0]["own"]
    assert own["run"] == OLDER and own["machine"].startswith("Example CPU")
    figures = {entry["label"]: entry for entry in own["figures"]}
    assert (figures["Linux bridge"]["value"], figures["OVS-DPDK"]["low"]) == pytest.approx((30.0, 0.63))
    assert figures["Linux bridge"]["repetitions"] == 10, "of the row with one stream"
    assert figures["OVS"]["value"] is None and figures["OVS"]["reason"] == "not among what this run measured"
    assert len(found["tables"][0]["differences"]) == 3
    page = client.get("/published").text
    assert "30.00" in page and f'href="/runs/{OLDER}"' in page and "in place of virtual machines" in page


def test_what_failed_or_was_emulated_has_its_reason_and_no_figure(tmp_path: Path):
    client = asked(
        measured(
            tmp_path / "x.sqlite",
            result(RUN, "linux-bridge", 30.0),
            result(RUN, "ovs-dpdk", 9.0, warnings=(QualityWarning.EMULATED_ACCELERATOR,)),
            result(OLDER, "ovs-dpdk", 9.0, status=Status.UNSUPPORTED, reason="no <iperf3>", payload={}),
        )
    )
    own = client.get("/api/published").json()["publications"][0]["tables"][0]["own"]
    assert own["run"] == RUN
    assert own["figures"][2]["value"] is None and "emulated" in own["figures"][2]["reason"]


def test_published_results_are_files_too(client: TestClient):
    found = client.get("/api/published").json()
    rows = list(csv.DictReader(io.StringIO(client.get(found["csv"]).text)))
    repetitions = [row for row in rows if row["repetition"] != "about"]
    columns = [column for entry in publications() for table in entry.tables for column in table.columns]
    assert (
        len(repetitions) == 70
        and len(rows) == 70 + 2 * sum(column.about is not None for column in columns)
        and rows[0]["value"] == "6.15"
        and "KISTI" in rows[0]["source"]
    )
    assert len(found["figures"]) == sum(len(entry.tables) for entry in publications())
    assert client.get(found["figures"][0]["svg"]).text.startswith("<svg")
    assert client.get(found["figures"][1]["png"]).content.startswith(b"\x89PNG")
    assert client.get("/published/figures/nothing.svg").status_code == 404


def through_a_core(vnf: str, mbits: float, reverse: bool = False) -> ResultRecord:
    """TCP from a UE to the server, or back."""
    found = row(1, mbits / 1000)
    found = found.model_copy(
        update={"parameters": {**found.parameters, **({"direction": "reverse"} if reverse else {})}}
    )
    payload = TablePayload(rows=(found,)).model_dump(mode="json")
    test = "tcp-downlink" if reverse else "tcp-uplink"
    return result(RUN, "linux-bridge", 1.0, cell=f"linux-bridge/vepc+{vnf}/1518", test=test, payload=payload)


def test_a_column_is_of_its_vnf_and_of_what_a_ue_sends(tmp_path: Path):
    native, without = "process-nextepc-vepc", "process-nextepc-vepc-no-offloads"
    results = [through_a_core(native, 300), through_a_core(native, 999, reverse=True), through_a_core(without, 150)]
    path = tmp_path / "x.sqlite"
    with Store.open(path) as store:
        data = build(Scenario(run=RUN, systems=(BRIDGE, OVS), rounds=1))
        cell = next(cell for cell in data.cells if cell.variant == "linux-bridge")
        added = [
            cell.model_copy(update={"id": f"linux-bridge/vepc+{vnf}/1518", "topology": "vepc", "vnf": vnf})
            for vnf in (native, without)
        ]
        put(store, dataclasses.replace(data, cells=(*data.cells, *added), results=tuple(results)))
    client = asked(path)
    tables = client.get("/api/published").json()["publications"][1]["tables"]
    table = next(one for one in tables if one["key"] == "vepc")
    figures = {entry["label"]: entry for entry in table["own"]["figures"]}
    assert figures["virtio and vhost-net"]["value"] == pytest.approx(300)
    assert figures["virtio and vhost-net without checksum and segmentation offloads"]["value"] == pytest.approx(150)
    assert figures["SR-IOV"]["value"] is None
    assert table["differences"] == [], "figures that a text states are never tested"
    page = client.get("/published").text
    assert "about 180" in page and "50–60" in page and "process-nextepc-vepc-no-offloads" in page


def test_a_claim_has_its_verdict_on_the_page(client: TestClient):
    claims = {one["key"]: one for one in client.get("/api/published").json()["claims"]["kisti-2017"]}
    assert claims["two-is-best"]["verdict"] == "not run"
    assert claims["nine-gigabits"]["verdict"] == "cannot be said here"
    page = client.get("/published").text
    assert "A chain loses little up to two VNFs" in page and "nothing of seed-kisti-sfc has run" in page
