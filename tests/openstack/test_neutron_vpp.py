"""Neutron's mechanism driver for VPP, loaded by the real server; where VPP_BIN names a VPP, all of that data plane.

Without one the agent's entry is recorded: what an agent reports is sent once, and nobody is behind it.
"""

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.places import CONTROLLER
from nfvbed.cloud.devcloud.services import library
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.dataplanes.vpp import binaries
from nfvbed.dataplanes.vpp import node as vpp_node
from nfvbed.dataplanes.vpp.neutron_vpp import names
from nfvbed.dataplanes.vpp.neutron_vpp.names import AgentSettings, Uplink, socket_name
from nfvbed.errors import PrerequisiteError
from tests.functional.brought_vpp import with_vpp
from tests.openstack.cloud_driver import ROOT, nfvbed, verb, wait
from tests.openstack.test_site import VNF, ok

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1800)]
HOST = "recorded-vpp"
AGENT_FOLDER = "/tmp/agent-on-double"
DOUBLE = ROOT / "tests/unit/dataplanes/vpp/vpp_double.py"
ON_DOUBLE = Path(__file__).with_name("agent_on_double.py")
REPORT = Path(__file__).with_name("report_vpp_agent.py")


@pytest.fixture(name="recorded")
def _recorded(onboarding_cloud):
    """An agent of a host that does not exist has reported to Neutron."""
    argv = ("/usr/bin/python3", "-c", REPORT.read_text(), HOST)
    onboarding_cloud.channel.check(Command(argv, "neutron", library.ENVIRONMENT))
    yield onboarding_cloud.api
    for agent in onboarding_cloud.api.get("neutron", f"/v2.0/agents?host={HOST}")["agents"]:
        onboarding_cloud.api.delete("neutron", f"/v2.0/agents/{agent['id']}")


@contextlib.contextmanager
def port(cloud, network, **more):
    """A port that is asked to be bound to the recorded host."""
    body = {"network_id": cloud.network(network), "binding:host_id": HOST, "device_owner": "compute:nova", **more}
    made = cloud.api.post("neutron", "/v2.0/ports", {"port": body})["port"]
    try:
        yield made
    finally:
        cloud.api.delete("neutron", f"/v2.0/ports/{made['id']}")


def test_a_port_is_bound_as_a_socket_that_the_guest_serves(onboarding_cloud, recorded):
    (agent,) = recorded.get("neutron", f"/v2.0/agents?host={HOST}")["agents"]
    assert (agent["agent_type"], agent["binary"], agent["alive"]) == ("VPP agent", "nfvbed-vpp-agent", True)
    for network in ("data0", "link1"):
        with port(onboarding_cloud, network) as made:
            details = made["binding:vif_details"]
            assert made["binding:vif_type"] == "vhostuser"
            assert details["vhostuser_mode"] == "server"
            assert details["vhostuser_socket"] == f"/run/nfvbed/vhu{made['id'][:11]}"
            assert made["status"] == "DOWN"  # until an agent says that it is plugged in


@pytest.mark.usefixtures("recorded")
def test_what_its_vpp_does_not_lead_to_is_not_bound(onboarding_cloud):
    with port(onboarding_cloud, "data1") as made:
        assert made["binding:vif_type"] == "binding_failed"
    with port(onboarding_cloud, "data0", **{"binding:vnic_type": "direct"}) as made:
        assert made["binding:vif_type"] == "binding_failed"


def test_without_an_agent_nothing_is_bound(onboarding_cloud):
    with port(onboarding_cloud, "data0") as made:
        assert made["binding:vif_type"] == "binding_failed"


@pytest.fixture(name="agent_on_double")
def _agent_on_double(onboarding_cloud):
    """The agent runs in the controller under another host's name, on a double of VPP's API."""
    channel = onboarding_cloud.channel
    settings = AgentSettings("/run/nfvbed", {"data0": Uplink("vhost-user", "gen0.sock")}, "l2-cross-connect")
    files = {copy.path.replace(library.FOLDER, AGENT_FOLDER): copy.source.read_bytes() for copy in vpp_node.AGENT}
    files |= {f"{AGENT_FOLDER}/{path.name}": path.read_bytes() for path in (DOUBLE, ON_DOUBLE)}
    files[f"{AGENT_FOLDER}/vpp-agent.json"] = settings.text().encode()
    files[f"{AGENT_FOLDER}/host.conf"] = f"[DEFAULT]\nhost = {HOST}\n".encode()
    for path, content in files.items():
        channel.write(path, content)
    argv = ("/usr/bin/python3", f"{AGENT_FOLDER}/{ON_DOUBLE.name}", AGENT_FOLDER)
    channel.start("vpp-agent-on-double", argv, "root", {"PYTHONPATH": AGENT_FOLDER})
    yield onboarding_cloud.places.node(CONTROLLER).exchange / "vpp-double.json"
    channel.stop("vpp-agent-on-double")
    for agent in onboarding_cloud.api.get("neutron", f"/v2.0/agents?host={HOST}")["agents"]:
        onboarding_cloud.api.delete("neutron", f"/v2.0/agents/{agent['id']}")


