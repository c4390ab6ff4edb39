"""Two hosts joined by a tunnel, and one host with the same rules, on the real Open vSwitch. As root."""

import contextlib
import os
import signal
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import unixctl
from nfvbed.dataplanes.ovs.overlay import watch
from nfvbed.dataplanes.ovs.overlay.host import UDP_PORTS, WIRE
from nfvbed.errors import NfvbedError
from nfvbed.host.network.namespaces import inside
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement, wait_for_links
from nfvbed.records import NOT_SEPARABLE, Preset, QualityWarning, Sessions
from nfvbed.sites.lab.site import LabSite
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import PROJECT, validated, variant, vnf
from tests.functional.disturbed import death_of, pass_all
from tests.sample_records import RUN

TRICKLE = TrafficRequest(
    duration_ns=3_000_000_000, frame_size=1518, rate_pps=5_000, frames=500, flows=10, learning_frames=1
)
ENCAPSULATION_BYTES = 50
"""Outer Ethernet, IPv4 and UDP headers, and that of Geneve without options or of VXLAN."""
FCS_BYTES = 4
ALL_FRAMES = 0x0003
"""ETH_P_ALL."""
SO_RCVBUFFORCE = 33
"""Beyond the host's net.core.rmem_max."""


def connections(host):
    return unixctl.command(Path(host.unixctl), "dpctl/dump-conntrack").splitlines()


def datapath_flows(host):
    return unixctl.command(Path(host.unixctl), "dpctl/dump-flows").splitlines()


def send(site, deployment):
    """Send some frames of ten flows in both directions, of which all arrive; give how many of each.

    The switch must have its ports set up for the generator, which has its links earlier. Then one trial is enough; a
    second one is allowed where the host was disturbed at the end of the first, and is reported.
    """
    generator = site.open_generator(deployment)
    try:
        wait_for_links(generator)
        site.wait_for_generator(deployment)
        return pass_all(generator, TRICKLE, attempts=2).sent
    finally:
        generator.close()


def capture(netns):
    """Open a packet socket on the wire between the hosts."""

    def work():
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_FRAMES))
        opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        opened.bind((WIRE, ALL_FRAMES))
        opened.setblocking(False)
        return opened

    return inside(netns, work)


def captured(opened):
    frames = []
    with contextlib.suppress(BlockingIOError):
        while True:
            frames.append(opened.recv(4096))
    return frames


@pytest.mark.parametrize("rules", [11_000, pytest.param(103_000, marks=pytest.mark.slow)])
def test_frames_cross_a_geneve_tunnel_with_tracked_connections_and_many_rules(lab, rules):
    deployment = lab.deploy(validated("ovs-overlay-geneve", rules=rules), "p2p")
    hosts = watch.OverlayState.of(deployment).hosts
    assert [host.rules for host in hosts] == [rules, rules]
    assert {"deploy.h1.rules", "deploy.h2.rules"} <= {step for step, _ in deployment.steps}
    control = set(lab.host_view(deployment).arrangement.control_cores)
    for polling in lab.work_threads(deployment):
        others = {int(task.name) for task in Path(f"/proc/{polling.pid}/task").iterdir()} - {polling.tid}
        assert polling.pid in others, "the main thread, which wrote the rules on a core that it was lent"
        assert all(os.sched_getaffinity(thread) == control for thread in others)
    sent, _ = send(lab, deployment)
    for number, host in enumerate(hosts):
        flows = "\n".join(datapath_flows(host))
        assert "tnl_push(" in flows
        assert "tnl_pop(" in flows
        assert f"udp(dst={UDP_PORTS['geneve']}" in flows, "what comes over the wire"
        assert "geneve(vni=0x1389)" in flows, "what goes onto it, in the cable's network"
        tracked = [line for line in connections(host) if line.startswith("udp,")]
        own = f"198.{18 + number}.0."
        assert sum(f"orig=(src={own}" in line for line in tracked) >= 10, "a connection for every flow that leaves"
        assert all(line.endswith("mark=1") for line in tracked), tracked[0]
        zones = {part.split("=")[1] for line in tracked for part in line.split(",") if part.startswith("zone=")}
        assert zones == {str(number + 1)}, "that of the host's port of the path, whichever way frames go"
    counted = lab.counters(deployment)
    assert counted.busy_cycles == NOT_SEPARABLE
    assert deployment.warnings == (QualityWarning.CORES_SHARED,)
    for host in hosts:
        raw = counted.raw[host.name]
        assert raw["tunnel"]["tx_packets"] >= sent
        assert raw["underlay"]["rx_packets"] >= sent
        (pmd,) = raw["pmd"]
        assert pmd["recirculations"] >= 2 * sent, "once for each look-up, and once out of the tunnel"
    os.kill(lab.work_threads(deployment)[1].pid, signal.SIGKILL)
    assert "ovs-vswitchd-h2" in str(death_of(lambda: lab.verify(deployment)))
    with pytest.raises(NfvbedError):
        lab.counters(deployment)
    lab.destroy(deployment)


