"""`explain` on a store: text, JSON, and names that no cell has."""

import json
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, Scenario, build
from tests.stored_runs import put


@pytest.fixture(name="results", autouse=True)
def _results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.sqlite"
    monkeypatch.setenv("NFVBED_STORE", str(path))
    with Store.open(path) as store:
        put(store, build(Scenario(systems=(BRIDGE, OVS), rounds=8)))


def test_a_row_is_explained_by_the_end_of_its_name(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "latest", "ovs-dpdk/p2p/64", "--baseline", "linux-bridge"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ovs-dpdk/p2p/64 of run ")
    assert "higher: ×" in out and "against linux-bridge/p2p/64" in out
    assert max(len(line) for line in out.splitlines()) <= 100


def test_the_explanation_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "latest", "ovs-dpdk/p2p/64", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["trials"]) == 8 * 2
    assert {trial["use"] for trial in found["trials"]} <= {"matched", "all-states", "given-load"}
    assert found["row"]["cell"] == "ovs-dpdk/p2p/64"


@pytest.mark.parametrize(("cell", "said"), [("ovs-dpdk/pvp/64", "no cell is named"), ("/64", "several cells end")])
def test_an_unknown_cell_is_answered_with_those_of_the_run(cell: str, said: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "latest", cell]) == 10
    error = capsys.readouterr().err
    assert said in error and "linux-bridge/p2p/64, " in error and "ovs-dpdk/p2p/64" in error
    assert "Traceback" not in error
