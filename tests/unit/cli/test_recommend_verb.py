"""`recommend` on a store: whose runs, text and JSON, what is refused, and commands that can be run."""

import dataclasses
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from nfvbed.cli.main import main
from nfvbed.cli.proposals import measures_in
from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.recommendation import Recommendation, RecommendationRequest, recommend, unchecked
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.facts import host_facts
from nfvbed.records.selection import MEASURED
from nfvbed.store import Store
from nfvbed.store.canonical import content_hash
from tests.sample_records import BRIDGE, HOST, OVS, PVP, SIMULATED, Scenario, build
from tests.sample_runs import began, doctor, examined, plane, run_of, through
from tests.stored_runs import put

SECOND = "01940000-0000-7000-8000-000000000002"
ELSEWHERE = "01930000-0000-7000-8000-000000000001"


@pytest.fixture(scope="module", name="whole")
def _whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recommend") / "results.sqlite"
    with Store.open(path) as store:
        put(store, build(Scenario(systems=(BRIDGE, OVS), common_load=True)))
        simulated = build(Scenario(run=SECOND, systems=(SIMULATED,), rounds=6, far_rounds=(), changing=()))
        simulated.host["simulated"] = True
        put(store, simulated)
        other = build(Scenario(run=ELSEWHERE, systems=(BRIDGE, OVS), rounds=3))
        other.host["kernel"] = "6.12.9"
        put(store, began(other, "2025-12-02T03:04:05Z"))
    return path


@pytest.fixture(name="results", autouse=True)
def _results(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = shutil.copy(whole, tmp_path / "results.sqlite")
    monkeypatch.setenv("NFVBED_STORE", str(path))
    return path


def hosts(path: Path) -> dict[str, str]:
    with Store.open(path, read_only=True) as store:
        return {run.id: run.host_hash for run in store.runs(MEASURED)}


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


def test_the_newest_run_is_the_newest_measured_one(capsys: pytest.CaptureFixture[str]):
    assert main(["recommend", "--need", "throughput", "--host", "newest"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("For throughput: ovs-dpdk, at p2p, 64 B, by maximum receive rate.")


def test_where_all_is_simulated_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "simulated.sqlite"
    with Store.open(path) as store:
        put(store, build(Scenario(systems=(SIMULATED,), rounds=2)))
    assert main(["--store", str(path), "recommend", "--need", "throughput"]) == 0
    assert "not enough data" in (out := capsys.readouterr().out) and "Not looked at: 1 simulated run." in out
    assert main(["--store", str(path), "recommend", "--need", "throughput", "--host", "newest"]) == 2
    assert "there are no measured runs yet" in capsys.readouterr().err


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
        (["--need", "cpu", "--frame-size", "60"], "'60' is no frame size"),
        (["--need", "cpu", "--topology", "ring"], "unknown topology"),
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
THEIRS = plane("theirs", 9e6)
"""Variant of another project: there is no file of it here."""
NATIVE = [system for system in PVP if system.vnf == "native" and system.role.value == "subject"]
PROJECT = open_project(None)
AVAILABLE = doctor(PROJECT.variant_names)
"""Report of the doctor on a host on which every file could be measured, simulations and guests' NICs too."""
CLEAR = (plane("linux-bridge", 1e6), plane("ovs-dpdk", 9e6))
CASES = {
    "nothing is stored": lambda: (),
    "undecided port to port": lambda: (examined(run_of(*REAL.values(), rounds=8)),),
    "undecided through a VNF": lambda: (examined(run_of(*(through(system) for system in REAL.values()), rounds=8)),),
    "undecided without offloads": lambda: (
        examined(run_of(*(through(system, "process-io-no-offloads") for system in REAL.values()), rounds=8)),
    ),
    "one native": lambda: (examined(run_of(NATIVE[0])),),
    "others are available port to port": lambda: (examined(run_of(*CLEAR), doctor=AVAILABLE),),
    "others are available through a VNF": lambda: (examined(run_of(*map(through, CLEAR)), doctor=AVAILABLE),),
    "one, and others are available": lambda: (examined(run_of(through(CLEAR[0])), doctor=AVAILABLE),),
    "variants of another project": lambda: (examined(run_of(THEIRS, CLEAR[0]), doctor=AVAILABLE),),
    "a VNF that is not known any more": lambda: (
        examined(run_of(*(through(system, "vm-theirs") for system in CLEAR))),
    ),
}
IMPOSSIBLE = ("a VNF that is not known any more", "variants of another project")
ASKED = [{"topology": name, "frame_size": 1518} for name in ("p2p", "pv3p", "v2v", "pcp", "vepc", "ring")] + [
    {"topology": "pvp", "frame_size": size, "flows": flows} for size, flows in ((64, 1000), ("imix", 1), (60, 1))
]
"""What is there, and what is not."""


def require_runnable(found: Recommendation, capsys: pytest.CaptureFixture[str]) -> None:
    """Give every proposed command to the command line: it is planned, at the point and for the variants it names."""
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


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("need", [Need.THROUGHPUT, Need.RAW_ETHERNET])
def test_every_proposed_command_can_be_run(case: str, need: Need, capsys: pytest.CaptureFixture[str]):
    found = recommend(CASES[case](), RecommendationRequest(need=need), HOST, measures_in(PROJECT))
    assert bool(found.proposals) is (case not in IMPOSSIBLE or need is Need.RAW_ETHERNET)
    require_runnable(found, capsys)


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: "-".join(map(str, asked.values())))
def test_no_command_is_proposed_that_would_be_refused(asked: dict[str, Any], capsys: pytest.CaptureFixture[str]):
    found = recommend((), RecommendationRequest(need=Need.THROUGHPUT, **asked), HOST, measures_in(PROJECT))
    require_runnable(found, capsys)
    if not found.proposals:
        assert found.reason.endswith("no two variants here can measure it")


def test_what_a_variant_has_not_is_not_asked_of_it():
    through_a_process = recommend(
        CASES["others are available through a VNF"](),
        RecommendationRequest(need=Need.THROUGHPUT),
        HOST,
        measures_in(PROJECT),
    )
    (proposal,) = [entry for entry in through_a_process.proposals if entry.why == "not-measured"]
    assert "emulated-nic" in through_a_process.not_measured, "it is available, for guests"
    assert proposal.variants[0] == "ovs-dpdk" and "emulated-nic" not in proposal.variants


def test_a_command_is_for_the_site_that_was_measured():
    data = run_of(*(through(system, "vm-io") for system in REAL.values()), rounds=8)
    data = dataclasses.replace(data, run=data.run.model_copy(update={"site": "devcloud"}))
    found = recommend([examined(data)], RecommendationRequest(need=Need.THROUGHPUT), HOST, unchecked)
    assert "--set site=devcloud" in found.proposals[0].command