@pytest.mark.parametrize("name", ["ovs-overlay-local", "ovs-overlay-geneve"])
def test_mirrored_sessions_are_established_and_unreplied_ones_are_new(lab, name):
    """Ten flows: an entry at each port of the path, every frame of a trial looked up as established; or none."""
    deployment = lab.deploy(variant(name, rules=1000), "p2p")
    site = LabSite(lab, PROJECT.root)
    generator = lab.open_generator(deployment)
    request = TrafficRequest(duration_ns=200_000_000, frame_size=64, rate_pps=20_000, flows=10)
    task = TrialTask(run=RUN, cell="c", sequence=1, round=1, preset=Preset.PACED, request=request)
    try:
        measurement = Measurement(site, deployment, generator)
        told = {
            form: measurement.measure(replace(task, request=replace(request, sessions=form))).switch_counters
            for form in (Sessions.UNREPLIED, Sessions.MIRRORED)
        }
    finally:
        generator.close()
    hosts = [host.name for host in watch.OverlayState.of(deployment).hosts]
    ports, lookups = (2, 2) if len(hosts) == 1 else (1, 1.5)
    for form, counters in told.items():
        found = counters["connections"]
        assert (found.pop("sessions"), list(found)) == (form, hosts)
        for host in found.values():
            assert host["recirculations_per_packet"] == pytest.approx(lookups, abs=0.1), (name, host)
            looked_up = (host["looked_up_established"], host["looked_up_new"])
            if form is Sessions.UNREPLIED:
                assert (host["entries"], host["replied"]) == (2 * 10 * ports, 0), "each direction for itself"
                assert looked_up[0] == 0 < looked_up[1], host
            else:
                assert host["replied"] == 10 * ports, host
                assert looked_up[1] == 0 < looked_up[0], host
    lab.destroy(deployment)


def test_frames_on_the_wire_are_vxlan_and_fifty_bytes_longer(lab):
    deployment = lab.deploy(variant("ovs-overlay-vxlan", underlay="veth", conntrack=False, rules=200), "p2p")
    first, _ = watch.OverlayState.of(deployment).hosts
    opened = capture(first.netns)
    try:
        sent = send(lab, deployment)
        frames = captured(opened)
    finally:
        opened.close()
    udp = [frame for frame in frames if frame[12:14] == b"\x08\x00" and frame[23] == 17]
    tunnelled = [frame for frame in udp if int.from_bytes(frame[36:38], "big") == UDP_PORTS["vxlan"]]
    long = [frame for frame in tunnelled if len(frame) == 1518 - FCS_BYTES + ENCAPSULATION_BYTES]
    assert len(long) >= sum(sent)
    assert {frame[26:30] for frame in long} == {bytes((192, 0, 2, 1)), bytes((192, 0, 2, 2))}
    assert {frame[46:49] for frame in long} == {(5001).to_bytes(3, "big")}, "the cable's network"
    assert {frame[76:78] for frame in long} <= {b"\xc6\x12", b"\xc6\x13"}, "the generator's frame inside"
    assert not [frame for frame in frames if frame[12:14] == b"\x08\x00" and frame[26:28] in (b"\xc6\x12", b"\xc6\x13")]
    lab.destroy(deployment)


@pytest.mark.parametrize("name", [pytest.param("ovs-overlay-local", marks=pytest.mark.slow), "ovs-overlay-geneve"])
def test_vnf_to_vnf_within_a_host_and_between_hosts(lab, name):
    site = LabSite(lab, PROJECT.root)
    deployment = site.deploy(variant(name, rules=1000), "v2v", vnf=vnf())
    generator = site.open_generator(deployment)
    try:
        # A switch looks for the other side of a port once a second.
        for _ in range(40):
            result = generator.run(TrafficRequest(duration_ns=200_000_000, frame_size=64))
            if result.directions[0].received:
                break
    finally:
        generator.close()
    assert result.directions[0].received > 0
    hosts = watch.OverlayState.of(deployment).hosts
    assert len(hosts) == (1 if name == "ovs-overlay-local" else 2)
    assert all(connections(host) for host in hosts)
    assert any("tnl_push" in line for line in datapath_flows(hosts[0])) == (len(hosts) == 2)
    site.destroy(deployment)
