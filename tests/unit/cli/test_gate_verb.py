"""`nfvbed gate` on the simulated system: what it measures, says and writes, and how it ends."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nfvbed.cli.main import main
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.run.gatestudy import GateSpec, read_option_set, study_of_gate

PROJECT = open_project(None)


def gate(store: Path, *arguments: str) -> int:
    return main(["gate", "simulated", "--frame-size", "64", "--look", "8", "--store", str(store), *arguments])


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Path:
    return tmp_path / "gate.sqlite"


def test_a_slower_candidate_ends_with_41_and_is_written_for_others(store: Path, capsys: pytest.CaptureFixture[str]):
    files = store.with_suffix(".xml"), store.with_suffix(".md")
    slower = "capacity_pps=3000000,far_capacity_pps=1200000"
    assert gate(store, "--candidate", slower, "--junit", str(files[0]), "--markdown", str(files[1])) == 41
    captured = capsys.readouterr()
    assert "SIMULATED" in captured.out and "slower (margin 3.0%" in captured.out
    assert "the candidate is slower" in captured.err
    suite = ElementTree.fromstring(files[0].read_text())
    assert suite.attrib["failures"] == "1" and suite.find("testcase/failure") is not None
    assert "| p2p/64 | ×0." in files[1].read_text()
    # What was measured is judged again: as before.
    assert main(["gate", "simulated", "--judge", "latest", "--simulated", "--store", str(store)]) == 41
    assert "▼ lower" in said("diff", "latest:baseline", "latest:candidate", store, capsys)


def said(verb: str, before: str, after: str, store: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main([verb, before, after, "--simulated", "--store", str(store)]) == 0
    return capsys.readouterr().out


def test_the_same_passes_and_json_says_by_what(store: Path, capsys: pytest.CaptureFixture[str]):
    assert gate(store, "--candidate", "own", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "not-slower" and found["estimand"] == "mrr" and found["look"] == 8
    assert found["points"][0]["reference_ratio"] == pytest.approx(1, abs=0.02)


def test_a_candidate_is_needed_and_has_a_form():
    with pytest.raises(UsageError, match="no side"):
        read_option_set("no-such-variant", "ovs-dpdk", PROJECT)
    with pytest.raises(UsageError, match="given twice"):
        read_option_set("a=1,a=2", "ovs-dpdk", PROJECT)
    with pytest.raises(UsageError, match="another base"):
        read_option_set("pmd_cores=010", "ovs-dpdk", PROJECT)
    assert read_option_set("pmd_cores=2,x=true", "ovs-dpdk", PROJECT).options == {"pmd_cores": 2, "x": True}
    assert read_option_set("linux-bridge-no-offloads", "linux-bridge", PROJECT).variant == "linux-bridge-no-offloads"


@pytest.mark.parametrize("written", ["3.1", '"3.1"', "'3.1'", " 3.1 "])
def test_a_release_is_a_text_and_a_file_has_to_quote_it(written: str):
    """YAML reads 3.1 as a number, which 3.10 would be too."""
    read = read_option_set(f"release={written},n_rxq=1,emc=false", "ovs-dpdk", PROJECT).options
    assert read == {"release": "3.1", "n_rxq": 1, "emc": False}
    with pytest.raises(ConfigurationError, match="release") as caught:
        study_of_gate(PROJECT, spec("release=3.10"))
    assert "3.10" in f"{caught.value} {caught.value.observed}"


def spec(candidate: str, **around) -> GateSpec:
    sides = [read_option_set(text, "ovs-dpdk", PROJECT) for text in ("own", candidate)]
    return GateSpec(variant="ovs-dpdk", baseline=sides[0], candidate=sides[1], budget_s=60, **around)


def test_baseline_candidate_and_reference_are_variants_of_one_experiment():
    study = study_of_gate(PROJECT, spec("pmd_cores=2"))
    assert [variant.name for variant in study.variants] == ["baseline", "candidate", "reference"]
    cores = [variant.options.model_dump()["pmd_cores"] for variant in study.variants]
    assert cores == [1, 2, 1] and study.experiment.repetitions.looks == (8, 16, 24, 40)


def test_the_throughput_is_searched_in_every_round():
    study = study_of_gate(PROJECT, spec("pmd_cores=2", estimand="pdr", looks=(8,)))
    assert [test.kind for test in study.experiment.tests] == ["search"] and study.experiment.repetitions.needed == 8


def test_options_and_data_planes_are_checked():
    with pytest.raises(ConfigurationError, match="pmd_kores"):
        study_of_gate(PROJECT, spec("pmd_kores=2"))
    with pytest.raises(ConfigurationError, match="one data plane"):
        study_of_gate(PROJECT, spec("linux-bridge"))