def test_the_agent_follows_neutrons_ports_and_tells_when_they_are_plugged_in(onboarding_cloud, agent_on_double):
    api = onboarding_cloud.api
    assert wait(lambda: any(one["alive"] for one in api.get("neutron", f"/v2.0/agents?host={HOST}")["agents"]), 60)
    (agent,) = api.get("neutron", f"/v2.0/agents?host={HOST}")["agents"]
    assert agent["configurations"]["physical_networks"] == ["data0"]
    with port(onboarding_cloud, "data0") as first, port(onboarding_cloud, "data0") as second:
        plugged = {f"port:{one['id']}" for one in (first, second)}
        network = {first["network_id"]: sorted(["uplink:data0", *plugged])}
        assert wait(lambda: json.loads(agent_on_double.read_text()) == [[], network], 30), agent_on_double.read_text()
        for one in (first, second):
            shown = f"/v2.0/ports/{one['id']}"
            assert api.get("neutron", shown)["port"]["status"] != "ACTIVE"
            # What a guest's QEMU does when it starts; the agent takes it for that.
            onboarding_cloud.channel.write(f"/run/nfvbed/{socket_name(one['id'])}", "")
            assert wait(lambda path=shown: api.get("neutron", path)["port"]["status"] == "ACTIVE", 30)
        api.put("neutron", f"/v2.0/ports/{second['id']}", {"port": {"admin_state_up": False}})
        pair = [[sorted(["uplink:data0", f"port:{first['id']}"])], {}]
        assert wait(lambda: json.loads(agent_on_double.read_text()) == pair, 30), agent_on_double.read_text()
    assert wait(lambda: json.loads(agent_on_double.read_text()) == [[], {}], 30), agent_on_double.read_text()


@pytest.mark.usefixtures("onboarding_cloud")
def test_without_vpp_the_variant_says_so_and_nothing_is_started(monkeypatch, tmp_path):
    monkeypatch.setenv(binaries.VPP_VARIABLE, str(tmp_path / "none"))
    refused = verb("deploy", "vpp", "--site", "devcloud")
    assert refused.returncode == PrerequisiteError.exit_code, refused.stderr
    assert "VPP is not there" in refused.stderr
    assert binaries.VPP_VARIABLE in refused.stderr
    report = json.loads(ok("doctor", "--site", "devcloud", "--json"))
    (found,) = [one for one in report["variants"] if one["variant"] == "vpp"]
    assert (found["readiness"], found["reason"].partition(":")[0]) == ("unsupported", "VPP is not there")
    assert "vpp" not in open_cloud(ROOT).computes()


@with_vpp
@pytest.mark.drives("vloop", ["vpp"], ["legacy"])
@pytest.mark.usefixtures("onboarding_cloud")
def test_vloop_forwards_through_vpp_and_survives_the_end_of_vpp_and_of_its_agent():
    ok("deploy", "vpp", "--site", "devcloud")
    ok("onboard", "vloop", "--variant", "vpp", "--site", "devcloud", *VNF)
    try:
        _all_arrive()
        cloud = open_cloud(ROOT)
        for end in (_kill_vpp, _kill_agent):
            end(cloud)
            assert nfvbed("start").returncode == 0
            _all_arrive()
    finally:
        ok("offboard", "--site", "devcloud")


def _all_arrive():
    report = json.loads(ok("trace", "vpp", "--site", "devcloud", "--json"))
    assert all(0 < one["received"] == one["sent"] for one in report["directions"]), report["directions"]


def _kill_vpp(cloud):
    os.kill(cloud.find_outside("vpp").pid, signal.SIGKILL)
    assert wait(lambda: cloud.find_outside("vpp") is None, 10)


def _kill_agent(cloud):
    channel = cloud.find_compute("vpp").channel
    (agent,) = [one for one in channel.services() if one.name == names.BINARY]
    channel.check(Command(("/usr/bin/kill", "-KILL", str(agent.pid))))
