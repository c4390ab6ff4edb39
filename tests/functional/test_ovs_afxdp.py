"""Open vSwitch on AF_XDP sockets: real frames through real sockets, veth, vhost-user and the switch. As root."""

import os
from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import pmd, rxq
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import PortKind, Readiness, Role
from nfvbed.records.readings import Part
from nfvbed.spec.choices import resolve
from nfvbed.spec.vnf import VnfUse
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import PROJECT, validated
from tests.functional.disturbed import pass_all

FRAMES = 500
REQUEST = TrafficRequest(duration_ns=500_000_000, frame_size=64, rate_pps=1_000, frames=FRAMES, learning_frames=1)


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def process(wanted, forwarding="io"):
    return resolve(VnfUse(forwarding=forwarding), wanted, PROJECT)


def all_frames_come_through(site, deployment, generator):
    """Send some; what entered the path at each hop left it at the next."""
    passage = pass_all(generator, REQUEST, lambda: site.look(deployment, Part.HOPS).hops)
    for old, hop in zip(passage.before, passage.after, strict=True):
        if hop.rx_packets is not None:
            assert hop.rx_packets - old.rx_packets >= min(passage.sent), hop.name
            assert hop.tx_packets - old.tx_packets >= min(passage.sent), hop.name
    return tuple(hop.name for hop in passage.after)


def test_frames_pass_polled_ports_with_two_queues(site):
    wanted = validated("ovs-afxdp", xdp_mode="native", n_rxq=2, rxq_affinity={"p0": (0, 0), "p1": (0, 0)})
    deployment = site.deploy(wanted, "p2p")
    generator = site.open_generator(deployment)
    wait_for_links(generator)
    names = all_frames_come_through(site, deployment, generator)
    assert names == (
        "generator port 0 (g0)",
        "br0 port p0",
        "br0 datapath",
        "br0 port p1",
        "generator port 1 (g1)",
    )
    counted = site.look(deployment, Part.COUNTERS).counters
    assert counted.source in (pmd.SOURCE, pmd.ROUNDED_SOURCE)
    assert counted.busy_cycles > 0
    loads = rxq.read_loads(Path(deployment.control["unixctl"]), 5)
    assert {(load.port, load.queue) for load in loads.queues} == {("p0", 0), ("p0", 1), ("p1", 0), ("p1", 1)}
    (thread,) = [t for t in site.look(deployment, Part.THREADS).threads if t.role is Role.SWITCH]
    assert thread.polling
    assert thread.core == int(deployment.control["switch_core"])
    generator.close()
    site.destroy(deployment)


def test_by_interrupt_the_main_thread_forwards(site):
    wanted = validated("ovs-afxdp-interrupt")
    deployment = site.deploy(wanted, "pvp", vnf=process(wanted, "bridge"))
    generator = site.open_generator(deployment)
    first = site.look(deployment, Part.COUNTERS).counters
    names = all_frames_come_through(site, deployment, generator)
    assert "br0 port v1a" in names
    (thread,) = [t for t in site.look(deployment, Part.THREADS).threads if t.role is Role.SWITCH]
    assert (thread.pid, thread.polling) == (thread.tid, False)
    assert os.sched_getaffinity(thread.tid) == {thread.core}
    assert pmd.read_statistics(Path(deployment.control["unixctl"])) == (), "nothing polls"
    second = site.look(deployment, Part.COUNTERS).counters
    assert second.busy_cycles > first.busy_cycles
    assert "main thread" in second.source
    generator.close()
    site.destroy(deployment)


def test_a_vnf_on_vhost_user_is_joined_to_afxdp_ports(site):
    wanted = validated("ovs-afxdp", vnf_ports="vhost-user")
    deployment = site.deploy(wanted, "pvp", vnf=process(wanted))
    assert {port.kind for ports in deployment.vnf_ports for port in ports} == {PortKind.VHOST_USER}
    assert "dpdk" in deployment.versions
    generator = site.open_generator(deployment)
    all_frames_come_through(site, deployment, generator)
    generator.close()
    site.destroy(deployment)


def test_testpmds_in_a_chain_pass_frames_and_end_by_their_signal(site):
    wanted = validated("ovs-afxdp")
    deployment = site.deploy(wanted, "pvvp", vnf=process(wanted))
    generator = site.open_generator(deployment)
    all_frames_come_through(site, deployment, generator)
    ended = [site.host_view(deployment).workspace.process(handle.name) for handle in deployment.vnfs]
    generator.close()
    for testpmd in ended:
        testpmd.stop()
    site.destroy(deployment)
    assert [testpmd.exit_status for testpmd in ended] == [0, 0], "not killed after a time-out"


def test_a_mode_that_the_device_lacks_is_unsupported_in_the_switchs_words(site):
    support = site.probe(validated("ovs-afxdp", xdp_mode="native-with-zerocopy"))
    assert support.readiness is Readiness.UNSUPPORTED
    assert "p0 (afxdp)" in support.reason
    assert support.fix
