"""macvtap in its four modes: frames through VNFs, what modes let pass, and nothing left. On the real host, as root."""

import signal
import socket
from functools import partial

import pytest
from pyroute2 import IPRoute

from nfvbed.errors import UnsupportedError
from nfvbed.host.network import links, macvlans
from nfvbed.host.network.macvlans import MacvlanDevice
from nfvbed.host.network.namespaces import CLONE_NEWNET, in_thread, inside, libc
from nfvbed.records import NOT_SEPARABLE, PortKind, Role
from nfvbed.records.readings import Part
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import variant, vnf
from tests.functional.disturbed import pass_all, wait_until
from tests.functional.lab_host import assert_back_to, in_run_directory

ETHERTYPE = 0x88B5
MACS = ("02:4e:46:56:7f:10", "02:4e:46:56:7f:11")
WARM = TrafficRequest(duration_ns=100_000_000, frame_size=64, rate_pps=2_000, flows=2)
TRICKLE = TrafficRequest(
    duration_ns=1_000_000_000, frame_size=64, rate_pps=2_000, frames=400, flows=2, learning_frames=0
)


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def is_promiscuous(name):
    with IPRoute() as route:
        (index,) = route.link_lookup(ifname=name)
        return bool(next(iter(route.get_links(index))).get_attr("IFLA_PROMISCUITY"))


