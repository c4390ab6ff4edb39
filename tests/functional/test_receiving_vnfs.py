"""What arrives at a VNF that is the end of a path, and that the generator's other port leads nowhere. As root."""

import contextlib
import socket

import pytest

from nfvbed.host.network.namespaces import inside
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import PROJECT, vnf
from tests.functional.disturbed import retried, wait_until
from tests.functional.switch_ports import generator_between, socket_of

ETH_P_IP = 0x0800
SO_RCVBUFFORCE = 33
"""For root: a buffer beyond the limit of other users (socket(7)); Python has no name for it."""
ONE_WAY = TrafficRequest(
    duration_ns=2_000_000_000, frame_size=64, rate_pps=1000, frames=300, bidirectional=False, learning_frames=0
)


def hear(netns, link):
    """Open a packet socket on a link that keeps all that arrives meanwhile."""

    def work():
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
        opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        opened.bind((link, ETH_P_IP))
        opened.setblocking(False)
        return opened

    return inside(netns, work)


def heard(opened):
    """Take what has arrived at a packet socket, without what was sent from there."""
    frames = []
    with contextlib.suppress(BlockingIOError):
        while True:
            frame, sender = opened.recvfrom(2048)
            if sender[2] != socket.PACKET_OUTGOING:
                frames.append(frame)
    return frames


def test_every_frame_arrives_at_the_vnf_that_receives_and_at_no_port_else(lab):
    deployment = lab.deploy(PROJECT.load_variant("linux-bridge"), "p2v", vnf=vnf())
    ((port,),) = deployment.vnf_ports
    generator = lab.open_generator(deployment)
    ear = hear(port.netns, port.address)
    try:
        assert len(deployment.ports) == 1
        assert wait_until(lambda: generator.hello().link_up[0])

        def sent_and_heard():
            heard(ear)
            (counts,) = generator.run(ONE_WAY).directions
            return counts, heard(ear)

        counts, frames = retried(sent_and_heard, lambda made: len(made[1]) == made[0].sent)
    finally:
        ear.close()
        generator.close()
    assert counts.sent > 0
    assert len(frames) == counts.sent, "each frame once"
    assert {len(frame) for frame in frames} == {ONE_WAY.frame_size - 4}, "the FCS is the link's"
    assert len(set(frames)) == counts.sent, "no two are the same: each bears its own number"
    assert counts.received == 0, "the generator's other port leads nowhere"
    lab.destroy(deployment)


def test_every_frame_arrives_at_the_vnfs_port_of_open_vswitch(lab):
    deployment = lab.deploy(PROJECT.load_variant("ovs-dpdk"), "p2v", vnf=vnf())
    assert len(deployment.ports) == 1
    ends = [socket_of(deployment, "p0"), socket_of(deployment, "v1a")]
    directions, hops = generator_between(lab, deployment, ends, lambda found: found[0].received == found[0].sent)
    assert directions[0].received == directions[0].sent > 0
    counted = {hop.name: hop for hop in hops}
    assert counted["br0 port v1a"].tx_packets >= directions[0].sent
    lab.destroy(deployment)


@pytest.mark.parametrize("topology", ["p2v", "v2p"])
def test_generator_with_one_port_has_another_that_leads_nowhere(lab, topology):
    deployment = lab.deploy(PROJECT.load_variant("ovs-dpdk"), topology, vnf=vnf())
    assert len(deployment.ports) == 1
    generator = lab.open_generator(deployment)
    try:
        (counts,) = generator.run(ONE_WAY).directions
    finally:
        generator.close()
    assert counts.received == 0
    # Nothing receives on the VNF's vhost-user port: what the switch drops there, the generator could send all the same.
    assert counts.sent > 0
    assert counts.lost == counts.sent
    lab.destroy(deployment)
