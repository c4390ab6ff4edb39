"""`nfvbed steer` on the real switch: frames pass running VNFs in another order, as rules, ports and VNFs count them.

As root.
"""

import json
import os
import signal
import threading
from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import reading
from nfvbed.dataplanes.ovs.reading import BridgeView
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.wiring import layout_of, port_numbers
from nfvbed.measure.trace import run_trace
from nfvbed.records.readings import Part
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.units import NS_PER_S
from tests.functional.declared import PROJECT, vnf
from tests.functional.disturbed import retried, wait_until

pytestmark = pytest.mark.dashboard
OVS = PROJECT.load_variant("ovs-dpdk")
TURNED = [("p0", "v2a"), ("v2b", "v1a"), ("v1b", "p1")]


@pytest.fixture(name="destroyed")
def _destroyed(ask):
    yield
    ask("destroy")


@pytest.fixture(name="verb")
def _verb(ask, destroyed):
    """Runs a verb that must end with a status."""

    def verb(*arguments, code=0):
        status, out, err = ask(*arguments)
        assert status == code, err
        return out if code == 0 else err

    return verb


def onboard(verb, variant, topology, *more):
    return json.loads(verb("onboard", "vloop", "--variant", variant, "--topology", topology, *more, "--json"))


def traced(verb, variant="ovs-dpdk"):
    return json.loads(verb("trace", variant, "--frames", "200", "--json"))


def entered(report):
    """Return how many frames went into each VNF from outside port 0, in the order of the path."""
    points = report["directions"][0]["points"]
    return {point["name"].split()[0]: point["packets"] for point in points if point["name"].endswith("port 0 rx")}


def test_frames_pass_running_vnfs_in_the_order_given(verb):
    made = onboard(verb, "ovs-dpdk", "pvvp")
    pids = [handle["pids"] for handle in made["vnfs"]]
    assert "instead of vnf1, vnf2" in verb("steer", "--order", "vnf2,vnf1", "--dry-run")
    steered = json.loads(verb("steer", "--order", "vnf2,vnf1", "--json"))
    assert steered["path"] == ["vnf2", "vnf1"]
    assert [(cable["first"], cable["second"]) for cable in steered["cables"]] == TURNED
    assert all(cable["forward_packets"] and cable["backward_packets"] for cable in steered["cables"])
    assert not steered["fixed"]
    report = retried(lambda: traced(verb), lambda found: found["complete"])
    assert report["complete"]
    assert list(entered(report)) == ["vnf2", "vnf1"]
    assert "vnf1 is named 2 times; vnf2 is missing" in verb("steer", "--order", "vnf1,vnf1", code=2)
    again = json.loads(verb("onboard", "vloop", "--topology", "pvvp", "--json"))
    assert [handle["pids"] for handle in again["vnfs"]] == pids, "they ran on"
    assert again["order"] == [1, 0]


def test_a_dead_vnf_leaves_the_order_as_it_was(verb):
    made = onboard(verb, "ovs-dpdk", "pvvp")
    os.kill(made["vnfs"][0]["pids"][0], signal.SIGKILL)
    assert "vnf1" in verb("steer", "--order", "vnf2,vnf1", code=22)
    verb("heal")
    found = json.loads(verb("steer", "--json"))
    assert found["path"] == ["vnf1", "vnf2"]
    assert [(cable["first"], cable["second"]) for cable in found["cables"]][0] == ("p0", "v1a")


def test_another_length_is_set_up_again_once_that_is_agreed(verb):
    made = onboard(verb, "ovs-dpdk", "pvpv")
    assert "side by side" in verb("steer", "--order", "vnf2,vnf1", code=11)
    refused = verb("steer", "--length", "3", code=2)
    assert "ovs-dpdk (pvpv) is taken down and set up again as pv3p" in refused
    assert json.loads(verb("onboard", "vloop", "--topology", "pvpv", "--json"))["id"] == made["id"]
    verb("steer", "--length", "3", "--redeploy")
    order = "vnf3,vnf1,vnf2"
    assert json.loads(verb("steer", "--order", order, "--json"))["path"] == order.split(",")


@pytest.mark.parametrize("variant", ["linux-bridge"])
def test_other_data_planes_are_refused_by_name(verb, variant):
    onboard(verb, variant, "pvvp", "--forwarding", "raw")
    refused = verb("steer", "--order", "vnf2,vnf1", code=11)
    assert f"{variant} joins the ports of VNFs once" in refused
    report = json.loads(verb("steer", "--json"))
    assert variant in report["fixed"]
    assert report["hops"]


def is_stopped(pid):
    """Whether all threads of a process have stopped: the one that takes the signal stops the others."""
    stats = [(task / "stat").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def sent_by_port(deployment):
    """Return the frames that the switch has sent out of each port."""
    ports = port_numbers(layout_of(deployment))
    hops = reading.hops(BridgeView.of(OvsState.of(deployment)), ports)
    return {name: hop.tx_packets for name in ports for hop in hops if hop.name.endswith(f" {name}")}


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    yield lab_with_vnfs
    lab_with_vnfs.destroy(lab_with_vnfs.find_deployed().deployment)
    lab_with_vnfs.take_down()


def test_the_order_outlives_the_switch_and_frames_are_not_lost_for_want_of_a_rule(site):
    deployment, _ = site.onboard(OVS, "pvvp", vnf(), print)
    generator = site.open_generator(deployment)
    try:
        request = TrafficRequest(duration_ns=3 * NS_PER_S, frame_size=64, rate_pps=5_000)
        results = []
        sending = threading.Thread(target=lambda: results.append(generator.run(request)))
        before = site.look(deployment, Part.HOPS).hops
        sending.start()
        chain = site.chain(deployment)
        for order in ((1, 0), (0, 1)) * 5:
            chain.control.apply(order)
        sending.join()
        dropped = site.look(deployment, Part.HOPS).hops[1].drops.get("drop_action_of_pipeline", 0)
        assert dropped == before[1].drops.get("drop_action_of_pipeline", 0), "there was a rule for every frame"
        for direction in results[0].directions:
            assert direction.received > 0.9 * direction.sent
            assert (direction.duplicated, direction.corrupted) == (0, 0)
    finally:
        generator.close()
    steered = site.chain(deployment).apply((1, 0))
    site.reset(steered, 0.0)
    assert [(cable.first, cable.second) for cable in site.chain(steered).cables()] == TURNED
    generator = site.open_generator(steered)
    try:
        report = retried(lambda: run_trace(site, steered, generator, 64, 200), lambda found: found.complete)
        assert report.complete
        assert site.rig(steered)["order"] == [1, 0]
        # What the VNFs count is alike while both forward. While the first is stopped, nothing comes to the second.
        before, stopped = sent_by_port(steered), steered.vnfs[1].pids[0]
        os.kill(stopped, signal.SIGSTOP)
        try:
            wait_until(lambda: is_stopped(stopped))
            generator.run(TrafficRequest(duration_ns=NS_PER_S, frame_size=64, rate_pps=1_000, bidirectional=False))
            risen = {name: count - before[name] for name, count in sent_by_port(steered).items()}
        finally:
            os.kill(stopped, signal.SIGCONT)
        assert risen["v2a"] > 500
        assert (risen["v1a"], risen["p1"]) == (0, 0)
    finally:
        generator.close()
