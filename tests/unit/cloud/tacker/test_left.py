"""The survey lists what is an owner's, and nothing that only looks alike."""

import pytest

from nfvbed.cloud.tacker import account, left
from nfvbed.cloud.tacker.journal import Journal, Note
from nfvbed.cloud.tacker.tags import Tag
from tests.unit.cloud.tacker.fake_cloud import FakeOrchestration, cloud, resource, stack
from tests.unit.cloud.tacker.fake_tacker import FakeTacker

LEGACY = Tag("legacy", "demo", "a", "1", project="ours").text
SOL = Tag("sol", "demo", "a", "1", project="ours").text
THEIRS = Tag("sol", "demo", "a", "1", project="theirs").text
OTHER = Tag("sol", "demo2", "a", "1", project="ours").text
NAME = "nfvbed-demo_a-abcdef"


@pytest.fixture(name="tacker")
def _tacker(monkeypatch):
    tacker = FakeTacker()
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": tacker)
    return tacker


def test_everything_of_an_owner_is_listed_and_nothing_else(tacker, tmp_path):
    tacker.vnfs = {
        "v1": {"id": "v1", "name": NAME, "description": LEGACY},
        "i1": {"id": "i1", "name": NAME, "description": SOL},
        "v2": {"id": "v2", "name": NAME, "description": "mine"},
    }
    tacker.vnfds = {
        "d1": {"id": "d1", "name": NAME, "description": LEGACY},
        "d2": {"id": "d2", "name": NAME, "description": ""},
    }
    tacker.instances = {
        "i1": {"id": "i1", "vnfInstanceName": NAME, "vnfInstanceDescription": SOL},
        "i3": {"id": "i3", "vnfInstanceName": NAME, "vnfInstanceDescription": THEIRS},
        "i2": {"id": "i2", "vnfInstanceName": NAME, "vnfInstanceDescription": OTHER},
    }
    data = {"nfvbed-owner": "demo", "nfvbed-name": "a", "nfvbed-digest": "1", "nfvbed-project": "ours"}
    tacker.packages = {
        "p1": {"id": "p1", "userDefinedData": data},
        "p2": {"id": "p2", "userDefinedData": {}},
        "p3": {"id": "p3", "userDefinedData": data | {"nfvbed-project": "theirs"}},
    }
    journal = Journal(tmp_path / "journal")
    journal.write(Note("instance", "i1", "demo", "a", "http://keystone/v3 ours"))
    heat = FakeOrchestration(
        [stack("s1", NAME), stack("s2", "vnflcm_i1"), stack("s3", "nfvbed-demo_a"), stack("s4", "vnflcm_i2")],
        {
            "s1": [resource("VDU1", "OS::Nova::Server", "n1"), resource("SP1", "OS::Heat::ScalingPolicy", "x")],
            "s2": [resource("group", "OS::Heat::AutoScalingGroup", "inner", nested=True)],
            "inner": [resource("CP1", "OS::Neutron::Port", "q1")],
        },
    )
    found = left.survey(cloud(heat), journal, "demo")
    assert [(one.kind, one.id) for one in found] == [
        ("vnf", "v1"),
        ("vnfd", "d1"),
        ("vnf instance", "i1"),
        ("vnf package", "p1"),
        ("stack", "s1"),
        ("server", "n1"),
        ("stack", "s2"),
        ("port", "q1"),
    ]


def test_an_empty_cloud_has_nothing(tacker, tmp_path):
    journal = Journal(tmp_path / "journal")
    assert left.survey(cloud(), journal, "demo") == ()
    assert left.remove(cloud(), journal, "demo", lambda text: None) == ()


def test_a_stack_that_tacker_has_lost_is_removed(tacker, tmp_path):
    heat = FakeOrchestration([stack("s1", NAME), stack("s2", "nfvbed-demo2_a-abcdef")], {"s1": [], "s2": []})
    removed = left.remove(cloud(heat), Journal(tmp_path / "journal"), "demo", lambda text: None)
    assert [str(one) for one in removed] == [f"stack {NAME} (s1)"]
    assert [one.id for one in heat.kept] == ["s2"]


def test_a_tacker_without_the_legacy_api_is_asked_for_what_it_has(monkeypatch, tmp_path):
    tacker = FakeTacker(lacks=("legacy",))
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": tacker)
    tacker.instances = {"i1": {"id": "i1", "vnfInstanceName": NAME, "vnfInstanceDescription": SOL}}
    found = left.survey(cloud(), Journal(tmp_path / "journal"), "demo")
    assert [(one.kind, one.id) for one in found] == [("vnf instance", "i1")]
    assert tacker.probed.count("legacy") == 1


def test_a_tacker_without_the_sol_api_is_asked_for_what_it_has(monkeypatch, tmp_path):
    tacker = FakeTacker(lacks=("sol",))
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": tacker)
    tacker.vnfds = {"d1": {"id": "d1", "name": NAME, "description": LEGACY}}
    found = left.survey(cloud(), Journal(tmp_path / "journal"), "demo")
    assert [(one.kind, one.id) for one in found] == [("vnfd", "d1")]
    assert tacker.probed.count("sol") == 1
