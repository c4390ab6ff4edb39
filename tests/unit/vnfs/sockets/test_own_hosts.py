"""Hosts on ports of the switch's own: the switch gives its ports up before their namespaces go."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from nfvbed.dataplanes.dataplane import OwnEnds
from nfvbed.records import Deployment
from nfvbed.vnfs.sockets import own_hosts as module


@pytest.fixture(name="order")
def _order(monkeypatch):
    order: list[str] = []
    monkeypatch.setattr(module, "make_spaces", lambda workspace: order.append("spaces") or ("a", "b"))
    monkeypatch.setattr(module, "remove_spaces", lambda spaces: order.append("no spaces"))
    monkeypatch.setattr(module, "place", lambda arrangement, polls: None)
    monkeypatch.setattr(module, "move", lambda device, before, after: order.append(f"{device} to {after}"))
    monkeypatch.setattr(module, "inside", lambda netns, work: None)
    monkeypatch.setattr(module, "set_up", lambda deployment, hosts: None)
    monkeypatch.setattr(module, "pair_of", lambda around, hosts, cores: None)
    return order


@pytest.mark.parametrize("fails", [False, True])
def test_ports_go_before_the_namespaces(order, fails):
    @contextmanager
    def own_ends():
        order.append("ports")
        try:
            yield OwnEnds(netns="switch", devices=("own0", "own1"), what="taps", threads=(), told=lambda: ())
        finally:
            order.append("no ports")

    deployment = Deployment(id="1", variant="ovs-dpdk", site="lab", topology="p2p", ports=())
    around = SimpleNamespace(workspace=None, arrangement=None)

    def use():
        with module.own_hosts(deployment, around, own_ends):
            if fails:
                raise ValueError("a tool failed")

    if fails:
        with pytest.raises(ValueError, match="a tool failed"):
            use()
    else:
        use()
    assert order == ["spaces", "ports", "own0 to a", "own1 to b", "no ports", "no spaces"]
