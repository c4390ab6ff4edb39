"""XDP redirect on the real host: frames, counters, its end and its return, and the four tasks. As root."""

import contextlib
import os
import signal
import socket
from pathlib import Path

import pytest

from nfvbed.dataplanes.xdp.adapter import RESET, Xdp
from nfvbed.errors import DeployError, NfvbedError, SwitchDiedError
from nfvbed.host.network.namespaces import inside
from nfvbed.records import NOT_SEPARABLE, CellRole, Readiness, Role, Status
from nfvbed.records.readings import Part
from nfvbed.records.results import TablePayload
from nfvbed.store import Store
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import variant, vnf
from tests.functional.disturbed import PATIENCE_S, all_arrived, pass_all, retried
from tests.functional.lab_host import assert_back_to, marked_processes, measure, run

TRICKLE = TrafficRequest(duration_ns=300_000_000, frame_size=64, rate_pps=2_000, learning_frames=0)
SHARED = TrafficRequest(
    duration_ns=3_000_000_000, frame_size=64, rate_pps=2_000, frames=600, flows=3, learning_frames=0
)
G0, G1 = bytes.fromhex("024e46560000"), bytes.fromhex("024e46560001")
IPV4 = bytes.fromhex("0800 4500002e000000004011") + bytes(36)
"""EtherType and IPv4 packet of 46 bytes with its header, after a frame's addresses; 60 bytes in all."""
SHORT = (
    *("--no-doctor", "--set", "ceilings=false", "--set", "variants=[xdp]"),
    *("--set", "tests=[{kind: xdp-tasks, duration_s: 0.1, trials: 1, repeat: 100000}]"),
    *("--set", "repetitions={needed: 1, max_rounds: 1}"),
)


def exchange(netns, frames, into, patience_s=PATIENCE_S):
    """Send frames, each into its port, and return what a port then receives; None: nothing."""

    def work():
        with (
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out,
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as back,
        ):
            back.bind((into, 3))
            back.setsockopt(263, 23, 1)  # PACKET_IGNORE_OUTGOING
            back.settimeout(patience_s)
            for port, frame in frames:
                out.sendto(frame, (port, 0))
            with contextlib.suppress(TimeoutError):
                return back.recv(2048)
            return None

    return inside(netns, work)


def flow(site, deployment):
    generator = site.open_generator(deployment)
    try:
        return generator.run(TRICKLE)
    finally:
        generator.close()


@pytest.mark.no_hugepages
@pytest.mark.parametrize(
    ("name", "core_use"),
    [("xdp", "inline"), ("xdp-generic", "rps")],
)
def test_frames_pass_and_are_counted(lab, name, core_use):
    site, chosen = lab, variant(name, core_use=core_use)
    assert site.probe(chosen).readiness is Readiness.READY
    deployment = site.deploy(chosen, "p2p")
    assert {hop.tx_packets for hop in site.hops(deployment)} == {0}
    results = []
    retried(lambda: results.append(flow(site, deployment)), lambda _: all_arrived(results[-1]))
    assert all_arrived(results[-1])
    hops, counters = site.hops(deployment), site.counters(deployment)
    sent = [sum(result.directions[number].sent for result in results) for number in (0, 1)]
    assert [hop.name.split()[-1] for hop in hops] == ["(g0)", "s0", "s1", "(g1)"]
    assert [hop.rx_packets for hop in hops] == [sent[1], sent[0], sent[1], sent[0]]
    assert counters.packets == sum(sent)
    assert [counters.raw[f"s{i} switch"] for i in (0, 1)] == [{"received": sent[i], "no_way": 0} for i in (0, 1)]
    assert (counters.busy_cycles == NOT_SEPARABLE) == (core_use != "threaded-napi")
    switching = [thread.core for thread in site.work_threads(deployment) if thread.role is Role.SWITCH]
    assert switching == ([0, 0] if core_use == "threaded-napi" else [])
    site.destroy(deployment)


def test_the_loopback_is_in_the_switchs_arrangement(lab):
    deployment = lab.deploy(variant("xdp"), "p2p", CellRole.LOOPBACK)
    assert {thread.core for thread in lab.work_threads(deployment)} == {0}
    lab.destroy(deployment)


