"""A VNF that Tacker's monitor finds dead: what its status says on the way, and who waits how long."""

from types import SimpleNamespace

import pytest

from nfvbed.cloud.tacker import account, causes
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.errors import OnboardError
from tests.unit.cloud.tacker.fake_cloud import cloud
from tests.unit.cloud.tacker.fake_tacker import FakeTacker

VNF = TackerVnf("legacy", "v1", "d1", "vnf1", "demo", "old")


@pytest.fixture(name="api")
def _api(quick, monkeypatch, tmp_path):
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": FakeTacker())
    monkeypatch.setattr(
        LegacyApi, "_looked_at", lambda self, vnf: SimpleNamespace(stack_id=self._show(vnf.id)["instance_id"])
    )
    monkeypatch.setattr(LegacyApi, "_stack", lambda self, shown: shown["instance_id"])
    monkeypatch.setattr(causes, "of_stack", lambda connection, stack: (f"stack {stack} is CREATE_FAILED",))
    return LegacyApi(cloud(), Journal(tmp_path / "journal"))


def says(monkeypatch, *states):
    """Have Tacker show one state after the other, and the last one from then on."""
    left = list(states)

    def shown(self, vnf):
        status = left.pop(0) if len(left) > 1 else left[0]
        return {"status": status, "instance_id": "new", "error_reason": "no valid host"}

    monkeypatch.setattr(LegacyApi, "_show", shown)
    return left


def test_it_is_noticed_when_tacker_says_dead_and_done_when_it_is_active_again(api, monkeypatch):
    left, noticed = says(monkeypatch, "ACTIVE", "ACTIVE", "DEAD", "DEAD", "DEAD", "ACTIVE"), []
    assert api.await_respawn(VNF, lambda: noticed.append(tuple(left))).stack_id == "new"
    assert noticed == [("DEAD", "DEAD", "ACTIVE")]


@pytest.mark.usefixtures("impatient")
def test_monitor_that_does_not_notice_is_an_error(api, monkeypatch):
    says(monkeypatch, "ACTIVE")
    with pytest.raises(OnboardError, match="monitor takes vnf1 for alive"):
        api.await_respawn(VNF, lambda: pytest.fail("nobody noticed"))


def test_respawn_that_fails_has_its_causes(api, monkeypatch):
    says(monkeypatch, "DEAD", "DEAD", "ERROR")
    with pytest.raises(OnboardError, match="respawn of vnf1 failed") as failure:
        api.await_respawn(VNF, lambda: None)
    assert "no valid host" in failure.value.observed
    assert "stack new is CREATE_FAILED" in failure.value.observed
