"""Hosts on ports of the switch's own: taps are given up before their namespaces go, veth pairs stay where they are."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from nfvbed.dataplanes.dataplane import OwnEnds
from nfvbed.records import Deployment, GeneratorPort, PortKind, Role, WorkThread
from nfvbed.vnfs.sockets import own_hosts as module
from nfvbed.vnfs.sockets.hosts import NamespaceEnds


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
        with module.tap_hosts(deployment, around, own_ends):
            if fails:
                raise ValueError("a tool failed")

    if fails:
        with pytest.raises(ValueError, match="a tool failed"):
            use()
    else:
        use()
    assert order == ["spaces", "ports", "own0 to a", "own1 to b", "no ports", "no spaces"]


def test_hosts_on_veth_pairs_are_those_of_kernel_ports_with_receive_threads(order, monkeypatch):
    thread = WorkThread(role=Role.GENERATOR, pid=9, tid=9, core=1, name="napi/user0")

    @contextmanager
    def own_ends():
        order.append("ports")
        yield OwnEnds(netns="switch", devices=("user0", "user1"), what="veth pairs", kind="own veth ports")
        order.append("no ports")

    @contextmanager
    def kernel_hosts(deployment, around):
        order.append("hosts")
        assert deployment.ports == tuple(
            GeneratorPort(engine="xdp", spec=name, kind=PortKind.VETH, netns="switch") for name in ("user0", "user1")
        )
        yield NamespaceEnds(hosts=(), devices=(), pair=None, cores=None, what="the generator's ports")
        order.append("no hosts")

    def place_generator(names, netns, arrangement):
        order.append(f"threads of {', '.join(names)} in {netns}")
        return (thread,)

    monkeypatch.setattr(module, "kernel_hosts", kernel_hosts)
    monkeypatch.setattr(module, "place_generator", place_generator)
    deployment = Deployment(id="1", variant="ovs-dpdk", site="lab", topology="p2p", ports=())
    around = SimpleNamespace(workspace=None, arrangement=None)
    with module.veth_hosts(deployment, around, own_ends) as ends:
        assert (ends.what, ends.kind, ends.threads) == ("veth pairs", "own veth ports", (thread,))
    assert order == ["ports", "threads of user0, user1 in switch", "hosts", "no hosts", "no ports"]
