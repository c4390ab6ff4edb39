"""Healing through the legacy API: from what nfvbed writes, and not from what Tacker has kept of it."""

from dataclasses import replace

import pytest

from nfvbed.cloud.tacker import account
from nfvbed.cloud.tacker.api import OnboardRequest, TackerVnf
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.tags import Tag
from nfvbed.errors import OnboardError
from tests.unit.cloud.tacker.fake_cloud import cloud
from tests.unit.cloud.tacker.fake_tacker import FakeTacker

REQUEST = OnboardRequest("a", "demo", {"tosca_definitions_version": "tosca_simple_profile_for_nfv_1_0_0"})
VNF = TackerVnf("legacy", "v1", "d1", "a", "demo", "")


@pytest.fixture(name="tacker")
def _tacker(monkeypatch):
    tacker = FakeTacker()
    tacker.vnfds = {"d1": {"id": "d1", "description": "", "attributes": {"vnfd": "not: what was written"}}}
    tacker.show_vnf = lambda identifier: {"vnf": tacker.vnfs[identifier]}
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": tacker)
    return tacker


def test_a_vnf_is_made_again_from_the_request(tacker, monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr(LegacyApi, "clear", lambda self, tag, tell: done.append(("clear", tag.name)))
    monkeypatch.setattr(LegacyApi, "onboard", lambda self, request, tell: done.append(("onboard", request)) or VNF)
    tacker.vnfs = {"v1": {"id": "v1", "name": "x", "description": Tag("legacy", "demo", "a", "1", project="ours").text}}
    healed = LegacyApi(cloud(), Journal(tmp_path / "journal")).heal(replace(VNF), REQUEST, lambda line: None)
    assert healed is VNF
    assert done == [("clear", "a"), ("onboard", REQUEST)]


def test_a_vnf_of_somebody_elses_is_left_alone(tacker, tmp_path):
    tacker.vnfs = {"v1": {"id": "v1", "name": "x", "description": "mine"}}
    with pytest.raises(OnboardError, match="not one that nfvbed has made"):
        LegacyApi(cloud(), Journal(tmp_path / "journal")).heal(VNF, REQUEST, lambda line: None)
