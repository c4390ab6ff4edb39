"""What verifying has to find of each compute of a devcloud, and what it found is kept beside the deployment."""

from dataclasses import replace

import pytest

from nfvbed.dataplanes.devcloud import compute_of
from nfvbed.errors import UnsupportedError
from nfvbed.records.findings import Finding, State
from nfvbed.sites.openstack import storeddeployment
from nfvbed.sites.openstack.existing.compute import ExistingCompute
from tests.unit.sites.openstack.test_devcloud_stored_deployment import ARRANGEMENT, PROJECT, VARIANT, deployment

OF_NODES = {
    "ovs-dpdk": ("neutron-openvswitch-agent", "netdev", (0,)),
    "ovs-afxdp": ("neutron-openvswitch-agent", "netdev", (0,)),
    "ovs-afxdp-interrupt": ("neutron-openvswitch-agent", "netdev", ()),
    "linux-bridge": ("neutron-linuxbridge-agent", None, ()),
    "macvtap": ("neutron-macvtap-agent", None, ()),
}


@pytest.mark.parametrize(("name", "parts"), OF_NODES.items(), ids=OF_NODES)
def test_what_is_expected_of_a_compute(name, parts):
    variant = PROJECT.load_variant(name)
    compute = compute_of(variant, None)
    expected = compute.expected(variant, ARRANGEMENT)
    assert (expected.agents[0], expected.datapath_type, expected.polling) == parts
    assert expected.host == compute.host
    assert "nova-compute" in expected.services and expected.takes_hugepages


def test_machines_of_a_cloud_that_is_not_ours_are_not_read():
    compute = ExistingCompute.__new__(ExistingCompute)
    compute.host = "mycloud"
    with pytest.raises(UnsupportedError, match="the machines of mycloud are not read") as refused:
        compute.expected(VARIANT, ARRANGEMENT)
    assert refused.value.fix and compute.reading() is None


def test_findings_are_kept_with_the_deployment_and_gone_with_the_next_one(tmp_path):
    written = storeddeployment.StoredDeployment(deployment(), VARIANT, ARRANGEMENT, None, "now: nfvbed")
    finding = Finding(topic="agents", state=State.ABSENT, summary="one is dead", probed="asked", fix="restart it")
    verified = storeddeployment.Verification(at="2026-11-23T20:00:00+00:00", findings=(finding,))
    storeddeployment.save(tmp_path, replace(written, verified=verified))
    assert storeddeployment.find(tmp_path).verified == verified
    storeddeployment.save(tmp_path, written)
    assert storeddeployment.find(tmp_path).verified is None
