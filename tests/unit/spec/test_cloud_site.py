"""The file of a site that is a cloud which exists already: what it may say, and what is wrong with others."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.document import parse_document
from nfvbed.spec.site import AnySite, CloudSiteSpec
from nfvbed.spec.validate import build_one_of

PROJECT = open_project()
HEAD = "name: c\nkind: cloud\nos_cloud: mine\nnetworks: [left, right]\n"
PORTS = "ports: [{device: e1}, {device: e2}]\n"
EXISTING = "onboarding: none\nexisting: {instances: [fw]}\n"
GOOD = HEAD + PORTS + EXISTING


def site(text) -> CloudSiteSpec:
    return build_one_of(parse_document(Path("c.yml"), text), AnySite)


def test_a_path_that_runs_already():
    found = site(GOOD)
    assert (found.existing.topology, found.existing.length, found.destination_macs) == ("pvp", 1, "neutron")
    assert (found.only_vnf_kind, found.only_variant) == (VnfKind.EXISTING, "existing")
    assert [port.named for port in found.ports] == ["e1", "e2"]
    assert PROJECT.load_variant("existing", found).port_kind is PortKind.NETDEV


def test_vnfs_that_tacker_onboards():
    found = site(HEAD + PORTS + "onboarding: sol\nlinks: [between]\n")
    assert found.only_vnf_kind is VnfKind.VM
    assert found.links == ("between",)


def test_ports_in_a_namespace_and_nics():
    found = site(HEAD + EXISTING + "ports: [{device: e1, netns: gen}, {device: e2, netns: /run/netns/gen}]\n")
    assert {port.netns_path for port in found.ports} == {"/run/netns/gen"}
    found = site(HEAD + EXISTING + 'ports: [{pci: "0000:3b:00.0"}, {pci: "0000:3b:00.1"}]\n')
    assert PROJECT.load_variant("existing", found).port_kind is PortKind.PCI
    assert PROJECT.load_variant("linux-bridge", found).port_kind is PortKind.VETH, "it has no others; it is refused"


def test_the_example_is_one():
    assert isinstance(PROJECT.load_site("cloud"), CloudSiteSpec)


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        (HEAD + EXISTING, "", "generator names the host"),
        (HEAD + EXISTING + "ports: [{device: e1}]\n", "ports", "missing"),
        (HEAD + EXISTING + "ports: [{device: e1}, {}]\n", "ports[1]", "a device, a mac or a pci address"),
        (HEAD + EXISTING + "ports: [{device: e1}, {device: e1}]\n", "ports", "named twice"),
        (HEAD + EXISTING + "ports: [{device: e1}, {device: e2, netns: x}]\n", "ports", "one network namespace"),
        (HEAD + EXISTING + 'ports: [{device: e1}, {pci: "0000:3b:00.0"}]\n', "ports", "both are NICs"),
        (HEAD + EXISTING + 'ports: [{device: e1}, {pci: "3b:00.0"}]\n', "ports[1].pci", "form"),
        (HEAD + EXISTING + "ports: [{device: a/b}, {device: e2}]\n", "ports[0].device", "form"),
        (HEAD + PORTS + "onboarding: none\n", "", "belong together"),
        (GOOD.replace("none", "sol"), "", "belong together"),
        (GOOD.replace("none", "heat"), "onboarding", "'legacy'"),
        (GOOD.replace("[left, right]", "[left, left]"), "", "names one twice"),
        (GOOD.replace("[left, right]", "[left]"), "networks", "missing"),
        (GOOD.replace("[fw]", "[fw], topology: p2p"), "existing", "no chain"),
        (GOOD.replace("[fw]", "[fw], topology: pvvp"), "existing", "2 VNFs"),
        (GOOD.replace("[fw]", "[fw, fw], topology: pvvp"), "existing", "names one twice"),
        (GOOD.replace("[fw]", "[fw], ports: [a, b]"), "existing", "not named"),
        (GOOD + "destination_macs: [aa:bb, any]\n", "destination_macs", ""),
        (GOOD + "destination_macs: flood\n", "destination_macs", ""),
        (GOOD + "accelerator: none\n", "accelerator", ""),
        (GOOD + "onos: {url: http://x, user: u}\n", "onos", "no switch is set up"),
        (GOOD + "hugepages_mib: 4\n", "hugepages_mib", "unknown key"),
    ],
)
def test_what_does_not_fit_is_refused_with_file_and_key(text, key, said):
    with pytest.raises(ConfigurationError) as refused:
        site(text)
    assert "c.yml" in refused.value.where and key in refused.value.where
    assert said in str(refused.value)
