"""A data plane is added by its room, one line of the catalogue and a file: nothing else of the package knows it."""

import shutil

import pytest

from nfvbed.dataplanes.catalogue import ROOMS, Catalogue
from nfvbed.errors import ConfigurationError
from nfvbed.plan.plan import expand
from nfvbed.plan.stored import stored_study
from nfvbed.records import Readiness
from nfvbed.sites.lab.machine import LabMachine

CATALOGUE = Catalogue({**ROOMS, "toy": "tests.unit.dataplanes.toy_plane"})
VARIANT = """name: toy
title: A toy
summary: Of a test
topologies: [p2p, pvp]
options:
  dataplane: toy
  wheels: {wheels}
"""


@pytest.fixture(name="project")
def _project(root, tmp_path):
    for folder in ("deploy/variants", "deploy/sites", "vsperf-conf/experiments", "vnfd", "flavors"):
        shutil.copytree(root / folder, tmp_path / folder)
    (tmp_path / "deploy/variants/toy.yml").write_text(VARIANT.format(wheels=6))
    return CATALOGUE.project(tmp_path)


def test_its_file_is_read_with_its_own_options(project):
    assert "toy" in project.variant_names
    assert project.load_variant("toy").options.wheels == 6


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("wheels: 9", "options.wheels is not valid in toy.yml"),
        ("wheeels: 6", "unknown key 'options.wheeels' in toy.yml"),
        ("flows: normal", "unknown key 'options.flows' in toy.yml"),
    ],
)
def test_what_its_options_do_not_allow_is_refused_with_file_and_key(project, line, words):
    (project.variants_folder / "toy.yml").write_text(VARIANT.format(wheels=6).replace("wheels: 6", line))
    with pytest.raises(ConfigurationError, match=words) as refused:
        project.load_variant("toy")
    assert "toy.yml:7" in refused.value.where


def test_others_do_not_know_it(root, project):
    file = project.variants_folder / "toy.yml"
    assert file.is_file()
    with pytest.raises(ConfigurationError, match="options.dataplane is not valid in toy.yml"):
        Catalogue(ROOMS).project(project.root).load_variant("toy")


def test_it_is_planned_stored_and_read_back(project):
    study = project.load_study("demo", {"variants": ["toy", "linux-bridge"]})
    toy = study.variants[0]
    cells = expand(study.experiment, study.variants, study.choices).cells
    assert {cell.variant for cell in cells} >= {"toy", "linux-bridge"}
    plan = {
        "experiment": study.experiment.model_dump(mode="json"),
        "variants": [variant.model_dump(mode="json") for variant in study.variants],
        "site": study.site.model_dump(mode="json"),
        "runnable": ["toy"],
    }
    again, _ = stored_study(plan, CATALOGUE.variant_model)
    assert again.variants[0] == toy


def test_the_lab_asks_its_adapter(project):
    toy = project.load_variant("toy")
    assert CATALOGUE.data_plane(toy).kind == "toy"
    support = LabMachine(project.load_site("lab"), project.root, CATALOGUE).probe(toy)
    assert (support.readiness, support.reason) == (Readiness.READY, "6 wheels")
