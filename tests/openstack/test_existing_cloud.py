"""A cloud that exists already, measured by a stranger to it: instances that others made, VNFs through its Tacker."""

import json

import pytest

from nfvbed.records.quality import QualityWarning
from tests.openstack import stranger as strangers
from tests.openstack.stranger import Stranger

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1200)]
EXISTING = {"onboarding": "none", "existing": {"topology": "pvp", "instances": ["their-vnf"]}}
AT = ("--site", "path")


@pytest.fixture(scope="module", name="theirs")
def _theirs(onboarding_cloud, connection, tmp_path_factory):
    """An ordinary member of a project, and a compute that takes instances."""
    strangers.operate(onboarding_cloud)
    found = Stranger(connection, onboarding_cloud.auth, tmp_path_factory.mktemp("theirs"), "member", "heat_stack_owner")
    yield found
    found.remove()


@pytest.fixture(scope="module", name="instance")
def _instance(theirs):
    """An instance that they have made, with no help of nfvbed's; measured as site `path`."""
    theirs.write_site("path", **EXISTING)
    return theirs.boot("their-vnf")


def test_every_frame_of_a_paced_load_comes_through_an_instance_that_others_made(theirs, instance, tmp_path):
    store = tmp_path / "results.sqlite"
    theirs.ok("run", "existing", *AT, "--store", str(store))
    run = json.loads(theirs.ok("export", "latest", "--store", str(store), "--format", "json"))
    (cell,) = run["cells"]
    assert cell["status"] == "ok", cell
    trials = [trial for trial in run["trials"] if trial["status"] == "ok"]
    assert trials
    for trial in trials:
        print(trial["directions"])
        assert all(one["sent"] and one["corrupted"] == one["duplicated"] == 0 for one in trial["directions"])
        assert QualityWarning.EMULATED_ACCELERATOR in trial["warnings"], "as the site's file states"
        assert trial["renewed"] == "nothing"
        reasons = {time["role"]: time["source"] for time in trial["cpu"]}
        assert "not seen from here" in reasons["switch"] and "not seen from here" in reasons["vnf"]
        assert "generator" in reasons, "it is this machine's"
    lossless = [result for result in run["results"] if result["kind"] == "continuous"]
    assert lossless and all(result["status"] == "ok" for result in lossless), lossless
    assert theirs.connect().compute.get_server(instance).status == "ACTIVE"


def test_a_path_is_deployed_traced_and_forgotten_and_nothing_of_theirs_is_touched(theirs, instance):
    deployment = json.loads(theirs.ok("deploy", "existing", *AT, "--json"))
    (vnf,) = deployment["vnfs"]
    assert (vnf["kind"], vnf["forwarding"], vnf["control"]["instance"]) == ("existing", "image", instance)
    assert all("takes the role admin" in one for one in vnf["facts"]["vif_types"]), "Neutron hides it from members"
    assert "was deployed already" in theirs.ok("deploy", "existing", *AT)
    report = json.loads(theirs.ok("trace", "existing", *AT, "--json"))
    assert report["complete"], report
    assert "not nfvbed's to offboard" in theirs.refused(11, "offboard", *AT)
    assert "the cloud would stay" in theirs.ok("destroy", *AT, "--dry-run")
    assert "the cloud stays" in theirs.ok("destroy", *AT)
    assert "nothing is deployed" in theirs.ok("destroy", *AT)
    assert theirs.connect().compute.get_server(instance).status == "ACTIVE"


def test_with_an_administrators_role_it_is_seen_how_ports_were_bound(theirs, instance):
    theirs.grant("admin")
    try:
        deployment = json.loads(theirs.ok("deploy", "existing", *AT, "--json"))
        theirs.ok("destroy", *AT)
    finally:
        theirs.revoke("admin")
    (vnf,) = deployment["vnfs"]
    assert (vnf["control"]["instance"], vnf["facts"]["vif_types"]) == (instance, ["bridge", "bridge"])


def test_the_doctor_says_who_they_are_there_and_what_there_is(theirs, instance):
    assert instance
    report = json.loads(theirs.ok("doctor", *AT, "--json"))
    topics = {one["topic"]: one for one in report["topics"]}
    assert {one["state"] for one in topics.values()} == {"present"}, topics
    assert "member" in topics["project"]["summary"]
    ready = {one["variant"]: one["readiness"] for one in report["variants"]}
    assert (ready["existing"], ready["linux-bridge"]) == ("ready", "unsupported")


def test_port_security_that_would_drop_every_frame_is_seen_before_any_is_sent(theirs, instance, connection):
    port = next(iter(theirs.connect().network.ports(device_id=instance)))
    connection.network.update_port(port, port_security_enabled=True)
    try:
        said = theirs.refused(11, "deploy", "existing", *AT)
        assert "has port security" in said and port.id in said and "role `admin`" in said
    finally:
        connection.network.update_port(port, port_security_enabled=False)


@pytest.mark.parametrize(("api", "roles"), [("sol", ()), ("legacy", ("admin",))])
def test_vnfs_are_onboarded_with_the_roles_that_it_takes_and_nothing_is_left(theirs, onboarding_cloud, api, roles):
    theirs.delete_instances()  # the compute has memory for one
    before = onboarding_cloud.holdings()
    theirs.write_site(api, onboarding=api)
    for role in roles:
        theirs.grant(role)
    try:
        theirs.ok("onboard", "vloop", "--site", api, "--flavor", "hugepages")
        report = json.loads(theirs.ok("trace", "existing", "--site", api, "--json"))
        assert report["complete"], report
        assert "the cloud stays" in theirs.ok("destroy", "--site", api)
    finally:
        for role in roles:
            theirs.revoke(role)
    assert onboarding_cloud.holdings() == before
