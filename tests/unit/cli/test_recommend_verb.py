"""`recommend` on a store: whose runs, text and JSON, what is refused, and commands that can be run."""

import json
import shlex
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.compare.needs import Need
from nfvbed.compare.recommend import Wanted, recommend
from nfvbed.host.facts import host_facts
from nfvbed.host.topology import read_topology
from nfvbed.store import Store
from nfvbed.store.canonical import content_hash
from tests.sample_records import BRIDGE, HOST, OVS, PVP, SIMULATED, Scenario, build
from tests.sample_runs import examined, plane, run_of, through
from tests.stored_runs import put

SECOND = "01940000-0000-7000-8000-000000000002"


@pytest.fixture(name="results", autouse=True)
def _results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "results.sqlite"
    monkeypatch.setenv("NFVBED_STORE", str(path))
    with Store.open(path) as store:
        put(store, build(Scenario(systems=(BRIDGE, OVS), common_load=True)))
        simulated = build(Scenario(run=SECOND, systems=(SIMULATED,), rounds=6, far_rounds=(), changing=()))
        simulated.host["simulated"] = True
        put(store, simulated)
    return path


def hosts(path: Path) -> dict[str, str]:
    with Store.open(path, read_only=True) as store:
        return {run.id: run.host_hash for run in store.runs()}


def test_of_this_host_there_is_nothing_and_others_are_named(capsys: pytest.CaptureFixture[str], results: Path):
    assert main(["recommend", "--need", "throughput"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("For throughput: not enough data (no run of this host is stored).")
    assert f"host {content_hash(host_facts(read_topology()))[:12]}; 0 runs of it" in out
    assert "Other hosts have runs here (--host):" in out
    assert all(digest[:12] in out for digest in hosts(results).values())
    assert "Example CPU <E5>" in out


def test_the_host_by_the_beginning_of_its_hash(capsys: pytest.CaptureFixture[str], results: Path):
    digest = hosts(results)[build().run.id]
    assert main(["recommend", "--need", "throughput", "--host", digest[:8]]) == 0
    out = capsys.readouterr().out
    assert out.startswith("For throughput: ovs-dpdk, at p2p, 64 B, by maximum receive rate.")
    assert "linux-bridge" in out and "evidence: run 01940000" in out
    assert len(out.splitlines()) <= 40 and max(len(line) for line in out.splitlines()) <= 100


def test_the_host_of_the_newest_run_is_simulated_and_nothing_of_it_is_ranked(capsys: pytest.CaptureFixture[str]):
    assert main(["recommend", "--need", "throughput", "--host", "newest"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("For throughput: not enough data (simulated: not a measurement).")


def test_json_has_the_headline_and_all_that_it_rests_on(capsys: pytest.CaptureFixture[str], results: Path):
    digest = hosts(results)[build().run.id]
    argv = ["recommend", "--need", "latency", "--host", digest, "--frame-size", "1518", "--json"]
    assert main(argv) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == 1 and found["need"] == "latency"
    assert found["headline"].startswith("For latency: ")
    assert found["answer"]["frame_size"] == 1518
    assert {entry["run"] for entry in found["answer"]["ranked"]} == {build().run.id}
    assert found["answer"]["pairs"][0]["judgement"]["p_value"] is not None


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--need", "beauty"], "Invalid value for '--need'"),
        (["--need", "cpu", "--host", "ffff"], "no host begins with 'ffff'"),
        (["--need", "cpu", "--host", ""], "several hosts begin"),
        (["--need", "cpu", "--frame-size", "small"], "'small' is no frame size"),
        (["--need", "cpu", "--site", "nowhere"], "nowhere"),
        ([], "Missing option '--need'"),
    ],
)
def test_bad_input_is_refused(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    assert main(["recommend", *argv]) != 0
    assert said in capsys.readouterr().err


def test_without_results_the_store_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("NFVBED_STORE", str(tmp_path / "none.sqlite"))
    assert main(["recommend", "--need", "cpu"]) != 0
    assert "none.sqlite" in capsys.readouterr().err


REAL = {"linux-bridge": plane("linux-bridge", 5e6, noise=0.1), "ovs-dpdk": plane("ovs-dpdk", 5e6, noise=0.1)}
NATIVE = [system for system in PVP if system.vnf == "native" and system.role.value == "subject"]
CASES = {
    "nothing is stored": (),
    "undecided port to port": (run_of(*REAL.values(), rounds=8),),
    "undecided through a VNF": (run_of(*(through(system) for system in REAL.values()), rounds=8),),
    "undecided without offloads": (
        run_of(*(through(system, "process-io-no-offloads") for system in REAL.values()), rounds=8),
    ),
    "one native": (run_of(NATIVE[0]),),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("need", [Need.THROUGHPUT, Need.RAW_ETHERNET])
def test_every_proposed_command_can_be_run(case: str, need: Need, capsys: pytest.CaptureFixture[str]):
    found = recommend([examined(data) for data in CASES[case]], Wanted(need=need), HOST)
    assert found.proposals
    for proposal in found.proposals:
        program, *argv = shlex.split(proposal.command)
        assert program == "nfvbed"
        assert main([*argv, "--dry-run", "--json"]) == 0, proposal.command
        cells = {cell["id"] for cell in json.loads(capsys.readouterr().out)["cells"] if cell["role"] == "subject"}
        assert {cell.partition("/")[0] for cell in cells} == set(proposal.variants)
        if found.answer is not None and found.answer.ranked:
            answer = found.answer
            path = f"{answer.topology}+{answer.vnf}" if answer.vnf else answer.topology
            size = 1518 if proposal.why == "sockets" else answer.frame_size
            assert cells == {f"{name}/{path}/{size}" for name in proposal.variants}