def second_had_its_share(passage):
    """Whether flow 1 of three went to the second VNF; flows go in turn, 0 and 2 are the first one's."""
    shares = [(count + 1) // 3 for count in passage.sent][::-1]
    ports = [f"xdp port v2{end}" for end in "ab"]
    return [passage.after[port] - passage.before[port] for port in ports] == shares


def received(hops):
    return {hop.name: hop.rx_packets for hop in hops}


@pytest.mark.no_hugepages
@pytest.mark.parametrize(("topology", "forwarding"), [("pvvp", "xdp"), ("pvpv", "bridge"), ("pcp", "raw")])
def test_frames_pass_through_vnfs_and_flows_are_shared(lab_with_vnfs, topology, forwarding):
    site = lab_with_vnfs
    deployment = site.deploy(variant("xdp"), topology, vnf=vnf(forwarding))
    generator = site.open_generator(deployment)
    try:
        counted = second_had_its_share if topology == "pvpv" else lambda _: True
        pass_all(generator, SHARED, lambda: received(site.look(deployment, Part.HOPS).hops), counted)
    finally:
        generator.close()
    site.destroy(deployment)


@pytest.mark.no_hugepages
def test_a_killed_switch_forwards_nothing_and_is_dead_until_it_is_started_again(lab):
    site = lab
    deployment = site.deploy(variant("xdp"), "p2p")
    plane = Xdp()
    first = plane.switch(deployment).process
    os.kill(first.pid, signal.SIGKILL)
    first.wait(PATIENCE_S)
    with pytest.raises(SwitchDiedError, match="have left the ports"):
        site.verify(deployment)
    with pytest.raises(SwitchDiedError):
        site.counters(deployment)
    result = flow(site, deployment)
    assert all(direction.sent > direction.received == 0 for direction in result.directions)
    report = site.reset(deployment, 0)
    assert report.kind == RESET
    assert [step for step, _ in report.steps] == ["reset.kill", "reset.start"]
    site.verify(deployment)
    assert all_arrived(retried(lambda: flow(site, deployment), all_arrived))
    site.destroy(deployment)
    with pytest.raises(NfvbedError):
        plane.verify(deployment)


def test_each_task_does_what_it_says(lab):
    deployment = lab.deploy(variant("xdp"), "p2p")
    netns, client = deployment.ports[0].netns, Xdp().switch(deployment).client
    whole, unknown = G1 + G0 + IPV4, bytes.fromhex("024e465600ff") + G0 + IPV4
    assert exchange(netns, [("g0", whole)], "g1") == whole
    with pytest.raises(DeployError, match="refuses"):
        client.use("nonsense")
    for task, verdict in (("drop", 1), ("parse", 1), ("lookup", 1), ("rewrite", 3)):
        client.use(task)
        assert client.program() == task
        assert client.floor(task, 1000, 64).verdict == verdict
        assert exchange(netns, [("g0", whole)], "g1", 0.2) is None
    client.use("switch")
    # What XDP transmits waits for the next frame where the receiving end has no XDP program itself, only GRO.
    assert exchange(netns, [("g1", unknown)], "g0") == G0 + G1 + IPV4
    assert exchange(netns, [("g0", unknown)], "g1") == unknown
    lab.verify(deployment)
    lab.destroy(deployment)


def test_tasks_of_an_experiment_have_a_cost(before, tmp_path):
    store = tmp_path / "results.sqlite"
    measure("xdp-tasks", store, *SHORT)
    with Store.open(str(store), read_only=True) as opened:
        (found,) = opened.runs()
        results = opened.results(found.id)
    assert [result.status for result in results] == [Status.OK]
    for result in results:
        table = TablePayload.model_validate(result.payload)
        assert [row.label[0] for row in table.rows] == list("AABBCCDD")
        for row in table.rows:
            figures = {quantity.name: quantity.value for quantity in row.quantities}
            assert figures["time per packet"] > 0
            assert figures["cycles per packet"] > 0


@pytest.mark.no_hugepages
def test_kill_9_in_the_middle_then_the_next_command_removes_it(before, nfvbed, mark):
    process = nfvbed("deploy", "xdp")
    assert process.wait(60) == 0, process.stderr.read()
    programs = {Path(f"/proc/{pid}/exe").readlink().name: pid for pid in marked_processes(mark)}
    os.kill(programs["nfvbed-xdp-switch"], signal.SIGKILL)
    status, _, error = run(mark, "verb", "destroy")
    assert status == 0, error
    assert_back_to(before, mark)