@pytest.mark.parametrize(
    ("name", "topology", "forwarding", "options"),
    [
        ("macvtap", "pvvp", "mac", {}),
        ("macvtap", "pvpv", "router", {"core_use": "rps"}),
        ("macvtap-vepa", "pvvp", "router", {}),
        ("macvtap-passthru", "pvvp", "bridge", {}),
        ("macvtap-passthru", "pvp", "io", {"promiscuous": False, "core_use": "inline"}),
    ],
)
def test_every_frame_passes_every_device_and_is_counted_there(site, name, topology, forwarding, options):
    chosen = variant(name, **options)
    deployment = site.deploy(chosen, topology, vnf=vnf(forwarding))
    ports = [port for ports in deployment.vnf_ports for port in ports]
    assert {port.kind for port in ports} == {PortKind.MACVTAP}
    for port in ports:
        assert inside(port.netns, partial(macvlans.mode_of, port.address)) == chosen.options.mode
    made_promiscuous = inside(deployment.control["switch_netns"], lambda: is_promiscuous("s0"))
    assert made_promiscuous or not chosen.options.promiscuous
    generator = site.open_generator(deployment)
    try:
        generator.run(WARM)
        passage = pass_all(
            generator,
            TRICKLE,
            lambda: (site.look(deployment, Part.HOPS).hops, site.look(deployment, Part.COUNTERS).counters),
        )
    finally:
        generator.close()
    (before, first), (after, now) = passage.before, passage.after
    sent = passage.sent
    side_by_side = 2 if topology == "pvpv" else 1
    for old, hop in zip(before, after, strict=True):
        if hop.rx_packets is not None:
            share = side_by_side if hop.vnf is not None else 1
            risen = hop.rx_packets - old.rx_packets + hop.tx_packets - old.tx_packets
            # The generator may have sent an odd number: then one VNF has a frame less than the other.
            assert risen >= sum(count // share for count in sent), hop
    assert now.packets - first.packets >= sum(sent) * (1 + len(deployment.vnfs) // side_by_side)
    assert now.busy_cycles == NOT_SEPARABLE
    site.verify(deployment)
    site.destroy(deployment)


def test_path_is_named_in_order_and_its_threads_sit_where_the_arrangement_says(site):
    deployment = site.deploy(variant("macvtap-vepa"), "pvvp", vnf=vnf("router"))
    assert [hop.name for hop in site.look(deployment, Part.HOPS).hops] == [
        *("generator port 0 (g0)", "link s0", "s0 port v1a", "vnf1 port 0 (eth1a)", "vnf1 port 1 (eth1b)"),
        *("m1 port v1b", "link m1", "link h1", "link w1", "m1 port v2a"),
        *("vnf2 port 0 (eth2a)", "vnf2 port 1 (eth2b)", "s1 port v2b", "link s1", "generator port 1 (g1)"),
    ]
    placed = site.host_view(deployment).arrangement
    switch = [thread for thread in site.look(deployment, Part.THREADS).threads if thread.role is Role.SWITCH]
    assert {thread.name.split("-")[0] for thread in switch} == {f"napi/{name}" for name in ("s0", "s1", "m1", "w1")}
    assert {thread.core for thread in switch} == {placed.switch_cores[0]}
    site.destroy(deployment)


@pytest.mark.parametrize(
    ("name", "topology", "forwarding", "words"),
    [
        ("macvtap", "p2p", "mac", "nothing of it"),
        ("macvtap", "pvvp", "io", "no way to the next VNF"),
        ("macvtap-private", "pvvp", "mac", "do not reach each other"),
        ("macvtap-passthru", "pvpv", "router", "cannot share"),
    ],
)
def test_what_a_mode_cannot_join_is_refused_with_the_reason(site, name, topology, forwarding, words):
    with pytest.raises(UnsupportedError, match=words):
        site.deploy(variant(name), topology, vnf=vnf(forwarding))


@pytest.mark.parametrize(
    ("mode", "relay", "arrives"),
    [
        ("bridge", False, True),
        ("private", False, False),
        ("vepa", False, False),
        ("vepa", True, True),
        # Of what a relay sends back, the kernel keeps only broadcasts from devices in mode private.
        ("private", True, True),
    ],
)
def test_devices_of_one_link_reach_each_other_as_their_mode_says(mode, relay, arrives):
    def work():
        assert libc.unshare(CLONE_NEWNET) == 0
        links.silence_ipv6()
        links.add_veth("m", "w", ("02:4e:46:56:7f:00", "02:4e:46:56:7f:01"))
        for number, mac in enumerate(MACS):
            macvlans.add(MacvlanDevice(f"v{number}", "m", mac, mode, tap=bool(number)))
        links.set_up(["m", "w", "v0", "v1"])
        if relay:
            links.add_bridge("h", ["w"], {"br_stp_state": 0}, learning=True)
            macvlans.reflect("w")
        return reaches("v0", "v1", attempts=200 if arrives else 5)

    assert in_thread(work) is arrives


def reaches(sender, receiver, attempts):
    """Whether frames addressed to the second device arrive there; the first ones may find a bridge not yet up."""
    first, second = (bytes.fromhex(mac.replace(":", "")) for mac in MACS)
    with raw(sender) as out, raw(receiver) as into:
        into.settimeout(0.05)
        for _ in range(attempts):
            out.send(second + first + ETHERTYPE.to_bytes(2, "big") + bytes(46))
            try:
                while into.recvfrom(2048)[1][2] == socket.PACKET_OUTGOING:
                    pass
            except TimeoutError:
                continue
            return True
    return False


def raw(name):
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
    opened.bind((name, ETHERTYPE))
    return opened


def _generators():
    return [path for path in in_run_directory() or () if path.match("nfvgen-*.sock")]


@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_an_nfvbed_that_is_stopped_in_mid_trial_leaves_nothing(before, mark, nfvbed, tmp_path, how):
    experiment = tmp_path / "stopped.yml"
    experiment.write_text(
        "{name: stopped, title: Stopped, variants: [macvtap], topologies: [pvvp], vnfs: [{forwarding: mac}],"
        " frame_sizes: [64], trials: {mrr_duration_s: 30}, repetitions: {needed: 1}, ceilings: false}\n"
    )
    process = nfvbed("run", experiment, "--store", tmp_path / "results.sqlite", "--no-doctor")
    assert wait_until(_generators, 60), "no generator was started"
    process.send_signal(how)
    process.communicate(timeout=60)
    if how is signal.SIGKILL:
        destroy = nfvbed("destroy")
        out, err = destroy.communicate(timeout=60)
        assert destroy.returncode == 0, err
        assert "removed what a dead nfvbed had left" in out + err
    assert_back_to(before, mark)
