"""The compute with OVN: Neutron's own driver `ovn` binds its ports, ovn-controller writes its rules."""

import json

import pytest

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.dataplanes.ovs.ovn.compute import OvnCompute
from nfvbed.dataplanes.ovs.ovn.node import AGENT, HOST, MAPPINGS
from nfvbed.errors import UnsupportedError
from nfvbed.records.findings import State
from tests.openstack.cloud_driver import ROOT, nfvbed, verb, wait
from tests.openstack.test_site import VNF, ok, require_paced_load
from tests.openstack.test_verify import SILENT_S, read, verified

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2400), pytest.mark.usefixtures("onboarding_cloud")]


@pytest.fixture(name="deployed")
def _deployed(onboarding_cloud):
    ok("deploy", "ovn", "--site", "devcloud")
    return OvnCompute(open_cloud(ROOT))


def traced(variant):
    report = json.loads(ok("trace", variant, "--site", "devcloud", "--json"))
    assert len(report["directions"]) == 2
    for direction in report["directions"]:
        assert 0 < direction["received"] == direction["sent"], direction


def test_its_chassis_is_an_agent_of_neutrons_and_nothing_else_is_there(onboarding_cloud, deployed):
    (agent,) = onboarding_cloud.api.get("neutron", f"/v2.0/agents?host={HOST}")["agents"]
    assert (agent["agent_type"], agent["binary"], agent["alive"]) == ("OVN Controller agent", AGENT, True)
    assert set(agent["configurations"]["bridge-mappings"].split(",")) == set(MAPPINGS.split(","))
    status = json.loads(nfvbed("status", "--json").stdout)
    assert status["missing"] == []
    names = {one["name"] for one in status["services"]}
    assert {"ovn-nb-database", "ovn-sb-database", "ovn-northd", f"{HOST}/{AGENT}"} < names
    assert not {f"{HOST}/neutron-openvswitch-agent", f"{HOST}/neutron-dhcp-agent"} & names
    assert {one.state for one in deployed.findings()} == {State.PRESENT}


@pytest.mark.drives("vloop", ["ovn"], ["legacy"])
def test_vloop_forwards_and_is_verified_and_an_ended_controller_is_named(onboarding_cloud, deployed):
    ok("onboard", "vloop", "--variant", "ovn", "--site", "devcloud", *VNF)
    try:
        traced("ovn")
        found = verified(*VNF)
        assert {topic: one["state"] for topic, one in found.items()} == dict.fromkeys(found, "present")
        assert found["port bindings"]["summary"].startswith("2 ports of instances bound and up")
        ports = onboarding_cloud.api.get("neutron", "/v2.0/ports")["ports"]
        bound = [one for one in ports if one["binding:host_id"] == HOST]
        assert {(one["binding:vif_type"], one["status"]) for one in bound} == {("vhostuser", "ACTIVE")}
        channel = open_cloud(ROOT).find_compute(HOST).channel
        (agent,) = [one for one in channel.services() if one.name == AGENT]
        channel.check(Command(("/usr/bin/kill", "-KILL", str(agent.pid))))
        assert wait(lambda: read()["agents"]["state"] == "absent", SILENT_S)
        assert f"{AGENT} on {HOST} does not report any more" in read()["agents"]["summary"]
        traced("ovn")  # the rules stay
        assert nfvbed("start").returncode == 0  # which starts what has ended
        assert wait(lambda: read()["agents"]["state"] == "present", SILENT_S)
        verified(*VNF)
    finally:
        ok("offboard", "--site", "devcloud")


@pytest.mark.usefixtures("deployed")
def test_other_computes_ports_are_bound_as_before(onboarding_cloud):
    ok("onboard", "vloop", "--variant", "ovs-dpdk", "--site", "devcloud", *VNF)
    try:
        traced("ovs-dpdk")
        ports = onboarding_cloud.api.get("neutron", "/v2.0/ports?binding:host_id=controller")["ports"]
        of_guests = [one for one in ports if one["device_owner"].startswith("compute:")]
        assert of_guests
        assert {one["status"] for one in of_guests} == {"ACTIVE"}
    finally:
        ok("offboard", "--site", "devcloud")


def test_a_paced_load_comes_through_whole(tmp_path):
    require_paced_load("ovn", tmp_path / "results.sqlite")


@pytest.mark.parametrize(
    ("variant", "said"),
    [("ovn-acl-stateful", "options.acl"), ("ovn-router", "options.path"), ("ovn-afxdp", "dataplane: ovn-afxdp")],
)
def test_what_a_cloud_does_not_have_is_refused_by_name(variant, said):
    refused = verb("deploy", variant, "--site", "devcloud")
    assert refused.returncode == UnsupportedError.exit_code, refused.stderr
    assert said in refused.stderr
