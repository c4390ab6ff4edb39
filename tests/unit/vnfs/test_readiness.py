"""Frames through every VNF decide, not some frames."""

from types import SimpleNamespace

import pytest

from nfvbed.errors import OnboardError
from nfvbed.records import Deployment, DirectionCounts, Engine, Hop, HopKind
from nfvbed.spec.bearers import Bearer, BearerTable
from nfvbed.spec.layout import End
from nfvbed.traffic.bearers import BearerGenerator
from nfvbed.traffic.generator import BearerPath, GeneratorInfo
from nfvbed.vnfs.path import woven
from nfvbed.vnfs.readiness import wait_until_forwarding


class Probed:
    """A generator through whose path so many of ten frames come."""

    def __init__(self, *received):
        self.received = received
        self.flows = 0

    def hello(self):
        return SimpleNamespace(link_up=(True, True))

    def run(self, request):
        self.flows = request.flows
        directions = tuple(
            DirectionCounts(intended=10, sent=10, received=count, lost=10 - count) for count in self.received
        )
        return SimpleNamespace(directions=directions)


class OverBearers:
    """The same below a generator whose frames go over bearers."""

    ports = ()

    def __init__(self, probed):
        self.probed = probed

    def hello(self):
        return GeneratorInfo(
            engine=Engine(name="e", version="1"),
            pid=0,
            thread_id=0,
            core=0,
            tsc_hz=0,
            min_frame_size_bytes=64,
            max_frame_size_bytes=1518,
            max_flows=1,
            link_up=(True, True),
        )

    def run(self, request):
        assert request.bearers is PATH
        return self.probed.run(request)


BEARER = Bearer(imsi="001010000000001", ue="10.231.0.2", uplink_teid=1, downlink_teid=2)
PATH = BearerPath(BearerTable(enb="198.18.0.1", sgw="198.18.255.1", server="198.19.0.1", bearers=(BEARER,)))


def probe(topology, *received):
    generator = Probed(*received)
    deployment = Deployment(id="d", variant="v", site="s", topology=topology, ports=())
    report = wait_until_forwarding(generator, 10, 0.0, (tuple, lambda: None), deployment)
    return generator.flows, report.received


def test_one_way_is_open_when_a_frame_comes():
    assert probe("pvp", 1, 1) == (1, 2)
    with pytest.raises(OnboardError, match="no frame comes through"):
        probe("pvp", 10, 0)


@pytest.mark.parametrize(("received", "corrupted"), [(9, 0), (10, 1)])
def test_over_bearers_every_frame_must_be_as_its_bearer_has_it(received, corrupted):
    """One that is lost or wrong says that the gateway's table has a bearer that no attach gave."""

    class Harmed(Probed):
        def run(self, request):
            directions = super().run(request).directions
            return SimpleNamespace(directions=tuple(d.model_copy(update={"corrupted": corrupted}) for d in directions))

    deployment = Deployment(id="d", variant="v", site="s", topology="vepc", ports=())
    whole = BearerGenerator(OverBearers(Probed(10, 10)), PATH)
    assert wait_until_forwarding(whole, 10, 0.0, (tuple, lambda: None), deployment).received == 20
    harmed = BearerGenerator(OverBearers(Harmed(received, 10)), PATH)
    with pytest.raises(OnboardError):
        wait_until_forwarding(harmed, 10, 0.0, (tuple, lambda: None), deployment)


def test_side_by_side_more_must_come_than_one_vnf_could_pass_on():
    assert probe("pvpv", 6, 6) == (2, 12)
    with pytest.raises(OnboardError):
        probe("pvpv", 10, 5)


def test_what_was_dropped_on_the_way_is_reported():
    deployment = Deployment(id="d", variant="v", site="s", topology="pvp", ports=())
    readings = iter([(Hop(name="vnf1", rx_packets=3, drops={"rx_nombuf": 1, "imissed": 2}),)])
    later = (Hop(name="vnf1", rx_packets=3, drops={"rx_nombuf": 8, "imissed": 2}),)
    with pytest.raises(OnboardError) as caught:
        wait_until_forwarding(Probed(10, 0), 10, 0.0, (lambda: next(readings, later), lambda: None), deployment)
    assert caught.value.observed.endswith("vnf1: rx 0 rx_nombuf 7")


def test_hops_at_a_vnf_know_whose_they_are():
    ends = (End(None, 0), End(0, 0), End(0, 1), End(1, 0), End(1, 1), End(None, 1))
    switch = [
        Hop(name=f"br0 port {name}", kind=HopKind.SWITCH_PORT, vnf=end.vnf, port=end.port)
        for name, end in zip(("s0", "v1a", "v1b", "v2a", "v2b", "s1"), ends, strict=True)
    ]
    path = woven(switch, [[Hop(name="vnf1 port 0")], [Hop(name="vnf2 port 0")]])
    assert [(hop.name.split("port ")[1], hop.vnf) for hop in path] == [
        *(("s0", None), ("v1a", 0), ("0", 0), ("v1b", 0), ("v2a", 1), ("0", 1), ("v2b", 1), ("s1", None)),
    ]
