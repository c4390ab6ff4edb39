"""The reset of a NIC: refused where it would not be noticed, its ledger, and what must be as before. On doubles."""

import pytest

from nfvbed.dataplanes.sriov import reset
from nfvbed.dataplanes.sriov.functions import FunctionRecord
from nfvbed.dataplanes.sriov.settings import VfLink, VfState
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.ledger.entries import LinkStateEntry
from nfvbed.host.nics import netdevs

STATE = VfState(mac="02:4e:46:56:00:00", vlan=101)


class DoubleVfLink(VfLink):
    """Shows one state."""

    def __init__(self, state):
        self._state = state

    def read(self):
        return {0: self._state}

    def set(self, index, attributes):
        raise AssertionError("a reset lays nothing down")


def record(use="kernel"):
    netns, netdev = ("/run/netns/x", "g0") if use == "kernel" else ("", "")
    named = {"name": "p0", "index": 0, "address": "0000:01:10.0", "use": use, "driver": "igbvf"}
    return FunctionRecord(**named, mac=STATE.mac, netdev=netdev, netns=netns, laid_down=STATE)


@pytest.fixture(name="order")
def _order(monkeypatch):
    order = []
    monkeypatch.setattr(netdevs, "set_down", lambda name, ledger: order.append(("down", name)))
    monkeypatch.setattr(netdevs, "set_up", lambda name: order.append(("up", name)))
    monkeypatch.setattr(netdevs, "wait_for_carrier", lambda netns, names: order.append(("carrier", *names)))
    return order


@pytest.mark.parametrize("use", ["dpdk", "guest"])
def test_a_reset_that_dpdk_would_not_notice_is_refused(use):
    with pytest.raises(UnsupportedError) as refused:
        reset.check((record(), record(use)))
    assert "0000:01:10.0" in refused.value.where
    assert "attach: kernel" in refused.value.fix


def test_a_reset_is_over_when_all_functions_have_their_carrier(order, ledger):
    reset.check((record(),))
    report = reset.execute("eth0", (record(),), DoubleVfLink(STATE), ledger)
    assert order == [("down", "eth0"), ("up", "eth0"), ("carrier", "g0")]
    assert [step for step, _ in report.steps] == ["reset.down", "reset.up"]
    assert report.kind == reset.RESET


def test_a_setting_that_a_reset_took_away_is_found_out(order, ledger):
    with pytest.raises(DeployError) as found:
        reset.execute("eth0", (record(),), DoubleVfLink(STATE.model_copy(update={"vlan": 0})), ledger)
    assert "vlan=101" in found.value.observed


def test_a_reset_that_is_killed_leaves_word_that_the_link_was_up(ledger, monkeypatch):
    calls = []

    class DoubleRoute:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def link_lookup(self, ifname):
            return [3]

        def link(self, action, **keys):
            assert LinkStateEntry(name="eth0", was_up=True) in ledger.entries
            calls.append((action, keys))

    monkeypatch.setattr(netdevs, "IPRoute", DoubleRoute)
    netdevs.set_down("eth0", ledger)
    assert calls == [("set", {"index": 3, "state": "down"})]
