"""The image `vloop`: it boots, its agent answers, and frames go through it in every mode. Guests are emulated."""

import json
import operator
import re
import subprocess
import sys
import time
import zlib
from base64 import b64decode
from functools import partial

import pytest

from nfvbed.vnfs.vm.agent import AgentRefused
from tests.functional.disturbed import retried
from tests.image import frames_of_ip as ip
from tests.image.iso9660 import config_drive
from tests.image.vloop_guest import IMAGES, MACS, OUTSIDE, ROOT, Guest

pytestmark = [pytest.mark.usefixtures("vloop_image"), pytest.mark.xdist_group("vloop")]
"""`make test` has built it before; where this file is run alone it is built here, within the first test."""

FRAMES = 20
MAC_BYTES = [bytes.fromhex(mac.replace(":", "")) for mac in MACS]
SIZE_LIMIT_MIB = 400


def sidecar():
    return json.loads((IMAGES / "vloop.json").read_text())


def through(guest, port, head=None):
    """Send frames into a port; give the distinct Ethernet heads of those that come out, and how many came."""
    head = head or OUTSIDE[1] + OUTSIDE[0] + b"\x88\xb5"
    found = guest.exchange(port, [head + bytes([number]) * 46 for number in range(FRAMES)], FRAMES)
    return {frame[:14] for frame in found}, len(found)


@pytest.fixture(scope="module")
def guest(vloop_image, tmp_path_factory):
    folder = tmp_path_factory.mktemp("g")
    kept = "default_hugepagesz=2M hugepagesz=2M hugepages=64 isolcpus=managed_irq,domain,1"
    # The agent is where a cloud has it; functional tests ask those of the lab on their serial ports.
    with Guest(folder, parameters=kept, virtio_port=True) as guest:
        guest.version, guest.boot_s = guest.wait_ready()
        yield guest


@pytest.fixture
def idle(guest):
    guest.ask("stop")
    guest.settle()
    yield guest
    guest.ask("stop")


def test_sidecar_describes_the_files():
    document = sidecar()
    for file in document["files"].values():
        assert (IMAGES / file["name"]).stat().st_size == file["size_bytes"]
    assert document["files"]["qcow2"]["size_bytes"] < SIZE_LIMIT_MIB * 1024**2
    assert {"dpdk-dev", "iperf3", "netperf", "sockperf", "sysbench"} <= set(document["packages"])


def test_built_image_is_not_built_again():
    done = subprocess.run([ROOT / "setup/images"], capture_output=True, text=True, check=True)
    assert re.search(r"vloop \S+: there", done.stdout)


