"""Options of Open vSwitch's userspace datapath, read back from the switch that runs with them. As root."""

import os
import re
from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import rxq, unixctl
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import Readiness
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import validated
from tests.functional.disturbed import pass_all, wait_until

ASKED = {
    "rxq_assignment": "group",
    "rxq_affinity": {"p0": (0,), "p1": (0,)},
    "auto_load_balance": {"interval_min": 2, "load_percent": 80, "improvement_percent": 10},
    "pmd_maxsleep_us": 50,
    "emc": False,
    "smc": True,
    "flow_limit": 2000,
    "max_idle_ms": 500,
    "max_revalidator_ms": 200,
    "rx_queue_size": 256,
}
SAID = (
    "EMC insertion probability changed to zero",
    "SMC cache is enabled",
    "Rxq to PMD assignment mode changed to: 'group'",
    "PMD auto load balance is enabled, interval 2 mins, pmd load threshold 80%, improvement threshold 10%",
    r"PMD max sleep request is 50 usecs|PMD thread max sleep:\s+50 us",
)
"""In the switch's own log, when it has taken a setting; the last one is said otherwise from 3.2 on."""


def flows(socket):
    """How many flows the datapath holds, and how many it may."""
    found = re.search(r"\(current (\d+)\).*\(limit (\d+)\)", unixctl.command(socket, "upcall/show"))
    return int(found[1]), int(found[2])


def test_the_running_switch_has_every_setting(lab):
    deployment = lab.deploy(validated("ovs-dpdk", **ASKED), "p2p")
    socket = Path(deployment.control["unixctl"])
    log = (Path(deployment.run_directory) / "ovs-vswitchd.log").read_text()
    for said in SAID:
        assert re.search(said, log), said
    (thread,) = lab.work_threads(deployment)
    assert os.sched_getaffinity(thread.tid) == {thread.core}
    loads = rxq.read_loads(socket, 5)
    assert {(load.port, load.queue, load.core) for load in loads.queues} == {
        ("p0", 0, thread.core),
        ("p1", 0, thread.core),
    }
    assert "isolated : true" in unixctl.command(socket, "dpif-netdev/pmd-rxq-show"), "it has queues of its own"
    generator = lab.open_generator(deployment)
    wait_for_links(generator)
    lab.wait_for_generator(deployment)
    request = TrafficRequest(duration_ns=100_000_000, frame_size=64, rate_pps=1_000)
    generator.run(request)  # a link that is up may take a moment until its rings are in use
    pass_all(generator, request)
    assert flows(socket)[1] == 2000
    assert wait_until(lambda: flows(socket)[0] == 0, 9), "with the default they stay for ten seconds"
    slept = re.search(r"sleep iterations:\s+(\d+)", unixctl.command(socket, "dpif-netdev/pmd-perf-show"))
    assert slept, "pmd-perf-show counts sleeps since Open vSwitch 3.1"
    assert int(slept[1]) > 0
    generator.close()
    lab.destroy(deployment)


@pytest.mark.parametrize("variant", ["ovs-dpdk", "ovs-dpdk-memif"])
def test_each_queue_that_the_switch_receives_on_is_sent_on_and_counted(lab, variant):
    deployment = lab.deploy(validated(variant, n_rxq=2), "p2p")
    generator = lab.open_generator(deployment)
    try:
        wait_for_links(generator)
        lab.wait_for_generator(deployment)
        request = TrafficRequest(duration_ns=200_000_000, frame_size=64, rate_pps=5_000, flows=64)
        result = pass_all(generator, request).result
        for way in result.directions:
            assert [queue.sent for queue in way.queues] == [queue.received for queue in way.queues]
            assert len(way.queues) == 2
            assert all(queue.sent for queue in way.queues)
            assert (way.duplicated, way.corrupted, way.reordered) == (0, 0, 0)
        loads = rxq.read_loads(Path(deployment.control["unixctl"]), 5)
        assert {(load.port, load.queue) for load in loads.queues} == {
            (port, q) for port in ("p0", "p1") for q in (0, 1)
        }
        assert [port.queues for port in deployment.ports] == [2, 2]
    finally:
        generator.close()
        lab.destroy(deployment)


def test_frames_leave_with_the_tag_that_the_rules_push_and_are_all_known_again(lab):
    deployment = lab.deploy(validated("ovs-dpdk", flows="push-vlan"), "p2p")
    generator = lab.open_generator(deployment)
    try:
        wait_for_links(generator)
        lab.wait_for_generator(deployment)
        request = TrafficRequest(duration_ns=200_000_000, frame_size=64, rate_pps=5_000)
        result = pass_all(generator, request).result
        assert all((way.received, way.corrupted) == (way.sent, 0) for way in result.directions)
        cached = unixctl.command(Path(deployment.control["unixctl"]), "dpctl/dump-flows")
        found = [flow for flow in cached.splitlines() if "udp" in flow or "0x0800" in flow]
        assert len(found) == 2, cached
        assert all("actions:push_vlan(vid=0,pcp=0)," in flow for flow in found), cached
    finally:
        generator.close()
        lab.destroy(deployment)


def test_what_cannot_be_is_unsupported_before_anything_starts(lab):
    support = lab.probe(validated("ovs-dpdk", n_rxq=17))
    assert (support.readiness, support.fix) == (Readiness.UNSUPPORTED, "n_rxq: 16 at most")
