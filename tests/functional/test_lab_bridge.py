"""The Linux bridge and its loopback on the real host. As root."""

import os
import socket

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, InternalError
from nfvbed.host.network.namespaces import inside
from nfvbed.records import NOT_SEPARABLE, CellRole, Readiness, Role
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.planes import LabPlanes
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.disturbed import PATIENCE_S, pass_all

pytestmark = pytest.mark.no_hugepages

PROJECT = open_project()
FRAME = bytes.fromhex("024e4656000102 4e4656000088b5".replace(" ", "")) + bytes(46)
"""From g0 to g1, of the EtherType for experiments."""


@pytest.fixture
def site():
    opened = LabPlanes(LabMachine(PROJECT.load_site("lab"), PROJECT.root))
    yield opened
    opened.close()


def variant(**options):
    loaded = PROJECT.load_variant("linux-bridge")
    return loaded.model_copy(update={"options": loaded.options.model_copy(update=options)})


def send_and_receive(netns, count):
    """Send frames into g0 and count those that come out of g1."""

    def work():
        with (
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out,
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5)) as into,
        ):
            out.bind(("g0", 0))
            into.bind(("g1", 0x88B5))
            into.settimeout(PATIENCE_S)
            received = 0
            for _ in range(count):
                out.send(FRAME)
                received += into.recv(2048)[: len(FRAME)] == FRAME
            return received

    return inside(netns, work)


@pytest.mark.parametrize("core_use", ["rps", "inline"])
@pytest.mark.parametrize("role", [CellRole.SUBJECT, CellRole.LOOPBACK])
def test_frames_pass_and_are_counted(site, core_use, role):
    deployment = site.deploy(variant(core_use=core_use), "p2p", role)
    site.verify(deployment)
    # No frame of the kernel's own is on the links before ours.
    assert {hop.tx_packets for hop in site.hops(deployment)} <= {0, None}
    assert send_and_receive(deployment.ports[0].netns, 100) == 100
    hops = site.hops(deployment)
    assert (hops[0].tx_packets, hops[-1].rx_packets) == (100, 100)
    if role is CellRole.SUBJECT:
        assert [h.name for h in hops][1:4] == ["br0 port s0", "br0", "br0 port s1"]
        assert (hops[1].rx_packets, hops[3].tx_packets) == (100, 100)
        assert site.counters(deployment).packets == 100
    else:
        assert site.counters(deployment) is None
    site.destroy(deployment)


def test_threads_sit_where_the_arrangement_says_and_their_cycles_count(site):
    # Without segmentation offload a veth hands plain frames to NAPI, as it always does those that XDP redirects.
    deployment = site.deploy(variant(offloads=False), "p2p")
    threads = site.work_threads(deployment)
    places = {thread.name.split("-")[0]: (thread.role, thread.core) for thread in threads}
    assert places == {
        "napi/s0": (Role.SWITCH, 0),
        "napi/s1": (Role.SWITCH, 0),
        "napi/g0": (Role.GENERATOR, 1),
        "napi/g1": (Role.GENERATOR, 1),
    }
    assert all(os.sched_getaffinity(thread.tid) == {thread.core} for thread in threads)
    first = site.counters(deployment)
    send_and_receive(deployment.ports[0].netns, 200)
    second = site.counters(deployment)
    assert second.busy_cycles > first.busy_cycles
    assert "NAPI" in second.source
    assert max(site.core_distances_ns(deployment).values()) > 0
    site.destroy(deployment)


def test_inline_work_cannot_be_separated(site):
    deployment = site.deploy(variant(core_use="inline"), "p2p")
    assert site.work_threads(deployment) == ()
    assert site.counters(deployment).busy_cycles == NOT_SEPARABLE


def test_only_one_deployment_at_a_time(site):
    site.deploy(variant(), "p2p")
    with pytest.raises(InternalError, match="a second deployment"):
        site.deploy(variant(), "p2p", CellRole.LOOPBACK)


def test_probe_is_ready_and_leaves_nothing(site):
    for core_use in ("threaded-napi", "rps", "inline"):
        assert site.probe(variant(core_use=core_use)).readiness is Readiness.READY
    assert site.probe(variant(netfilter=True)).readiness is Readiness.READY


@pytest.mark.parametrize("core_use", ["rps", "inline"])
def test_generator_loses_nothing_of_a_slow_trickle(site, core_use):
    deployment = site.deploy(variant(core_use=core_use), "p2p")
    generator = site.open_generator(deployment)
    try:
        result = pass_all(generator, TrafficRequest(duration_ns=200_000_000, frame_size=64, rate_pps=5_000)).result
    finally:
        generator.close()
    for direction in result.directions:
        assert (direction.lost, direction.duplicated, direction.corrupted) == (0, 0, 0)
    assert result.foreign == (0, 0)
    site.verify(deployment)
    site.destroy(deployment)


def test_sink_is_not_overrun_at_full_rate(site):
    deployment = site.deploy(variant(), "p2p")
    generator = site.open_generator(deployment)
    try:
        result = generator.run(TrafficRequest(duration_ns=300_000_000, frame_size=64))
    finally:
        generator.close()
    sent = sum(direction.sent for direction in result.directions)
    lost = sum(direction.lost for direction in result.directions)
    assert lost < 0.05 * sent, f"{lost} of {sent} lost"
    counted = site.counters(deployment)
    assert counted.packets >= sent
    site.destroy(deployment)


def test_a_frame_that_no_xdp_frame_can_be_is_refused_before_anything_is_sent(site):
    deployment = site.deploy(variant(), "p2p")
    generator = site.open_generator(deployment)
    with pytest.raises(ConfigurationError, match="9000 bytes do not fit"):
        generator.run(TrafficRequest(duration_ns=10_000_000, frame_size=9000))
    generator.close()
    site.destroy(deployment)
