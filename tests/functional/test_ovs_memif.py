"""Open vSwitch with memif ports, and their ceilings: real frames through all of them. As root."""

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import CellRole, PortKind
from nfvbed.spec.choices import resolve
from nfvbed.spec.loader import Project
from nfvbed.spec.vnf import VnfUse
from nfvbed.traffic.generator import TrafficRequest

PROJECT = Project()
REQUEST = TrafficRequest(duration_ns=200_000_000, frame_size=64, rate_pps=2_000, frames=400, learning_frames=1)


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def memif(**use):
    variant = PROJECT.load_variant("ovs-dpdk-memif")
    return variant, resolve(VnfUse(forwarding="io", **use), variant, PROJECT)


def passes(site, deployment):
    """Send frames both ways; the generator may be opened again, as it is between cells."""
    generator = site.open_generator(deployment)
    wait_for_links(generator)
    generator.run(TrafficRequest(duration_ns=50_000_000, frame_size=64, rate_pps=1_000))
    before = {hop.name: hop for hop in site.hops(deployment)}
    result = generator.run(REQUEST)
    sent = [direction.sent for direction in result.directions]
    assert [direction.received for direction in result.directions] == sent
    assert min(sent) > 0
    for hop in site.hops(deployment):
        if hop.rx_packets is not None:
            assert hop.rx_packets - before[hop.name].rx_packets >= min(sent), hop.name
            assert hop.tx_packets - before[hop.name].tx_packets >= min(sent), hop.name
    generator.close()


def test_frames_pass_two_vnfs_and_a_generator_that_comes_again(site):
    variant, choice = memif()
    deployment = site.deploy(variant, "pvvp", vnf=choice)
    assert {port.kind for ports in deployment.vnf_ports for port in ports} == {PortKind.MEMIF}
    passes(site, deployment)
    passes(site, deployment)
    with pytest.raises(UnsupportedError, match="memif"):
        site.reset(deployment, 0)
    site.verify(deployment)
    site.destroy(deployment)


@pytest.mark.parametrize(
    ("role", "topology"),
    [(CellRole.LOOPBACK, "p2p"), (CellRole.REFERENCE, "p2p"), (CellRole.VNF, "pvp")],
)
def test_ceilings_pass_every_frame(site, role, topology):
    variant, choice = memif()
    deployment = site.deploy(variant, topology, role, vnf=choice if topology == "pvp" else None)
    assert {port.kind for port in deployment.ports} == {PortKind.MEMIF}
    passes(site, deployment)
    site.destroy(deployment)
