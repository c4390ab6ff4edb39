"""A given descriptor against a data plane, and its names against a cloud: what would leave it mute, or fail in Heat."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.vnfs.descriptors import descriptorfile, descriptorfit, naming
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorFile
from nfvbed.vnfs.descriptors.naming import CloudNames
from tests.unit.vnfs.descriptors.test_files_of_other_kinds import UPF

PROJECT = open_project(Path(__file__).parents[4])
LARGE, SMALL = {"hw:mem_page_size": "large"}, {"hw:cpu_policy": "shared"}
CAPABILITY = "mem_page_size: 2, "


def found(tmp_path, text):
    path = tmp_path / "upf.yaml"
    path.write_text(text)
    return descriptorfile.read(DescriptorFile(path, "upf"))


@pytest.mark.parametrize(
    ("changes", "variant", "flavors", "subjects", "notes"),
    [
        ((), "ovs-dpdk", {}, [], 0),
        ((), "linux-bridge", {}, [], 0),
        ((CAPABILITY, ""), "ovs-dpdk", {}, ["hugepages"], 0),
        ((CAPABILITY, ""), "linux-bridge", {}, [], 0),
        (("image: cirros", "image: cirros, flavor: big"), "ovs-dpdk", {"big": LARGE}, [], 1),
        (("image: cirros", "image: cirros, flavor: big"), "ovs-dpdk", {"big": SMALL}, ["hugepages"], 1),
        (("image: cirros", "image: cirros, flavor: big"), "ovs-dpdk", {}, [], 2),
        (("type: vnic", "type: sriov"), "ovs-dpdk", {}, ["vNIC"], 0),
        ((), "sriov", {}, ["vNIC"], 0),
        (("type: vnic", "type: sriov"), "sriov", {}, [], 0),
        ((), "vale", {}, ["ports"], 0),
    ],
)
def test_memory_and_vnics_are_compared_with_the_variant(tmp_path, changes, variant, flavors, subjects, notes):
    text = UPF.replace(*changes) if changes else UPF
    fit = descriptorfit.fit(found(tmp_path, text), PROJECT.load_variant(variant), flavors)
    assert [one.subject for one in fit.mismatches] == subjects
    assert len(fit.notes) == notes
    assert all(one.where.startswith(f"{tmp_path}/upf.yaml:") for one in fit.mismatches if one.subject == "vNIC")


KNOWN = CloudNames(("mgmt",), (), ("cirros",), ("core5g",), ("edge",), ("public",), {"mgmt": ["192.0.2.0/24"]})


@pytest.mark.parametrize(
    ("has", "subject", "line"),
    [
        ({}, "", 0),
        ({"keys": ()}, "key", 12),
        ({"zones": ("nova",)}, "zone", 12),
        ({"floating": ("outside",)}, "floating network", 24),
        ({"networks": ("data0",)}, "network", 21),
        ({"images": ()}, "image", 12),
        ({"subnets": {"mgmt": ["10.0.0.0/24"]}}, "address", 15),
        ({"keys": None, "zones": None, "floating": None}, "", 0),
    ],
)
def test_names_that_a_cloud_lacks_are_told_with_their_lines(tmp_path, has, subject, line):
    known = CloudNames(**{**vars(KNOWN), **has})
    missing = naming.lacking_of(found(tmp_path, UPF).document, known)
    assert [one.subject for one in missing] == ([subject] if subject else [])
    assert all(one.where.startswith(f"{tmp_path}/upf.yaml:{line}") for one in missing)


NETWORK = "network_name: mgmt, vendor: Tacker"


@pytest.mark.parametrize(
    ("cidr", "address", "said"),
    [
        ("192.0.2.0/24", "192.0.2.111", ""),
        ("198.51.100.0/24", "192.0.2.111", "192.0.2.111 of CP1 is outside 198.51.100.0/24, the subnet of VL1"),
        ("2001:db8::/64", "192.0.2.111", "is outside 2001:db8::/64"),
        ("192.0.2.0/24", "the first", "'the first' is no IP address"),
    ],
)
def test_fixed_addresses_are_compared_with_the_subnet_that_is_made(tmp_path, cidr, address, said):
    text = UPF.replace(NETWORK, f"{NETWORK}, cidr: '{cidr}'").replace("192.0.2.111", address)
    fit = descriptorfit.fit(found(tmp_path, text), PROJECT.load_variant("linux-bridge"), {})
    assert [said in one.found for one in fit.mismatches] == ([True] if said else [])
    assert all(one.where.startswith(f"{tmp_path}/upf.yaml:15") for one in fit.mismatches)
