"""The prefixes that routes are made of, and whose routes they are; the kernel's part is a functional test."""

from ipaddress import IPv4Network

import pytest

from nfvbed.dataplanes.networks import FLOWS_MOST, prefixes
from nfvbed.dataplanes.tables import TableNotApplicable
from nfvbed.errors import UnsupportedError
from nfvbed.records import VnfHandle, VnfKind, VnfPort
from nfvbed.vnfs.process.routes import RouteTable


def test_frames_of_every_flow_have_a_route_of_their_own_and_no_prefix_is_twice():
    for way, (first, last) in enumerate((("128.0.0.0/2", 128), ("16.0.0.0/4", 16))):
        found = list(prefixes(way, 500_000))
        assert len(set(found)) == 500_000
        assert min(found) == int(IPv4Network(first).network_address)
        assert all(number & 0xFF == 0 for number in found[:1000])
        # A flow's destination is the first address of the network of its number.
        assert found[:FLOWS_MOST] == [(last << 24) + (flow << 16) for flow in range(FLOWS_MOST)]


def test_no_prefix_has_a_meaning_of_its_own():
    """Neither this host's, nor multicast, nor reserved: the first bytes stay in what unicast has."""
    first = {number >> 24 for way in (0, 1) for number in prefixes(way, RouteTable.most // 2)}
    assert first == set(range(16, 80)) | set(range(128, 192))
    assert 127 not in first


def handle(kind: VnfKind = VnfKind.PROCESS) -> VnfHandle:
    ports = tuple(
        VnfPort(name="v", vnf=0, port=port, kind="veth", address=f"eth{port}", mac="02:00:00:00:00:01")
        for port in (0, 1)
    )
    return VnfHandle(name="vnf1", kind=kind, forwarding="router", ports=ports, control={"netns": "/run/netns/none"})


def test_only_one_vnf_of_the_kernel_has_a_table():
    assert RouteTable.of([handle()]).entry == "routes"
    with pytest.raises(TableNotApplicable, match="one VNF"):
        RouteTable.of([handle(), handle()])
    with pytest.raises(UnsupportedError, match="guest"):
        RouteTable.of([handle(VnfKind.VM)])