@pytest.mark.slow
@pytest.mark.xdist_group("built again")
@pytest.mark.parametrize("name", ["vloop", "vepc"])
def test_same_input_gives_the_same_image(name):
    done = subprocess.run(
        [sys.executable, "-m", "builder", "--again", name],
        cwd=ROOT / "images",
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "the same again" in done.stdout


def test_guest_is_what_it_was_booted_as(guest):
    info = guest.ask("info")
    assert info["version"] == guest.version == sidecar()["version"]
    assert (info["cpus"], info["isolated"]) == ([0, 1], [1])
    assert info["hugepages"]["total"] == 64
    assert info["versions"]["dpdk-dev"] == sidecar()["packages"]["dpdk-dev"]


def test_ports_are_in_order(idle):
    links = idle.ask("links")["ports"]
    assert [(link["mac"], link["driver"]) for link in links] == [(mac, "virtio-pci") for mac in MACS]


@pytest.mark.parametrize(
    ("mode", "heads"),
    [
        ("io", [OUTSIDE[1] + OUTSIDE[0]] * 2),
        ("mac", [OUTSIDE[0] + MAC_BYTES[1], OUTSIDE[1] + MAC_BYTES[0]]),
        ("macswap", [OUTSIDE[0] + OUTSIDE[1]] * 2),
        ("5tswap", [OUTSIDE[0] + OUTSIDE[1]] * 2),
        ("raw", [OUTSIDE[1] + OUTSIDE[0]] * 2),
    ],
)
def test_testpmd_forwards(idle, mode, heads):
    # For mac the destination is that of the port's peer; the first port's peer is what frames to it are from.
    peers = {"peers": ["02:00:00:00:00:02", "02:00:00:00:00:01"]} if mode == "mac" else {}
    started = idle.ask("forward", mode=mode, retry=4 if mode == "io" else 0, **peers)
    assert (started["engine"], started["cpus"]) == ("testpmd", [1])
    assert started["driver"] == ("af_packet" if mode == "raw" else "dpdk")
    for port in (0, 1):
        wanted = ({heads[port] + b"\x88\xb5"}, FRAMES)
        assert retried(partial(through, idle, port), partial(operator.eq, wanted)) == wanted
    counted = idle.ask("stats")["ports"]
    assert all(min(port["rx_packets"], port["tx_packets"]) >= FRAMES for port in counted)


def test_bridge_forwards(idle):
    assert idle.ask("forward", mode="bridge")["engine"] == "kernel"
    there, back = OUTSIDE[1] + OUTSIDE[0] + b"\x88\xb5", OUTSIDE[0] + OUTSIDE[1] + b"\x88\xb5"
    assert through(idle, 0, there) == ({there}, FRAMES)
    assert through(idle, 1, back) == ({back}, FRAMES)
    counted = idle.ask("stats")["ports"]
    assert [(port["rx_packets"], port["tx_packets"]) for port in counted] == [(FRAMES, FRAMES)] * 2


def test_router_forwards(idle):
    near, far = "198.18.0.1", "198.19.0.1"
    idle.ask(
        "forward",
        mode="router",
        addresses=[["198.18.255.254/16"], ["198.19.255.254/16"]],
        neighbours=[[0, near, "02:00:00:00:00:01"], [1, far, "02:00:00:00:00:02"]],
    )
    idle.settle()
    frame = MAC_BYTES[0] + OUTSIDE[0] + ip.ETHERTYPE_IPV4 + ip.udp(near, far, b"x" * 30)
    found = idle.exchange(0, [frame] * FRAMES, FRAMES)
    expected = ip.ipv4(near, far, 17, frame[34:], ttl=63)
    assert set(found) == {OUTSIDE[1] + MAC_BYTES[1] + ip.ETHERTYPE_IPV4 + expected}
    assert len(found) == FRAMES


def test_source_sends_what_was_asked(idle):
    idle.ask("forward", mode="source", frame_size_bytes=128)
    sizes = set()
    for _ in range(FRAMES):
        idle.wires[0].settimeout(20)
        sizes.add(len(idle.wires[0].recv(65536)))
    assert sizes == {124}
    # It counts frames after it has sent them, and an emulated processor may be kept between the two.
    assert any(idle.ask("stats")["ports"][0]["tx_packets"] >= FRAMES for _ in range(100))


def test_sink_counts_and_sends_nothing(idle):
    idle.ask("forward", mode="sink", ports=list(MACS))
    idle.exchange(0, [OUTSIDE[1] + OUTSIDE[0] + b"\x88\xb5" + bytes(46)] * FRAMES, 0)
    # A request later the guest has polled its rings many times.
    counted = next(ports for _ in range(100) if (ports := idle.ask("stats")["ports"])[0]["rx_packets"] == FRAMES)
    assert [port["tx_packets"] for port in counted] == [0, 0]


@pytest.mark.parametrize(("tool", "port"), [("iperf3", 5201), ("netperf", 12865), ("sockperf", 11111)])
def test_servers_answer(idle, tool, port):
    mine, its = "192.0.2.1", "192.0.2.2"
    keys = {"addresses": [[f"{its}/24"]], "ports": [MACS[0]]}
    assert idle.ask("serve", tool=tool, **keys)["port"] == port
    idle.wires[0].send(ip.arp_request(OUTSIDE[0], mine, its))
    idle.wires[0].settimeout(20)
    assert idle.wires[0].recv(65536)[12:14] == ip.ETHERTYPE_ARP
    if tool != "sockperf":
        idle.wires[0].send(MAC_BYTES[0] + OUTSIDE[0] + ip.ETHERTYPE_IPV4 + ip.syn(mine, its, port))
        assert ip.tcp_flags(idle.wires[0].recv(65536)) == ip.SYN_ACK


def test_connections_of_a_guest_with_itself(idle):
    ends = [["198.18.64.1/24"], ["198.18.64.2/24"]]
    idle.ask("serve", tool="netperf", addresses=[ends[1]], ports=[MACS[1]])
    keys = {"server": "198.18.64.2", "connections": 3, "duration_s": 1, "server_cpus": 2}
    found = idle.ask("netperf", test="TCP_RR", addresses=[ends[0]], ports=[MACS[0]], **keys)
    assert found["connections"] == 3
    assert found["throughput"] >= 3 * found["least"] > 0
    assert [len(port["rx"]) for port in idle.ask("queues")["ports"]] == [1, 1]


def test_a_tool_is_started_waited_for_and_read(idle):
    info = idle.ask("info")
    assert {"iperf3", "netperf", "netserver", "sockperf"} == set(info["tools"])
    assert "cubic" in info["congestion_controls"]
    started = idle.ask("start", program="iperf3", arguments=["--version"])
    assert idle.ask("wait", process=started["process"], timeout_ms=20_000) == {"status": 0}
    part = zlib.decompress(b64decode(idle.ask("read", name=started["log"])["part"]))
    assert part.startswith(b"iperf 3")
    server = idle.ask("start", program="netserver", arguments=["-D", "-4", "-p", "12866"])["process"]
    deadline = time.monotonic() + 60
    while not idle.ask("listens", port=12866)["listens"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert idle.ask("end", process=server) == {"status": -9}


@pytest.mark.parametrize(
    ("do", "keys", "words"),
    [
        ("dance", {}, "cannot do this"),
        ("forward", {"mode": "teleport"}, "needs a mode"),
        ("forward", {"mode": "io", "colour": "red"}, "knows no key colour"),
        ("forward", {"mode": "io", "burst": 0}, "burst is out of range"),
        ("forward", {"mode": "io", "ports": ["02:ff:ff:ff:ff:ff"]}, "no port has this MAC"),
        ("forward", {"mode": "router"}, "needs addresses"),
        ("forward", {"mode": "bridge", "queues": 8}, "has one channel|not as many channels"),
        ("stats", {}, "nothing forwards"),
        ("sysbench", {"test": "disk"}, "needs a test"),
        ("netperf", {"server": "198.18.64.9", "duration_s": 1}, "netperf failed"),
        ("start", {"program": "sh", "arguments": ["-c", "true"]}, "no such tool"),
        ("read", {"name": "../passwd"}, "plain name"),
        ("lead", {"address": "198.18.0.1", "ports": MACS[:1]}, "no peer, peer_mac"),
    ],
)
def test_agent_refuses_with_a_reason(idle, do, keys, words):
    with pytest.raises(AgentRefused, match=words):
        idle.ask(do, **keys)
    assert idle.ask("info")["cpus"] == [0, 1]


@pytest.mark.slow
@pytest.mark.xdist_group("old NICs")
def test_own_loader_old_nics_and_one_cpu(tmp_path):
    # The kernel drives the second NIC, for which DPDK has no driver; the only CPU forwards and answers.
    with Guest(tmp_path, nics=("e1000", "rtl8139"), machine="pc", cpus=1, direct=False) as guest:
        guest.wait_ready()
        assert [link["driver"] for link in guest.ask("links")["ports"]] == ["e1000", "8139cp"]
        ports = guest.ask("offloads", tx=False, ports=[MACS[0]])["ports"]
        assert [port["offloads"]["tx"] for port in ports] == [False, True]
        assert guest.ask("forward", mode="io")["driver"] == "af_packet"
        assert through(guest, 0)[1] == FRAMES
        assert guest.ask("forward", mode="io", ports=[MACS[0]])["driver"] == "dpdk"
        assert guest.ask("stop") == {}
        guest.ask("poweroff")
        assert guest.wait_ended() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "device"),
    [("pc", "ide-cd,drive=cd"), ("q35", "ide-cd,drive=cd,bus=ide.0")],
)
def test_forwards_as_user_data_on_the_config_drive_says(tmp_path, machine, device):
    """As Nova boots it: the image's own loader, a CD behind PIIX or AHCI, and the agent's virtio port.

    And a management port with DHCP.
    """
    drive = tmp_path / "config.iso"
    drive.write_bytes(config_drive(b"vloop.forward=macswap vloop.manage=dhcp\n"))
    choices = {"machine": machine, "direct": False, "cd": drive, "cd_device": device}
    choices |= {"managed": 5201, "virtio_port": True}
    with Guest(tmp_path, **choices) as guest:
        _, seconds = guest.wait_ready()
        print(f"ready after {seconds:.1f} s")
        assert guest.ask("stats")["mode"] == "macswap"
        assert [link["mac"] for link in guest.ask("links")["ports"]] == list(MACS), "the path has two ports"
        assert through(guest, 0)[1] == FRAMES
        guest.ask("serve", tool="iperf3")
        with guest.managed() as link:
            link.sendall(bytes(37))
            assert link.recv(1) == b"\x09", "iperf3 asks for the parameters of a test"
        assert guest.ask("stop") == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (b"vloop.forward=fly", b"forward needs a mode: 'fly'"),
        (b"vloop.manage=dhcp", b"management needs one port beyond the two of the path: 0"),
    ],
)
def test_user_data_that_cannot_be_done_is_said_on_the_console(tmp_path, words, said):
    drive = tmp_path / "config.iso"
    drive.write_bytes(config_drive(words))
    with Guest(tmp_path, machine="pc", cd=drive, cd_device="ide-cd,drive=cd") as guest:
        assert guest.wait_ended(120) == 0
    assert b"vloop: failed: " + said in guest.console.read_bytes()
