"""ONOS's client against a double that replays requests and answers in ONOS's formats."""

import pytest

from nfvbed.dataplanes.ovs.openflow import Rule, UdpSource
from nfvbed.dataplanes.ovs.steering.catalogue import steering
from nfvbed.dataplanes.ovs.steering.onos_client import OnosClient
from nfvbed.dataplanes.ovs.steering.path import SHARE_PRIORITY
from nfvbed.errors import ConfigurationError, DeployError, PrerequisiteError
from nfvbed.spec.onos import OnosSpec
from tests.onos_double import PASSWORD, OnosDouble

DEVICE = "of:00000a4e46560001"
ENVIRONMENT = {"ONOS_PASSWORD": PASSWORD}
RULES = (Rule(3, 1, 1, SHARE_PRIORITY, UdpSource(4, 1, 1)), Rule(1, 3, 2))


@pytest.fixture
def onos():
    double = OnosDouble()
    yield double
    double.close()


def client(url, environment=ENVIRONMENT, **keys):
    return OnosClient(OnosSpec(url=url, openflow_host="198.18.0.2", **keys), environment)


def test_devices(onos):
    assert client(onos.url).devices() == {DEVICE: True, "of:0000000000000003": False}


def test_rules_are_asked_for_in_onos_words(onos):
    assert client(onos.url).add_flows(DEVICE, RULES) == ("49539596720275220", "49539597823310612")


def test_flows_with_state_and_counters(onos):
    flows = client(onos.url).flows(DEVICE)
    assert [(flow.state, flow.packets, flow.octets) for flow in flows[:2]] == [("ADDED", 7, 420), ("PENDING_ADD", 0, 0)]
    assert [flow.application for flow in flows] == [
        "org.nfvbed.steering",
        "org.nfvbed.steering",
        "org.onosproject.core",
    ]


def test_switch_without_flows_has_none(onos):
    assert client(onos.url).flows("of:0000000000000099") == ()


def test_flows_are_removed_by_their_ids(onos):
    client(onos.url).remove_flows(DEVICE, ["49539596720275220"])
    assert onos.seen == [("DELETE", "/onos/v1/flows")]


def test_refused_request_is_reported_in_onos_words(onos):
    with pytest.raises(DeployError, match="refuses") as caught:
        client(onos.url, application="broken").add_flows(DEVICE, [])
    assert "priority member is required" in caught.value.observed


def test_wrong_password_is_not_reported(onos):
    with pytest.raises(ConfigurationError, match="user onos") as caught:
        client(onos.url, {"ONOS_PASSWORD": "another-word"}).devices()
    assert "another-word" not in str(caught.value)
    assert "ONOS_PASSWORD" in caught.value.fix


@pytest.mark.parametrize("environment", [{}, {"ONOS_PASSWORD": ""}])
def test_password_that_is_not_there(onos, environment):
    with pytest.raises(PrerequisiteError, match="password") as caught:
        client(onos.url, environment).devices()
    assert caught.value.where == "environment variable ONOS_PASSWORD"
    assert onos.seen == []


def test_password_is_not_sent_elsewhere(onos):
    first = OnosDouble(lambda *_: (302, f"{onos.url}/onos/v1/devices"))
    with pytest.raises(DeployError, match="refuses") as caught:
        client(first.url).devices()
    first.close()
    assert "HTTP 302" in caught.value.observed
    assert onos.seen == []


@pytest.mark.parametrize(("answer", "message"), [("<html>", "not JSON"), ({"nodes": []}, "form")])
def test_answer_of_something_else(answer, message):
    double = OnosDouble(lambda *_: (200, answer))
    with pytest.raises(DeployError, match=message):
        client(double.url).devices()
    double.close()


def test_nobody_listens(onos):
    onos.close()
    with pytest.raises(DeployError, match="does not answer") as caught:
        client(onos.url).devices()
    assert PASSWORD not in str(caught.value)
    assert "refused" in caught.value.observed


def test_site_without_onos():
    with pytest.raises(ConfigurationError, match="needs an ONOS"):
        steering("onos")


def test_unknown_steering():
    with pytest.raises(ConfigurationError, match="'magic'") as caught:
        steering("magic")
    assert "static, controller, onos" in caught.value.observed


@pytest.mark.parametrize(
    "keys",
    [{"url": "http://user:word@198.18.0.2:8181"}, {"url": "198.18.0.2"}, {"password": "word"}, {"openflow_port": 0}],
)
def test_spec_takes_no_secrets_and_no_nonsense(keys):
    with pytest.raises(ValueError):
        OnosSpec(**({"url": "http://198.18.0.2:8181", "openflow_host": "198.18.0.2"} | keys))
