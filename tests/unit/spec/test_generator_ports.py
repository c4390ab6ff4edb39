"""How the generator is attached is said by the site for each variant, and no longer by the variant's file."""

import json
import shutil

import pytest

from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import ConfigurationError
from nfvbed.records import PortKind
from nfvbed.store.canonical import canonical_json


@pytest.fixture(name="project")
def _project(root, tmp_path):
    for folder in ("deploy/variants", "deploy/sites", "vsperf-conf/experiments", "vnfd", "flavors"):
        shutil.copytree(root / folder, tmp_path / folder)
    return open_project(tmp_path)


def asking(project, text):
    file = project.sites_folder / "lab.yml"
    file.write_text(f"{file.read_text()}generator_port_kinds: {text}\n")
    return project.load_site("lab")


def test_the_first_kind_of_the_data_plane_where_the_site_asks_for_no_other(project):
    assert all(
        variant.port_kind is variant.options.port_kinds[0]
        for variant in project.list_variants(project.load_site("lab"))
    )


def test_the_site_may_ask_for_another_kind_that_the_data_plane_has(project):
    lab = asking(project, "{vpp: memif}")
    assert project.load_variant("vpp", lab).port_kind is PortKind.MEMIF
    assert project.load_variant("vpp").port_kind is PortKind.VHOST_USER, "on any other site"
    assert project.load_variant("ovs-dpdk", lab).port_kind is PortKind.VHOST_USER


def test_a_study_is_planned_with_what_its_site_says(project):
    asking(project, "{vpp: memif}")
    altered = {"small": {"variant": "vpp", "title": "Small", "options": {"buffers": 4096}}}
    study = project.load_study("demo", {"variants": ["vpp", "small"], "altered": altered, "baseline": "vpp"})
    assert [variant.port_kind for variant in study.variants] == [PortKind.MEMIF, PortKind.MEMIF]


@pytest.mark.parametrize(
    ("text", "key", "fix"),
    [
        (
            "{ovs-dpdk: memif}",
            "generator_port_kinds.ovs-dpdk",
            "ovs-dpdk with these options has ports of kind vhost-user",
        ),
        ("{vp: memif}", "generator_port_kinds.vp", "did you mean 'vpp'?"),
        ("{vpp: memory}", "generator_port_kinds.vpp", "'memif'"),
    ],
)
def test_what_the_data_plane_has_not_is_refused_with_file_and_key(project, text, key, fix):
    with pytest.raises(ConfigurationError) as refused:
        project.load_variant("ovs-dpdk", asking(project, text))
    assert "deploy/sites/lab.yml" in refused.value.where and refused.value.where.endswith(key)
    assert fix in refused.value.fix


def test_the_key_of_before_is_refused_with_what_to_do(project):
    file = project.variants_folder / "vpp.yml"
    file.write_text(f"port_kind: memif\n{file.read_text()}")
    with pytest.raises(
        ConfigurationError, match=r"port_kind is no longer a key of a variant's file \(vpp.yml\)"
    ) as old:
        project.load_variant("vpp")
    assert old.value.where == f"{file}:1 port_kind"
    assert "generator_port_kinds: {vpp: memif}" in old.value.fix and "options.port_type: memif" in old.value.fix


@pytest.mark.parametrize("name", ["linux-bridge", "ovs-dpdk", "ovs-dpdk-memif", "vpp", "vpp-af-packet", "sriov"])
def test_what_is_stored_of_a_variant_is_as_before(project, name):
    """The configuration hash is of this: it has `port_kind`, and nothing that stored runs have not."""
    variant = project.load_variant(name)
    stored = json.loads(canonical_json(variant))
    assert stored["port_kind"] == variant.port_kind.value
    assert stored["options"].get("port_type") == {"ovs-dpdk": "vhost-user", "ovs-dpdk-memif": "memif"}.get(name)
    assert VariantModel.model_validate(stored) == variant


def test_a_stored_variant_of_before_is_read_without_the_new_option():
    values = {"name": "vpp-memif", "title": "VPP", "topologies": ["p2p"], "options": {"dataplane": "vpp"}}
    variant = VariantModel.model_validate({**values, "port_kind": "memif"})
    assert variant.port_kind is PortKind.MEMIF
    assert json.loads(canonical_json(variant))["options"] == json.loads(canonical_json(variant.options))
