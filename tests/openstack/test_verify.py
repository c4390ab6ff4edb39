"""Verifying a devcloud: what holds holds, and an agent that was killed and a mask set by hand are found and named."""

import json

import pytest

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.patience import patient
from nfvbed.sites.openstack import storeddeployment
from tests.openstack.cloud_driver import nfvbed, verb, wait
from tests.openstack.test_site import VNF, ok

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1500)]
SILENT_S = patient(150.0)
"""Neutron takes an agent for dead 75 s after its last report."""
AGENT = "neutron-dhcp-agent"


def verified(*words, code=0):
    """Verify the cloud; return what was found, by topic without the host."""
    done = verb("verify", "--site", "devcloud", "--json", *words)
    assert done.returncode == code, f"{done.returncode}: {done.stdout}\n{done.stderr}"
    report = json.loads(done.stdout)
    assert report["holds"] == (code == 0)
    return {one["topic"].rpartition(": ")[2]: one for one in report["findings"]}


def read():
    """Verify without a path, whatever is found."""
    done = verb("verify", "--site", "devcloud", "--json", "--no-probe")
    return {one["topic"].rpartition(": ")[2]: one for one in json.loads(done.stdout)["findings"]}


@pytest.fixture(name="deployed")
def _deployed(onboarding_cloud):
    ok("deploy", "ovs-dpdk", "--site", "devcloud")
    return onboarding_cloud


@pytest.mark.usefixtures("nothing_onboarded")
def test_a_cloud_that_is_as_its_variant_says(deployed, timed):
    with timed("verify"):
        found = verified(*VNF)
    assert {topic: one["state"] for topic, one in found.items()} == dict.fromkeys(found, "present")
    assert "an instance that was booted for it (pvp)" in found["probe frame"]["summary"]
    assert "sockets connected" in found["vhost-user"]["summary"]
    stored = storeddeployment.find(deployed.places.run).verified
    assert [one.topic.rpartition(": ")[2] for one in stored.findings] == list(found)


def test_a_mask_that_was_set_by_hand(deployed):
    before = verified("--no-probe")["PMD threads"]
    own, other = {"on cores 0": ("0x1", "0x2"), "on cores 1": ("0x2", "0x1")}[before["summary"]]

    def set_mask(mask):
        words = ("set", "Open_vSwitch", ".", f"other_config:pmd-cpu-mask={mask}")
        deployed.channel.check(Command(("/usr/bin/ovs-vsctl", *words)))

    set_mask(other)
    try:
        found = verified("--no-probe", code=20)
        wrong = [topic for topic, one in found.items() if one["state"] == "absent"]
        assert "PMD threads" in wrong and set(wrong) <= {"PMD threads", "receive queues"}
        assert f"pmd-cpu-mask is {other}" in found["PMD threads"]["summary"]
        command, _, _ = found["PMD threads"]["fix"].partition(" (")
        deployed.channel.check(Command(("/usr/bin/ovs-vsctl", *command.split()[1:])))
        assert verified("--no-probe")["PMD threads"] == before
    finally:
        set_mask(own)


def test_an_agent_that_was_killed(deployed):
    (agent,) = [one for one in deployed.channel.services() if one.name == AGENT]
    deployed.channel.check(Command(("/bin/sh", "-c", 'kill -9 "$0"', str(agent.pid))))
    try:
        assert wait(lambda: read()["agents"]["state"] == "absent", SILENT_S)
        found = verified("--no-probe", code=20)
        assert found["agents"]["summary"] == f"{AGENT} on controller does not report any more"
        assert [topic for topic, one in found.items() if one["state"] == "absent"] == ["agents"]
    finally:
        assert nfvbed("start").returncode == 0
    assert wait(lambda: read()["agents"]["state"] == "present", SILENT_S)
