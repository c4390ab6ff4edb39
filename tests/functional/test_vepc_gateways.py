"""A mobile core whose bearers nfvbed's own gateways carry: every frame of a trial both ways, and as nextepc's do."""

import contextlib
import os
import select
import signal
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfvbed.errors import OnboardError, UnsupportedError, VnfDiedError
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import HopKind
from nfvbed.records.readings import Part
from nfvbed.spec.bearers import BearerTable
from nfvbed.spec.choices import resolve
from nfvbed.spec.pcrf import MOST_ATTACHED
from nfvbed.spec.vnf import VnfUse
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.vnfs.epc import network
from nfvbed.vnfs.epc.core import Core, FunctionCores, Subscribers
from nfvbed.vnfs.epc.driver import ATTACHED, attached, bearers_of
from nfvbed.vnfs.epc.owngateway import gateway_of
from nfvbed.vnfs.gateway.process import Gateway, GatewaySpec
from tests import gtpu_frames
from tests.functional.declared import PROJECT
from tests.functional.disturbed import PATIENCE_S, pass_all, wait_until
from tests.gtpu_frames import Ip

pytestmark = pytest.mark.no_hugepages

MANY = 1_000
RATE_PPS = 1_000
"""About 1 % of what the slowest of these paths forwards."""


def own(variant, forwarding, **use):
    loaded = PROJECT.load_variant(variant)
    choice = resolve(VnfUse(vnf="vepc", forwarding=forwarding, **use), loaded, PROJECT)
    assert choice is not None
    return loaded, choice


@pytest.mark.parametrize(
    ("variant", "forwarding", "bearers"),
    [
        ("linux-bridge", "xdp-gateway", MANY),
        pytest.param("ovs-dpdk", "dpdk-gateway", MANY, marks=pytest.mark.vepc),
        pytest.param("ovs-dpdk-memif", "dpdk-gateway", None, marks=pytest.mark.vepc),
        pytest.param("xdp", "xdp-gateway", 4_096, marks=pytest.mark.slow),
        pytest.param("ovs-afxdp", "xdp-gateway", None, marks=pytest.mark.slow),
    ],
)
def test_every_frame_of_a_paced_trial_arrives_both_ways(lab_with_vnfs, variant, forwarding, bearers):
    site = lab_with_vnfs
    loaded, choice = own(variant, forwarding, bearers=bearers)
    deployment = site.deploy(loaded, "vepc", vnf=choice)
    handle = deployment.vnfs[0]
    table, count = bearers_of(handle), bearers or ATTACHED
    assert (len(table.bearers), table.synthetic) == (count, bool(bearers))
    assert (handle.facts["attached"], handle.facts["synthetic"]) == (ATTACHED, count - ATTACHED)
    described = site.rig(deployment)["vnf"]
    kind = forwarding.removesuffix("-gateway")
    assert [described[key] for key in ("gateway", "bearers", "synthetic")] == [kind, count, bool(bearers)]
    generator = site.open_generator(deployment)
    wait_for_links(generator)

    def look():
        counts = gateway_of(handle).client.counters()
        hops = [hop for hop in site.look(deployment, Part.HOPS).hops if hop.kind is HopKind.VNF_PORT]
        return (counts.s1u.forwarded, counts.sgi.forwarded, *(hop.tx_packets for hop in hops))

    request = TrafficRequest(
        duration_ns=2_000_000_000, frame_size=128, rate_pps=RATE_PPS, frames=MANY, flows=count, learning_frames=0
    )
    generator.run(request)  # what learns addresses has learnt them
    passage = pass_all(generator, request, look)
    uplink, downlink = passage.sent  # on a host that others disturb, frames that are late are not sent at all
    assert [d.corrupted + d.duplicated + d.reordered for d in passage.result.directions] == [0, 0]
    # Out at the gateway's ports as many as went in at the other: S1-U up, SGi down, and the ports' own counters.
    assert [after - before for before, after in zip(passage.before, passage.after, strict=True)] == [
        *(uplink, downlink),
        *(downlink, uplink),
    ]
    assert {thread.name for thread in site.look(deployment, Part.THREADS).threads if thread.role == "vnf"}
    generator.close()
    site.destroy(deployment)


@pytest.mark.vepc
def test_a_gateway_that_is_killed_is_named_and_healed(lab_with_vnfs):
    site = lab_with_vnfs
    loaded, choice = own("linux-bridge", "xdp-gateway", bearers=100)
    deployment, _ = site.onboard(loaded, "vepc", choice, print)
    os.kill(gateway_of(deployment.vnfs[0]).process.pid, signal.SIGKILL)
    wait_until(lambda: site.dead_vnfs(deployment))
    with pytest.raises(VnfDiedError, match="the gateway has ended") as died:
        site.verify(deployment)
    assert died.value.exit_code == 22
    healed = site.heal(deployment)
    assert site.dead_vnfs(healed) == ()
    assert gateway_of(healed.vnfs[0]).client.counters().bearers == 100
    offboarded = site.offboard(healed)
    assert not list(Path(offboarded.run_directory).glob("vnf1-*.json")), "keys stay behind"
    site.destroy(offboarded)
    site.take_down()


