"""A stranger's instance on the devcloud keeps it up: it is listed with its project, and the cloud runs on."""

import pytest

from nfvbed.cloud.tacker import journal, others
from nfvbed.sites.openstack.descriptorvnfs import owners_of
from tests.openstack.cloud_driver import nfvbed, verb

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(900), pytest.mark.usefixtures("nothing_onboarded")]


def survey(cloud, connection):
    folder = cloud.places.run
    return others.survey(connection, journal.of(folder), owners_of(folder))


def test_a_strangers_instance_keeps_the_cloud_up_and_nfvbeds_own_do_not(onboarding_cloud, connection, member):
    before = survey(onboarding_cloud, connection)
    assert before == (), "tests before have left nothing"
    done = verb("onboard", "vloop", "--variant", "ovs-dpdk", "--site", "devcloud", "--flavor", "hugepages")
    assert done.returncode == 0, done.stderr
    mine = member.connect()
    server = None
    try:
        assert survey(onboarding_cloud, connection) == (), "what nfvbed has onboarded is its own"
        server = mine.create_server(
            "web",
            image=mine.image.find_image("cirros").id,
            flavor=mine.compute.find_flavor("nfvbed.small").id,
            network=["mgmt"],
            wait=True,
            timeout=180,
        )
        port = mine.network.create_port(network_id=mine.network.find_network("mgmt").id, name="spare")
        found = {(one.project, one.kind, one.name) for one in survey(onboarding_cloud, connection)}
        assert found == {("test-onboarding", "instance", "web"), ("test-onboarding", "port", "spare")}
        for refused in (nfvbed("stop"), nfvbed("stop", "--dry-run"), verb("destroy", "--site", "devcloud")):
            assert refused.returncode == 13, refused.stderr
            assert "project test-onboarding: instance web" in refused.stderr
        assert connection.compute.find_server(server.id).status == "ACTIVE"
        mine.network.delete_port(port.id)
    finally:
        if server is not None:
            mine.delete_server(server.id, wait=True, timeout=60)
        assert verb("offboard", "--site", "devcloud").returncode == 0
