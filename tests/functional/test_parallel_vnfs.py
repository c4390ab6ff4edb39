"""VNFs side by side on the real switches: each gets its share of the flows and nothing else. As root."""

import socket

import pytest
from pyroute2 import IPRoute

from nfvbed.host.network import veth
from nfvbed.host.network.namespaces import inside
from nfvbed.measure.trace import run_trace
from nfvbed.records.readings import Part
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import PROJECT, vnf
from tests.functional.disturbed import pass_all, retried, wait_until

TRICKLE = TrafficRequest(
    duration_ns=3_000_000_000, frame_size=64, rate_pps=2_000, frames=999, flows=3, learning_frames=0
)
ETHERTYPE = "88b5"
NO_ADDRESS = ["ffffffffffff", "01005e000001", "024e46562f00"]
"""Broadcast, multicast, and one that no port has."""


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def deploy(site, variant, forwarding, topology="pvpv"):
    return site.deploy(PROJECT.load_variant(variant), topology, vnf=vnf(forwarding))


def entered(before, after, vnf):
    """Return what each of a VNF's ports received meanwhile."""
    first = {hop.name: hop.rx_packets for hop in before}
    return [hop.rx_packets - first[hop.name] for hop in after if hop.name.startswith(f"vnf{vnf} port")]


def each_had_its_share(passage):
    """Whether flows 0 and 2 went to the first VNF and flow 1 to the second one; flows go in turn."""
    second = [(count + 1) // 3 for count in passage.sent]
    first = [count - other for count, other in zip(passage.sent, second, strict=True)]
    return [entered(passage.before, passage.after, vnf) for vnf in (1, 2)] == [first, second]


OF_TESTPMD = ("mac", "macswap")
"""It takes hugepages, whatever the ports are."""
FORWARDING = [pytest.param(name, marks=pytest.mark.no_hugepages) for name in ("bridge", "raw", "xdp", "router")]


@pytest.mark.parametrize("forwarding", [*FORWARDING, *OF_TESTPMD])
def test_flow_number_i_reaches_vnf_number_i_of_the_bridge_and_comes_back(site, forwarding):
    deployment = deploy(site, "linux-bridge", forwarding)
    generator = site.open_generator(deployment)
    try:
        pass_all(generator, TRICKLE, lambda: site.look(deployment, Part.HOPS).hops, each_had_its_share)
    finally:
        generator.close()
    site.destroy(deployment)


@pytest.mark.no_hugepages
@pytest.mark.parametrize(
    ("variant", "forwarding", "topology"),
    [("linux-bridge", "bridge", "pvpv"), ("ovs-dpdk", "io", "pvpv4"), ("xdp", "xdp", "pvpv4")],
)
def test_trace_shows_every_vnfs_share(site, variant, forwarding, topology):
    deployment = deploy(site, variant, forwarding, topology)
    generator = site.open_generator(deployment)
    try:
        report = retried(lambda: run_trace(site, deployment, generator, 64, 200), lambda report: report.complete)
    finally:
        generator.close()
    assert report.complete, report
    for direction in report.directions:
        assert [share.vnf for share in direction.shares] == [
            f"vnf{number + 1}" for number in range(len(deployment.vnfs))
        ]
        shares = [share.entered for share in direction.shares]
        assert sum(shares) == direction.sent
        assert max(shares) - min(shares) <= 1
        assert all(share.left == share.entered >= share.expected > 0 for share in direction.shares)
    site.destroy(deployment)


def send(netns, link, destinations):
    def work():
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as opened:
            opened.bind((link, 0))
            for destination in destinations:
                opened.send(bytes.fromhex(destination + "024e46560000" + ETHERTYPE) + bytes(46))

    inside(netns, work)


def counts(netns, names):
    """Return received and sent frames of each port."""
    return {name: (found.rx_packets, found.tx_packets) for name, found in veth.read(netns, names).items()}


@pytest.mark.no_hugepages
def test_nothing_is_flooded_or_learnt_and_vnfs_cannot_reach_each_other(site):
    deployment = deploy(site, "linux-bridge", "xdp")
    site.close_generators(deployment)
    switch = deployment.control["switch_netns"]
    names = ("s0", "s1", "v1a", "v1b", "v2a", "v2b")
    before = counts(switch, names)
    outside, first = deployment.ports[0], deployment.vnf_ports[0][0]
    send(outside.netns, outside.spec, NO_ADDRESS)
    # What leaves the first VNF for the second one's share, as if it looped.
    send(first.netns, first.address, [*NO_ADDRESS, "024e46562001"])
    send(outside.netns, outside.spec, ["024e46562001"])

    def risen():
        return {
            name: (now[0] - before[name][0], now[1] - before[name][1]) for name, now in counts(switch, names).items()
        }

    # One frame has a receiver: it goes in at s0, out at v2a and, through the second VNF, in at v2b and out at s1.
    expected = {"s0": (4, 0), "v1a": (4, 0), "v2a": (0, 1), "v2b": (1, 0), "s1": (0, 1), "v1b": (0, 0)}
    wait_until(lambda: risen() == expected)
    assert risen() == expected

    def learnt():
        # Entries without "permanent" or "noarp" are what a bridge has learnt.
        with IPRoute() as route:
            return [entry for entry in route.fdb("dump") if not entry["state"] & 0xC0]

    assert inside(switch, learnt) == []
    site.destroy(deployment)
