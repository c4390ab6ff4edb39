"""VNFs through either of Tacker's APIs on the data planes on which no other test has them."""

import json

import pytest

from tests.functional.brought_vpp import with_vpp
from tests.openstack.cloud_driver import verb
from tests.openstack.test_site import VNF, ok
from tests.openstack.test_tacker_samples import offboard, onboarded

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2400), pytest.mark.usefixtures("nothing_onboarded")]
VPP = pytest.param("vpp", marks=with_vpp)
"""VPP is brought by the user: no release of Debian has it."""
SITES = {"legacy": "devcloud", "sol": "devcloud-sol"}


@pytest.mark.drives("vloop", ["ovs-dpdk", "linux-bridge", "ovs-afxdp", "ovn", "vpp"], ["sol"])
@pytest.mark.parametrize("plane", ["ovs-dpdk", "linux-bridge", "ovs-afxdp", "ovn", VPP])
def test_vloop_from_a_package_forwards(plane):
    ok("onboard", "vloop", "--variant", plane, "--site", SITES["sol"], *VNF)
    try:
        report = json.loads(ok("trace", plane, "--site", SITES["sol"], "--json"))
        assert len(report["directions"]) == 2
        assert all(0 < one["received"] <= one["sent"] for one in report["directions"]), report
    finally:
        ok("offboard", "--site", SITES["sol"])


@pytest.mark.drives("vepc", ["ovs-afxdp"], ["legacy", "sol"])
@pytest.mark.parametrize("api", SITES)
@pytest.mark.parametrize("plane", ["ovs-afxdp"])
def test_the_mobile_core_attaches_a_ue_and_carries_its_pings(plane, api):
    vnf = onboarded("vepc", plane, site=SITES[api])
    try:
        assert vnf["api"] == api
        for words in ("ping carried: 10 of 10", "tcp carried: 131072 of 131072"):
            assert any(line.startswith(f"vepc: {words}") for line in vnf["said"]), vnf["said"]
    finally:
        offboard("vepc", SITES[api])


@pytest.mark.drives(
    "vepc", ["linux-bridge", "macvtap", "vpp"], ["legacy", "sol"], remark="`unsupported`: no VLANs of tenants there"
)
@pytest.mark.drives("vepc", ["ovn"], ["legacy", "sol"], remark="`unsupported`: its ports ask for a security group")
@pytest.mark.parametrize("api", SITES)
@pytest.mark.parametrize(
    ("plane", "why"),
    [
        ("linux-bridge", "VLANs of the physical network tenant"),
        ("macvtap", "VLANs of the physical network tenant"),
        pytest.param("vpp", "VLANs of the physical network tenant", marks=with_vpp),
        ("ovn", "OVN drops all IP that no security group allows"),
    ],
)
def test_the_mobile_core_is_refused_where_its_own_networks_do_not_reach(plane, why, api):
    refused = verb("onboard", "vepc", "--variant", plane, "--site", SITES[api])
    assert refused.returncode == 11
    assert f"do not reach {plane}" in refused.stderr
    assert why in refused.stderr
