"""Sample descriptors inside Tacker's wheel, onboarded with the command that onboards everything else."""

import json

import pytest

from nfvbed.cloud.devcloud.places import CloudPlaces
from tests.openstack.cloud_driver import ROOT, verb
from tests.openstack.test_site import ok
from tests.openstack.test_vnf_descriptors import SAMPLES, sample

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1500), pytest.mark.usefixtures("nothing_onboarded")]
TEMPLATES = SAMPLES.parents[1]
VALUES = {
    "image_name": "cirros",
    "flavor": "nfvbed.small",
    "zone": "nova",
    "network": "mgmt",
    "management": "true",
    "pkt_in_network": "data0",
    "pkt_out_network": "data1",
    "vendor": "tacker",
}
"""Those of the sample beside it (`sample-tosca-vnf-values.yaml`), as this cloud calls them."""
NAMES = {"cirros-0.5.2-x86_64-disk": "cirros", "m1.tiny": "nfvbed.small", "net_mgmt": "mgmt"}


def pairs(option, values):
    return [word for key, value in values.items() for word in (option, f"{key}={value}")]


def onboarded(path, variant, *words, site="devcloud"):
    """Onboard a file; return what is there then."""
    return json.loads(ok("onboard", str(path), "--variant", variant, "--site", site, "--json", *words))


def offboard(name, site="devcloud"):
    assert "nothing of it is left" in ok("offboard", name, "--site", site)


@pytest.mark.parametrize(
    ("file", "words", "networks"),
    [
        ("sample-tosca-vnfd-param.yaml", pairs("--param", VALUES), ["data0", "data1", "mgmt"]),
        ("sample-tosca-vnfd-no-monitor.yaml", pairs("--name", NAMES), ["mgmt"]),
    ],
    ids=["inputs", "names"],
)
def test_a_legacy_sample(onboarding_cloud, file, words, networks):
    path = onboarding_cloud.places.root / TEMPLATES / file
    vnf = onboarded(path, "ovs-dpdk", *words)
    try:
        (instance,) = vnf["instances"]
        assert (vnf["api"], instance["host"]) == ("legacy", "controller")
        assert sorted(network for network, _ in instance["ports"]) == networks
        assert instance["printed"]
        again = onboarded(path, "ovs-dpdk", *words)
        assert [name for name, _ in again["steps"]] == ["found"]
        assert [one["id"] for one in again["instances"]] == [instance["id"]]
        # CirrOS asks for an address on its first network alone, which is another one where there are several.
        assert len(networks) > 1 or onboarding_cloud.answers(onboarding_cloud.address(instance["id"]))
    finally:
        offboard(vnf["name"])


def test_a_package_can_be_onboarded_again_when_it_was_removed(onboarding_cloud, tmp_path):
    path = sample(onboarding_cloud.places.root, "vnflcm2", tmp_path / "vnflcm2.zip")
    # It asks for ordinary memory, in which a guest on Open vSwitch with DPDK has no network, and for networks of its
    # own, which do not reach the kernel's bridge.
    words = ("ovs-afxdp", "--network", "CP1=mgmt")
    seen = set()
    for _ in range(2):
        vnf = onboarded(path, *words)
        try:
            (instance,) = vnf["instances"]
            assert (vnf["api"], instance["host"]) == ("sol", "ovs-afxdp")
            assert instance["printed"]
            seen.add(instance["id"])
            again = onboarded(path, *words)
            assert [name for name, _ in again["steps"]] == ["found"]
        finally:
            offboard("vnflcm2")
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("file", "words", "code", "said"),
    [
        ("sample-tosca-vnfd-no-monitor.yaml", (), 10, "--name OLD=NEW"),
        ("sample-tosca-vnfd-param.yaml", (), 10, "input 'image_name'"),
        ("sample-tosca-vnfd-param.yaml", ("--param", "imagename=cirros"), 2, "image_name"),
        ("sample-tosca-vnfd-no-monitor.yaml", ("--name", "m1.tny=nfvbed.small"), 2, "m1.tiny"),
    ],
)
def test_what_a_sample_lacks_is_told_before_anything_is_made(file, words, code, said):
    path = CloudPlaces.of(ROOT).root / TEMPLATES / file
    refused = verb("onboard", str(path), "--variant", "ovs-dpdk", "--site", "devcloud", *words)
    assert refused.returncode == code, refused.stderr
    assert said in refused.stderr
