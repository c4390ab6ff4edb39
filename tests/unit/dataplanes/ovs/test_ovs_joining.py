"""A port whose other side is open is waited for until the switch itself has it."""

import pytest

from nfvbed.dataplanes.ovs import joining
from nfvbed.dataplanes.ovs.reading import BridgeView
from nfvbed.errors import DeployError, SwitchDiedError

VIEW = BridgeView("br0", "unixctl", "openflow")
PORTS = {"p0": 1, "p1": 2}


class Bridge:
    """Says of its links what it is to say, one answer after the other, and the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, path):
        assert path == VIEW.openflow
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def links(self):
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture(name="waited")
def _waited(monkeypatch):
    def wait(bridge, ports=PORTS, check=lambda: None, patience_s=0.0):
        monkeypatch.setattr(joining, "BridgeController", bridge)
        monkeypatch.setattr(joining, "PATIENCE_S", patience_s)
        monkeypatch.setattr(joining, "_LOOK_AROUND_S", 0)
        joining.wait_for_links(VIEW, ports, check)
        return bridge.asked

    return wait


def test_it_waits_for_the_last_port_and_for_no_other(waited):
    bridge = Bridge({1: False, 2: False}, {1: True, 2: False}, {1: True, 2: True, 3: False})
    assert waited(bridge, patience_s=60) == 3


def test_where_there_is_none_nobody_is_asked(waited):
    assert waited(Bridge({}), {}) == 0


def test_a_port_that_is_not_joined_is_named(waited):
    with pytest.raises(DeployError, match="does not join its ports") as caught:
        waited(Bridge({1: True, 2: False}))
    assert caught.value.where == "p1"


def test_a_switch_that_ended_is_not_waited_for(waited):
    def check():
        raise SwitchDiedError("ovs-vswitchd ended")

    with pytest.raises(SwitchDiedError):
        waited(Bridge({1: False, 2: False}), check=check, patience_s=60)