def test_nextepc_carries_no_more_than_attach(lab_with_vnfs):
    loaded, choice = own("linux-bridge", "nextepc", bearers=MOST_ATTACHED["nextepc"] + 1)
    with pytest.raises(UnsupportedError, match="cannot run here") as refused:
        lab_with_vnfs.deploy(loaded, "vepc", vnf=choice)
    assert "at most 40" in refused.value.observed
    assert refused.value.exit_code == 11


PORTS = {"s1u": ("02:4e:46:56:11:00", "02:4e:46:58:00:00"), "sgi": ("02:4e:46:56:11:01", "02:4e:46:58:00:01")}
"""MAC addresses of a gateway's port, and of what is behind it: the same at both gateways."""
EVERYTHING = 3
IGNORE_OUTGOING = (263, 23, 1)


@dataclass(frozen=True)
class Ends:
    """Sockets behind a gateway's ports."""

    s1u: socket.socket
    sgi: socket.socket

    def through(self, first: str, second: str, frame: bytes) -> bytes:
        """Send at one end; return what comes out at the other, bytes that say what if nothing does."""
        sink = getattr(self, second)
        getattr(self, first).send(frame)
        while select.select([sink], [], [], PATIENCE_S)[0]:
            came = sink.recv(16384)
            if came[12:14] == frame[12:14]:
                return came
        return b"nothing came"


def _pair(name, far):
    """Make a gateway's port here and its other end elsewhere, where what comes there is not routed."""
    links.silence_ipv6()
    links.add_veth(name, name, PORTS[name], far)
    _complete(name)


def _complete(name):
    links.silence_ipv6()
    links.set_up((name,))
    # Frames with all their checksums; and a veth takes redirected ones with GRO.
    links.set_features(name, {links.GRO: True} | dict.fromkeys(links.TRANSMIT_OFFLOADS, False))


def _behind(name):
    _complete(name)
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERYTHING))
    opened.setsockopt(*IGNORE_OUTGOING)
    opened.bind((name, EVERYTHING))
    return opened


def _taps():
    """Complete what the DPDK gateway has made: a tap for each of its ports, whose other end is this namespace."""
    links.silence_ipv6()
    links.set_up(PORTS)


@contextlib.contextmanager
def both_gateways(kind):
    """Attach UEs through nextepc, and give their bearers to an own gateway too: ends of both, and the bearers."""
    workspace = Workspace.create()
    try:
        spaces = network.make(workspace, "vnf1")
        far = workspace.network_namespace("far"), workspace.network_namespace("far-of-own")
        for function, name, lead in (("sgw", "s1u", network.lead_s1u), ("pgw", "sgi", network.lead_sgi)):
            netns = spaces.functions[function]
            inside(netns, lambda name=name: _pair(name, far[0]))
            inside(netns, lambda name=name, lead=lead: lead(network.DataPort(name, PORTS[name][1])))
        core = Core(workspace, "vnf1")
        core.start(spaces, FunctionCores((0,), (0, 1)), PROJECT.root, Subscribers.all_known(4))
        table = attached(core, 4)
        netns = workspace.network_namespace("own") if kind == "xdp" else far[1]
        if kind == "xdp":
            for name in PORTS:
                inside(netns, lambda name=name: _pair(name, far[1]))
        gateway = Gateway(workspace, _spec(kind, netns))
        gateway.start(table)
        if kind == "dpdk":
            inside(netns, _taps)
        with contextlib.ExitStack() as opened:
            nextepc, own = (
                Ends(*(opened.enter_context(inside(netns, lambda name=name: _behind(name))) for name in PORTS))
                for netns in far
            )
            yield nextepc, own, table
        counts = gateway.client.counters()
        assert (counts.s1u.forwarded, counts.sgi.forwarded) == (15 * 4, 15 * 4)
        gateway.verify()
        core.check()
        gateway.stop()
        core.kill()
    finally:
        assert workspace.close() == []


def _spec(kind, netns):
    macs = tuple(mac for mac, _ in PORTS.values())
    taps = {name: f"net_tap{at},iface={name}" for at, name in enumerate(PORTS)}
    polling = {"macs": macs, "hugepages": False, "mtu": 1500, "yield_when_idle": True}
    ports, more = (dict(zip(PORTS, PORTS, strict=True)), {}) if kind == "xdp" else (taps, polling)
    return GatewaySpec(
        kind=kind,
        **ports,
        **more,
        sgi_address=str(network.GATEWAY_SGI),
        enb_mac=PORTS["s1u"][1],
        next_hop_mac=PORTS["sgi"][1],
        netns=netns,
        core=0,
    )


