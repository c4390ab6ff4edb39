"""The compute with Open vSwitch on AF_XDP sockets: VNFs that Tacker onboards there, polled and by interrupt."""

import json

import pytest

from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.dataplanes.ovs import unixctl
from nfvbed.dataplanes.ovs.afxdp import modes
from nfvbed.dataplanes.ovs.nodeswitch import NodeSwitch
from tests.openstack.cloud_driver import ROOT
from tests.openstack.test_site import VNF, ok, require_paced_load

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2400), pytest.mark.usefixtures("onboarding_cloud")]


@pytest.mark.drives("vloop", ["ovs-afxdp"], ["legacy"])
@pytest.mark.parametrize("variant", ["ovs-afxdp", "ovs-afxdp-interrupt"])
def test_vloop_forwards_through_afxdp_sockets(variant):
    ok("deploy", variant, "--site", "devcloud")
    ok("onboard", "vloop", "--variant", variant, "--site", "devcloud", *VNF)
    try:
        report = json.loads(ok("trace", variant, "--site", "devcloud", "--json"))
        assert len(report["directions"]) == 2
        for direction in report["directions"]:
            assert 0 < direction["received"] == direction["sent"], direction
        shown = unixctl.command(NodeSwitch(open_cloud(ROOT).find_compute("ovs-afxdp")).control, "dpctl/show")
        found = modes.parse(shown)
        assert {"data0", "data1"} < set(found)
        assert len(found) == 4
        assert set(found.values()) <= {"native", "generic"}, found
    finally:
        ok("offboard", "--site", "devcloud")


def test_a_paced_load_comes_through_whole(tmp_path):
    require_paced_load("ovs-afxdp", tmp_path / "results.sqlite")
