"""The short form: a healthy Keystone on a rack in a box, an image that its registry lacked, and all of it gone again.

kolla-ansible deploys what Keystone needs, by Kolla's own tags (`--tags`), and stops there.
"""

import pytest

from tests.kolla_box.boxrack import DEPLOYED_S, made, waited

TAGS = "common,loadbalancer,mariadb,memcached,keystone"
DEPLOY = ("deploy", "ovs-dpdk", "--site", "box", "--tags", TAGS)
DESTROY = ("destroy", "--site", "box", "--yes", "box")
ASK = "import urllib.request; print(urllib.request.urlopen('http://10.10.0.250:5000/v3', timeout=30).status)"

pytestmark = pytest.mark.timeout(DEPLOYED_S)


@pytest.fixture(name="rack", scope="module")
def _rack(tmp_path_factory):
    with made(tmp_path_factory.mktemp("keystone"), registry=True) as rack:
        yield rack


def test_an_image_that_the_registry_lacks_is_said_by_the_engine_of_the_machine(rack):
    with rack.lacking("keystone"):
        error = rack.fails(*DEPLOY)
    assert error.part("where").startswith("controller, ") and "Pull images for keystone" in error.part("where")
    said = error.part("observed")
    assert "/keystone:" in said and ("not found" in said or "does not exist" in said), "the engine's own words"
    assert "the registry has no such image" in error.part("fix")
    assert "the same command continues here" in error.part("fix")


def test_the_same_command_goes_on_to_a_healthy_keystone_and_stops_there(rack):
    said = rack.goes_on(*DEPLOY)
    assert "prepare: done already" in said and "no cloud yet" in said
    waited("Keystone is healthy", lambda: "(healthy)" in rack.containers("controller").get("keystone", ""))
    assert rack.on("controller", "python3", "-c", ASK).strip() == "200"
    running = rack.containers("controller")
    assert {"haproxy", "keepalived", "mariadb", "memcached"} <= set(running) and "nova_api" not in running


def test_destroy_takes_down_what_is_there(rack):
    assert "is taken down" in rack.goes_on(*DESTROY)
    for machine in ("controller", "compute1", "compute2"):
        assert rack.containers(machine) == {}
        assert rack.on(machine, "docker", "volume", "ls", "--quiet").split() == []
    assert "nothing is deployed on site box" in rack.nfvbed(*DESTROY)