def packets(source, destination):
    """Packets of users, each different from the others: sizes, services, fragments, options, what is in them."""
    made = []
    for number, size in enumerate((0, 1, 18, 64, 511, 1_400)):
        ip = Ip(source, destination, identification=1 + number, service=4 * number, ttl=64 - number)
        payload = bytes((number + at) % 256 for at in range(size))
        made += [
            gtpu_frames.udp(ip, (4_000 + number, 5_000), payload),
            gtpu_frames.udp(ip, (1, 2), payload, summed=False),
        ]
    made.append(Ip(source, destination, protocol=6, flags=0x4000).packet(bytes(range(40))))
    made.append(Ip(source, destination, protocol=1, ttl=2).packet(b"\x08\0\0\0" + bytes(60)))
    made.append(Ip(source, destination, flags=0x2000, identification=7).packet(bytes(96)))
    return made


def as_of_port_2152(frame):
    """The frame with an outer identification of 0 and the outer source port 2152, all outer checksums right before.

    nextepc's source port is the kernel's choice (TS 29.281, 4.4.2.3 lets it be any), and the checksum covers it.
    """
    head, datagram = frame[14:34], frame[34:]
    source, destination = (socket.inet_ntoa(head[at : at + 4]) for at in (12, 16))
    pseudo = head[12:20] + struct.pack("!HH", head[9], len(datagram))
    assert (gtpu_frames.checksum(head), gtpu_frames.checksum(pseudo + datagram)) == (0, 0), frame.hex()
    service, flags, ttl = head[1], struct.unpack("!H", head[6:8])[0], head[8]
    outer = Ip(source, destination, protocol=head[9], ttl=ttl, flags=flags, service=service)
    return frame[:14] + gtpu_frames.udp(outer, (2152, struct.unpack("!H", datagram[2:4])[0]), datagram[8:])


def inputs(table: BearerTable):
    """Frames of both directions over every bearer: from where, to where, the frame."""
    for bearer in table.bearers:
        for packet in packets(str(bearer.ue), str(table.server)):
            message = gtpu_frames.gtpu(bearer.uplink_teid, packet)
            outer = gtpu_frames.udp(Ip(str(table.enb), str(table.sgw)), (2152, 2152), message)
            yield "s1u", "sgi", gtpu_frames.ethernet(*PORTS["s1u"], gtpu_frames.IPV4, outer)
        for packet in packets(str(table.server), str(bearer.ue)):
            yield "sgi", "s1u", gtpu_frames.ethernet(*PORTS["sgi"], gtpu_frames.IPV4, packet)


@pytest.mark.vepc
@pytest.mark.parametrize("kind", ["xdp", "dpdk"])
def test_the_own_gateway_makes_of_frames_what_nextepc_makes_of_them(lab, kind):
    """The same bearers, the same frames in, and out byte for byte the same: uplink wholly, downlink but for the outer
    identification and source port. DPDK's ports are taps here."""
    with both_gateways(kind) as (nextepc, own_gateway, table):
        compared = {"sgi": 0, "s1u": 0}
        for first, second, frame in inputs(table):
            theirs, ours = (ends.through(first, second, frame) for ends in (nextepc, own_gateway))
            if second == "s1u":
                theirs, ours = as_of_port_2152(theirs), as_of_port_2152(ours)
            assert ours == theirs, f"{first} to {second}: {frame.hex()}\nnextepc: {theirs.hex()}\n{kind}: {ours.hex()}"
            compared[second] += 1
        assert compared == {"sgi": 15 * 4, "s1u": 15 * 4}


@pytest.mark.vepc
def test_a_bearer_that_is_no_longer_there_is_carried_no_further(lab_with_vnfs):
    site = lab_with_vnfs
    loaded, choice = own("linux-bridge", "xdp-gateway")
    deployment = site.deploy(loaded, "vepc", vnf=choice)
    live = site._vnfs[deployment.id]
    gateway = gateway_of(deployment.vnfs[0])
    for bearer in bearers_of(deployment.vnfs[0]).bearers:
        gateway.client.remove(bearer.ue)
    short = choice.vnf.model_copy(update={"readiness": choice.vnf.readiness.model_copy(update={"timeout_s": 0.1})})
    seat = live.seats[0].__class__(**{**vars(live.seats[0]), "choice": choice.model_copy(update={"vnf": short})})
    with pytest.raises(OnboardError, match="no frames come over the bearers") as failed:
        live.drivers[0].carry(seat, live.handles[0], deployment)
    assert "0 of 20 frames" in failed.value.observed
    site.destroy(deployment)
