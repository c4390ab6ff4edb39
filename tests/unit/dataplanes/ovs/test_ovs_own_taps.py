"""Own ports in the place of the generator's: which rules lead to them, and when there are none."""

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed.dataplanes.ovs import openflow, ownveths
from nfvbed.dataplanes.ovs.inplace import NUMBERS, LedPath, _led
from nfvbed.dataplanes.ovs.owntaps import _told
from nfvbed.errors import UnsupportedError

TAKEN = dict(zip((1, 2), NUMBERS, strict=True))


def test_a_path_leads_to_the_ports_and_its_vnfs_stay():
    rules = [openflow.Rule(in_port=1, output=3), openflow.Rule(in_port=4, output=2, cookie=7)]
    first, last = (_led(rule, TAKEN) for rule in rules)
    assert (first.in_port, first.output) == (NUMBERS[0], 3)
    assert (last.in_port, last.output, last.cookie) == (4, NUMBERS[1], 7)


def test_a_learning_switch_keeps_its_rule():
    rule = openflow.Rule(output=openflow.PORT_NORMAL, cookie=0)
    assert _led(rule, TAKEN) == rule


def test_what_the_switch_says_is_told_and_else_nothing():
    said = {"own0": {"tx_tcp_seg_offload": "true", "driver_name": "tun"}, "own1": {"driver_name": "tun"}}
    assert _told(said) == ("Open vSwitch says of own0: tx_tcp_seg_offload true.",)
    assert _told({}) == ()


def test_a_switch_without_afxdp_is_told_before_anything_is_made(monkeypatch):
    @contextmanager
    def database(socket):
        yield SimpleNamespace(switch=lambda: SimpleNamespace(interface_types=frozenset({"dpdk", "internal"})))

    made: list[str] = []
    monkeypatch.setattr(ownveths, "SwitchDatabase", database)
    monkeypatch.setattr(ownveths, "inside", lambda netns, work: made.append(netns))
    path = LedPath(SimpleNamespace(netns="switch", database=Path("db.sock")), (), (1, 2))
    ends = ownveths.own_veths(path, lambda: made.append("prepared"))
    with pytest.raises(UnsupportedError, match="no veth ports that its threads poll") as caught, ends:
        pass
    assert "it has dpdk, internal" in caught.value.observed
    assert made == []
