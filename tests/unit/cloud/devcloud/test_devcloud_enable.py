"""Which compute gets new instances: exactly one, and never one that an operator has disabled."""

import pytest

from nfvbed.cloud.devcloud import enable
from nfvbed.errors import DeployError


class Nova:
    """Nova's compute services, by host: None is enabled, else the reason."""

    def __init__(self, **reasons):
        self.reasons = {host.replace("_", "-"): reason for host, reason in reasons.items()}
        self.asked = []

    def get(self, service, path):
        assert (service, path) == ("nova", "/v2.1/os-services?binary=nova-compute")
        return {
            "services": [
                {"host": host, "status": "enabled" if reason is None else "disabled", "disabled_reason": reason}
                for host, reason in self.reasons.items()
            ]
        }

    def put(self, service, path, body):
        assert (service, body["binary"]) == ("nova", "nova-compute")
        self.asked.append(path.rpartition("/")[2])
        self.reasons[body["host"]] = body.get("disabled_reason")


def test_one_is_enabled_and_the_others_say_why_not():
    nova = Nova(controller=None, linux_bridge="nfvbed: controller is deployed", macvtap=None)
    enable.only(nova, "linux-bridge")
    why = "nfvbed: linux-bridge is deployed"
    assert nova.reasons == {"controller": why, "linux-bridge": None, "macvtap": why}
    assert nova.asked == ["enable", "disable-log-reason", "disable-log-reason"]


def test_two_are_enabled_where_machines_are_to_be_apart():
    nova = Nova(controller=None, second="nfvbed: controller is deployed", macvtap=None)
    enable.only(nova, "controller", "second")
    assert nova.reasons == {"controller": None, "second": None, "macvtap": "nfvbed: controller is deployed"}
    enable.only(nova, "controller")
    assert nova.reasons["second"] == "nfvbed: controller is deployed"


def test_nothing_is_asked_for_what_is_so():
    nova = Nova(controller=None, linux_bridge="nfvbed: controller is deployed")
    enable.only(nova, "controller")
    assert nova.asked == []


def test_release_leaves_the_controllers():
    nova = Nova(controller="nfvbed: macvtap is deployed", macvtap=None)
    enable.release(nova)
    assert nova.reasons == {"controller": None, "macvtap": "nfvbed: controller is deployed"}


def test_what_an_operator_disabled_stays_so():
    nova = Nova(controller=None, linux_bridge="broken fan", macvtap=None)
    enable.only(nova, "macvtap")
    assert nova.reasons["linux-bridge"] == "broken fan"
    with pytest.raises(DeployError, match="compute service of host linux-bridge is disabled") as raised:
        enable.only(nova, "linux-bridge")
    assert "'broken fan'" in raised.value.observed
    assert nova.reasons["macvtap"] is None


def test_one_that_nova_does_not_know_is_an_error():
    with pytest.raises(DeployError, match="no compute service of host macvtap") as raised:
        enable.only(Nova(controller=None), "macvtap")
    assert raised.value.observed == "there are controller"
