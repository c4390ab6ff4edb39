"""The long form: a whole cloud on a rack in a box, deployed through one fault after the other.

The faults come before the cloud is whole, each in the shortest deployment that meets it: Kolla's tags limit it. So the
deployment that ends well in the end has gone through all of them.
"""

import pytest

from tests.kolla_box.boxrack import DEPLOYED_S, FAILED, waited
from tests.kolla_box.test_keystone_in_a_box import TAGS

TO_KEYSTONE = ("--tags", TAGS)
TO_THE_SWITCHES = ("--tags", "common,openvswitch,ovs-dpdk")
LOGS = "/var/lib/docker/volumes/kolla_logs/_data"
"""The volume in which all services write their files."""
KILL = """
cd /run/systemd/system
mkdir -p docker.service.d
printf '[Unit]\\nConditionPathExists=/killed\\n[Service]\\nRestart=no\\n' >docker.service.d/killed.conf
systemctl daemon-reload
systemctl kill --signal=KILL docker.service
systemctl stop docker.socket
"""
"""Neither systemd nor a client starts it again: as after a kernel that killed it for good, or a broken package."""
REPAIR = """
rm /run/systemd/system/docker.service.d/killed.conf
systemctl daemon-reload
systemctl start docker.socket docker.service
"""
pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2 * DEPLOYED_S)]


def test_a_full_disk_is_said_by_the_container_that_could_not_write(rack):
    with (
        rack.begun(
            *rack.deploy, *TO_KEYSTONE, stage="deploy", until="PLAY [Apply role keystone]", status=FAILED
        ) as story,
        rack.full("controller", LOGS),
    ):
        story.wait()
    error = story.error
    assert error.part("where").startswith("controller, role keystone, task ")
    assert "No space left on device: '/var/log/kolla/" in error.part("observed"), "the container's own line"
    assert error.part("fix").startswith("make room on controller")


def test_a_wrong_password_half_way_is_named_and_put_right(rack):
    with rack.password("database_password", "of-an-older-copy-of-the-file"):
        error = rack.fails(*rack.deploy, *TO_KEYSTONE)
    assert error.part("where").startswith("controller, role mariadb, task ")
    said = error.part("observed")
    assert "Access denied for user" in said and "container mariadb on controller: Up" in said
    assert "its file: " in said, "the last lines of MariaDB's own"
    assert "of-an-older-copy-of-the-file" not in error.said
    assert "another password than" in error.part("fix") and "the same command continues here" in error.part("fix")
    rack.goes_on(*rack.deploy, *TO_KEYSTONE)
    waited("Keystone is healthy", lambda: "(healthy)" in rack.containers("controller").get("keystone", ""))


def test_an_engine_that_is_killed_in_mid_deploy_is_named_with_its_last_lines(rack):
    with rack.begun(
        *rack.deploy, *TO_THE_SWITCHES, stage="deploy", until="PLAY [Apply role ovs-dpdk]", status=FAILED
    ) as story:
        rack.on("compute1", "sh", "-c", KILL)
        story.wait()
    error = story.error
    assert error.part("where").startswith("compute1, role ")
    said = error.part("observed")
    assert "docker of compute1 does not answer" in said
    assert "docker.service: " in said and "(code=killed, signal=KILL)" in said, "how systemd says that it ended"
    assert error.part("fix").startswith("start the engine of containers on compute1")
    rack.on("compute1", "sh", "-c", REPAIR)
    rack.goes_on(*rack.deploy, *TO_THE_SWITCHES)
    assert rack.containers("compute1")["ovsdpdk_vswitchd"].startswith("Up ")


def test_an_image_that_the_registry_lacks_for_computes(rack):
    with rack.lacking("nova-compute"):
        error = rack.fails(*rack.deploy)
    assert "Pull images for nova" in error.part("where") and error.part("where").startswith("compute")
    assert "/nova-compute:" in error.part("observed") and "the registry has no such image" in error.part("fix")


def test_the_same_command_ends_with_a_whole_cloud(deployed_box):
    assert "was deployed already" in deployed_box.goes_on(*deployed_box.deploy)
    deployed_box.nfvbed("verify", *deployed_box.at, "--no-probe")
