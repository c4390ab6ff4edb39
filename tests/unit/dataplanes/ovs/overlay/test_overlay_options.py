"""Options of hosts that a tunnel joins."""

import pytest
import yaml
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs.overlay.options import OvsOverlayOptions
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.vnf import VnfChoice


def options(**more):
    return OvsOverlayOptions.model_validate({"dataplane": "ovs-overlay", **more})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"rules": 50}, "at least 200"),
        ({"rules": 103_001}, "less than or equal to 103000"),
        ({"hosts": 1, "pmd_cores": 2}, "at most hosts"),
        ({"tunnel": "gre"}, "geneve"),
    ],
)
def test_what_cannot_be(more, words):
    with pytest.raises(ValidationError, match=words):
        options(**more)


def test_two_hosts_share_a_core_unless_there_are_two():
    assert options().shares_core
    assert not options(hosts=1).shares_core
    assert not options(pmd_cores=2).shares_core
    assert [options(pmd_cores=cores).switch_cores for cores in (1, 2)] == [1, 2]


def test_vnfs_are_attached_by_vhost_user():
    project = open_project()
    spec = project.load_vnf("vloop")
    flavor = project.load_flavor(spec.flavor)
    choice = VnfChoice(label="", vnf=spec, kind=VnfKind.PROCESS, forwarding="io", flavor=flavor)
    assert options().vnf_port_kind(choice) is PortKind.VHOST_USER
    with pytest.raises(UnsupportedError, match="needs kernel ports"):
        options().vnf_port_kind(choice.model_copy(update={"forwarding": "bridge"}))


@pytest.mark.parametrize(
    ("name", "hosts", "tunnel"),
    [("ovs-overlay-geneve", 2, "geneve"), ("ovs-overlay-vxlan", 2, "vxlan"), ("ovs-overlay-local", 1, "geneve")],
)
def test_variants_have_the_set_up_of_the_paper(name, hosts, tunnel):
    found = open_project().load_variant(name).options
    assert isinstance(found, OvsOverlayOptions)
    assert (found.hosts, found.tunnel, found.conntrack, found.rules) == (hosts, tunnel, True, 103_000)


def test_variants_of_one_experiment_have_other_options():
    study = open_project().load_study("overlay")
    found = {variant.name: variant for variant in study.variants}
    assert found["overlay-geneve-1000"].title == "Geneve, 1,000 rules on each host, no connection tracking"
    assert (found["overlay-geneve-1000"].options.rules, found["ovs-overlay-geneve"].options.rules) == (1000, 103_000)
    assert not found["overlay-geneve-103000"].options.conntrack
    assert "overlay-geneve-1000" not in open_project().variant_names


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ovs-dpdk": {"variant": "ovs-overlay-local", "title": "t", "options": {"rules": 0}}}, "of its own"),
        ({"mine": {"variant": "ovs-overlay-lokal", "title": "t", "options": {"rules": 0}}}, "ovs-overlay-local"),
        ({"mine": {"variant": "ovs-overlay-local", "title": "t", "options": {"rules": 1}}}, "'mine' is not valid"),
        ({"mine": {"variant": "ovs-overlay-local", "title": "t", "options": {"rulez": 0}}}, "rulez"),
    ],
)
def test_altered_variants_that_cannot_be(tmp_path, change, words):
    name = next(iter(change))
    data = {"name": "trial", "title": "t", "variants": [name], "altered": change}
    file = tmp_path / "trial.yml"
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(ConfigurationError) as caught:
        open_project().load_study(file)
    assert words in str(caught.value)
