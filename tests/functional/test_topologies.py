"""The switch side of topologies with VNFs, on the real switches: ports, cables, counters, and nothing left. As root.

No VNF runs here. On the bridge the test itself carries frames from a VNF's one port to its other; on Open vSwitch the
generator is at both ends of every cable in turn.
"""

import os
import socket
from pathlib import Path

import pytest

from nfvbed.errors import InternalError, SwitchDiedError, UnsupportedError
from nfvbed.host.network import veth
from nfvbed.host.network.namespaces import inside
from nfvbed.records import NOT_SEPARABLE, CellRole, PortKind, Role, VnfKind
from nfvbed.records.readings import Part
from nfvbed.sites.lab.site import LabSite
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import PROJECT, variant, vnf
from tests.functional.disturbed import PATIENCE_S, pass_all
from tests.functional.switch_ports import TRICKLE, generator_between, socket_of

ETHERTYPE = 0x88B5
FRAME = bytes.fromhex("024e4656000102 4e4656000088b5".replace(" ", "")) + bytes(46)
"""From g0 to g1, of the EtherType for experiments."""
BACK = FRAME[6:12] + FRAME[:6] + FRAME[12:]
COUNT = 20
FLOOD = TrafficRequest(duration_ns=300_000_000, frame_size=64)


@pytest.fixture(name="site")
def _site(lab):
    return lab


def listen(netns, link):
    """Open a packet socket on a link."""

    def work():
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
        opened.bind((link, ETHERTYPE))
        opened.settimeout(PATIENCE_S)
        return opened

    return inside(netns, work)


def carry(stations, frame, count=COUNT):
    """Send frames into the first link, take each out of every second one and put it into the next; give what arrives.

    Args:
        stations: (namespace, link) in the order of the path.
        frame: what is sent.
        count: how many.
    """
    sockets = [listen(*station) for station in stations]
    try:
        arrived = 0
        for _ in range(count):
            for into, out in zip(sockets[::2], sockets[1::2], strict=True):
                into.send(frame)
                received = out.recv(2048)
            arrived += received[: len(frame)] == frame
        return arrived
    finally:
        for opened in sockets:
            opened.close()


def stations(deployment):
    """Return the far ends of the bridges' ports, in the order of the path."""
    inner = [(port.netns, port.address) for ports in deployment.vnf_ports for port in ports]
    outer = [(port.netns, port.spec) for port in deployment.ports]
    if not outer or deployment.topology == "v2p":
        return [*inner, *outer]
    return [outer[0], *inner, *outer[1:]]


