"""Files become frozen models; the root is found as documented."""

import os
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.records import PortKind
from nfvbed.spec.root import find_root

ROOT = Path(__file__).parents[3]


def test_every_file_of_the_project_is_valid() -> None:
    project = open_project(ROOT)
    assert {variant.name for variant in project.list_variants()} == set(project.variant_names)
    assert {project.load_site(name).name for name in project.site_names} == set(project.site_names)
    for name in (path.stem for path in project.experiments_folder.glob("*.yml")):
        assert project.load_study(name).experiment.name == name


def test_a_study_holds_the_variants_in_the_experiments_order() -> None:
    study = open_project(ROOT).load_study("demo")
    assert tuple(variant.name for variant in study.variants) == study.experiment.variants
    assert study.variants[0].port_kind is PortKind.VETH
    assert study.site.name == "lab"
    assert not study.simulated


def test_overrides_take_the_place_of_the_files_values() -> None:
    overrides = {"variants": ("ovs-dpdk",), "frame_sizes": [128, "imix"], "repetitions.needed": 2}
    experiment = open_project(ROOT).load_study("demo", overrides).experiment
    assert experiment.variants == ("ovs-dpdk",)
    assert experiment.frame_sizes == (128, "imix")
    assert (experiment.repetitions.needed, experiment.repetitions.max_rounds) == (2, 12)
    assert experiment.baseline is None, "the file's baseline is not among the variants that were picked"


@pytest.mark.parametrize("picked", [5, True, None, {"a": 1}, "ovs-dpdk", [5]])
def test_a_pick_that_is_no_list_of_names_is_reported(picked: object) -> None:
    with pytest.raises(ConfigurationError, match="variants.* is not valid in demo.yml") as caught:
        open_project(ROOT).load_study("demo", {"variants": picked})
    assert caught.value.where.startswith("command line, variants")


def test_an_experiment_may_be_a_file_anywhere(tmp_path: Path) -> None:
    text = (ROOT / "vsperf-conf" / "experiments" / "demo.yml").read_text()
    (tmp_path / "mine.yml").write_text(text.replace("name: demo", "name: mine"))
    assert open_project(ROOT).load_study(tmp_path / "mine.yml").experiment.name == "mine"


def test_the_root_that_is_named_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, here = tmp_path / "named", tmp_path / "here"
    for folder in (named, here):
        (folder / "deploy" / "variants").mkdir(parents=True)
    monkeypatch.chdir(here)
    assert find_root(named, {"NFVBED_ROOT": str(here)}) == named
    assert find_root(None, {"NFVBED_ROOT": str(named)}) == named
    assert find_root(None, {}) == ROOT


def test_a_root_without_data_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        find_root(tmp_path, {})
    assert caught.value.where == f"--root {tmp_path}"
    with pytest.raises(ConfigurationError) as caught:
        find_root(None, {"NFVBED_ROOT": str(tmp_path / "none")})
    assert caught.value.observed == "no such folder"


def test_the_environment_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NFVBED_ROOT", os.fspath(tmp_path))
    with pytest.raises(ConfigurationError):
        open_project()