@pytest.mark.no_hugepages
@pytest.mark.parametrize(
    ("topology", "core_use"),
    [
        *((topology, "threaded-napi") for topology in ("pvp", "pv3p", "p2v", "v2p", "v2v")),
        *(("pv3p", core_use) for core_use in ("rps", "inline")),
    ],
)
def test_frames_cross_every_bridge_and_are_counted_there(site, topology, core_use):
    deployment = site.deploy(variant("linux-bridge", core_use=core_use), topology, vnf=vnf(forwarding="bridge"))
    site.verify(deployment)
    assert all(port.kind is PortKind.VETH for ports in deployment.vnf_ports for port in ports)
    path = stations(deployment)
    assert carry(path, FRAME) == carry(path[::-1], BACK) == COUNT
    within = [hop for hop in site.hops(deployment) if " port s" in hop.name or " port v" in hop.name]
    assert [hop.name.split()[0] for hop in within] == [f"br{n}" for n in range(len(path) // 2) for _ in "ab"]
    assert all((hop.rx_packets, hop.tx_packets) == (COUNT, COUNT) for hop in within), within
    assert site.counters(deployment).packets == COUNT * len(path)
    site.destroy(deployment)


def test_path_on_the_bridge_is_named_in_order(site):
    deployment = site.deploy(variant("linux-bridge"), "pvvp", vnf=vnf(forwarding="bridge"))
    assert [hop.name for hop in site.hops(deployment)] == [
        *("generator port 0 (g0)", "br0 port s0", "br0", "br0 port v1a"),
        *("br1 port v1b", "br1", "br1 port v2a", "br2 port v2b", "br2", "br2 port s1", "generator port 1 (g1)"),
    ]
    spaces = {port.netns for ports in deployment.vnf_ports for port in ports}
    assert len(spaces) == 2, "a namespace for each VNF"
    site.destroy(deployment)


def test_sinks_come_before_vnfs_that_share_their_core(site):
    for topology in ("p2p", "pvp"):
        deployment = site.deploy(variant("linux-bridge"), topology, vnf=vnf(forwarding="bridge"))
        placed = site.host_view(deployment).arrangement
        threads = {thread.name.split("-")[0]: thread for thread in site.work_threads(deployment)}
        switch = [f"napi/{hop.name.split()[2]}" for hop in site.hops(deployment) if hop.name.startswith("br0 port")]
        assert set(switch) < set(threads)
        assert all(threads[name].core == placed.switch_cores[0] for name in switch)
        shares = placed.generator_core in placed.vnf_cores
        for name in ("napi/g0", "napi/g1"):
            assert threads[name].role is Role.GENERATOR
            assert os.sched_getparam(threads[name].tid).sched_priority == 1 + shares
        site.destroy(deployment)


def test_bridge_makes_taps_for_virtual_machines(site):
    deployment = site.deploy(variant("linux-bridge"), "pvp", vnf=vnf(kind=VnfKind.VM))
    ports = deployment.vnf_ports[0]
    switch = deployment.control["switch_netns"]
    assert [(port.kind, port.address, port.netns) for port in ports] == [
        (PortKind.TAP, "v1a", switch),
        (PortKind.TAP, "v1b", switch),
    ]
    site.verify(deployment)  # though the taps have no carrier before the guest opens them
    assert not any(found.up for found in veth.read(switch, ("v1a", "v1b")).values())
    counted = site.counters(deployment)
    assert counted.busy_cycles == NOT_SEPARABLE
    assert "tap" in counted.source
    site.destroy(deployment)


def test_link_that_somebody_removed_from_the_middle_of_a_chain(site):
    from pyroute2 import IPRoute

    deployment = site.deploy(variant("linux-bridge"), "pvvp", vnf=vnf(forwarding="bridge"))

    def remove():
        with IPRoute() as route:
            route.link("del", index=route.link_lookup(ifname="v2a")[0])

    inside(deployment.control["switch_netns"], remove)
    with pytest.raises(SwitchDiedError, match="links under test are gone"):
        site.verify(deployment)
    site.destroy(deployment)


@pytest.mark.parametrize(
    ("name", "topology", "choice", "words"),
    [
        ("linux-bridge", "pvp", {"kind": VnfKind.VM, "vnic": "macvtap"}, "cannot be attached to a switch"),
        ("ovs-dpdk", "pvp", {"forwarding": "bridge"}, "needs kernel ports"),
        ("ovs-dpdk", "pvp", {"kind": VnfKind.VM, "vnic": "e1000"}, "needs a kernel port"),
    ],
)
def test_what_a_switch_cannot_do_is_refused_with_the_reason(site, name, topology, choice, words):
    with pytest.raises(UnsupportedError, match=words) as caught:
        site.deploy(PROJECT.load_variant(name), topology, vnf=vnf(**choice))
    assert caught.value.observed
    assert caught.value.fix


def test_topology_with_vnfs_needs_one(site):
    with pytest.raises(InternalError, match="needs a VNF"):
        site.deploy(PROJECT.load_variant("linux-bridge"), "pvp")


def test_path_on_open_vswitch_is_named_in_order(site):
    deployment = site.deploy(PROJECT.load_variant("ovs-dpdk"), "pvvp", vnf=vnf())
    kinds = {port.kind for ports in deployment.vnf_ports for port in ports}
    assert kinds == {PortKind.VHOST_USER}
    ports = ["p0", "v1a", "v1b", "v2a", "v2b", "p1"]
    names = [hop.name for hop in site.hops(deployment)]
    assert names == ["br0 port p0", "br0 datapath", *(f"br0 port {port}" for port in ports[1:])]
    assert list(site.counters(deployment).raw["ports"]) == ports
    site.destroy(deployment)


def test_open_vswitch_shares_flows_out_among_parallel_vnfs(site):
    deployment = site.deploy(PROJECT.load_variant("ovs-dpdk"), "pvpv", vnf=vnf())

    def halved(directions):
        into, back = directions
        half, odd = divmod(into.sent, 2)
        return into.received in (half, half + odd) and half > 0 and back.received == back.sent > 0

    ends = [socket_of(deployment, "p0"), socket_of(deployment, "v2a")]
    directions, _ = generator_between(site, deployment, ends, halved)
    assert halved(directions), f"the other half goes to the other VNF: {directions}"
    site.destroy(deployment)


def test_no_generator_where_both_ends_are_vnfs(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "v2v", vnf=vnf())
    assert deployment.ports == ()
    with pytest.raises(InternalError, match="leaves no port"):
        site.open_generator(deployment)
    site.destroy(deployment)


def test_vnf_ports_of_a_standing_deployment(site):
    loaded = PROJECT.load_variant("linux-bridge")
    deployment, existed = site.deploy_to_stay(loaded, "pvp", vnf=vnf(forwarding="bridge"))
    try:
        assert not existed
        again, existed = site.deploy_to_stay(loaded, "pvp", vnf=vnf(forwarding="bridge"))
        assert existed
        assert again == deployment
        attached = site.deploy(loaded, "pvp", vnf=vnf(forwarding="bridge"))
        path = stations(attached)
        assert carry(path, FRAME) == COUNT
        assert site.host_view(attached).workspace.id != attached.id, "what a user of it starts ends with him"
        site.destroy(attached)
        assert carry(path, FRAME) == COUNT
    finally:
        from nfvbed.host.workspace.workspace import Workspace

        assert Workspace.attach(Path(deployment.run_directory)).close() == []


def test_vnf_on_veth_ports_is_alone(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "pvp", CellRole.VNF, vnf(forwarding="bridge"))
    site.verify(deployment)
    assert site.counters(deployment) is None
    path = stations(deployment)
    assert carry(path, FRAME) == carry(path[::-1], BACK) == COUNT
    first, last = site.hops(deployment)
    assert (first.tx_packets, last.rx_packets) == (COUNT, COUNT)
    site.destroy(deployment)


@pytest.mark.parametrize(
    ("topology", "role", "forwarding"),
    [
        ("pvvp", CellRole.SUBJECT, "mac"),
        ("pvp", CellRole.VNF, "io"),
    ],
)
def test_testpmd_on_veth_ports_passes_every_frame(site, topology, role, forwarding):
    whole = LabSite(site, PROJECT.root)
    deployment = whole.deploy(PROJECT.load_variant("linux-bridge"), topology, role, vnf(forwarding=forwarding))
    generator = whole.open_generator(deployment)
    try:
        for _ in range(3):  # Under overload VNFs in a chain wait for each other; all must go on afterwards.
            generator.run(FLOOD)
        generator.run(TRICKLE)
        passage = pass_all(generator, TRICKLE, lambda: whole.look(deployment, Part.HOPS).hops)
    finally:
        generator.close()
    for old, new in zip(passage.before, passage.after, strict=True):
        if new.name.startswith("vnf"):
            assert min(passage.sent) <= new.rx_packets - old.rx_packets, new
            assert new.drops == old.drops
    # Of DPDK 22.11, of older ones, and of newer ones.
    names = ("rte-worker", "lcore-worker", "dpdk-worker")
    workers = [thread for thread in whole.look(deployment, Part.THREADS).threads if thread.name.startswith(names)]
    assert len(workers) == len(deployment.vnfs)
    assert all(os.sched_getscheduler(thread.tid) == os.SCHED_FIFO and not thread.polling for thread in workers)
    whole.destroy(deployment)
