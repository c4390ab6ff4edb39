# SPDX-License-Identifier: Apache-2.0
"""nfvgen's XDP engine on a real veth pair, looped back: what a trial sends, counts and leaves behind."""

import json
import os
import signal
import sys
import time

import pytest

from tests.functional.disturbed import PATIENCE_S, retried, wait_until
from tests.functional.xdp_driver import Generator, assert_nothing_lost

pytestmark = pytest.mark.no_hugepages

TRIALS_UNTIL_REFUSED = 200


def test_paced_trial_is_complete(loop):
    """100,000 frames/s each way for 0.3 s: every one is intended, what was sent arrives, each with a latency."""
    trial = retried(
        lambda: loop.trial(duration_ns=300_000_000, rate_pps=100_000), lambda trial: trial["duration_ns"] < 310_000_000
    )
    assert_nothing_lost(trial)
    assert [d["intended"] for d in trial["directions"]] == [30_000, 30_000]
    for direction in trial["directions"]:
        latency = direction["latency"]
        counts = [count for _, count in latency["counts"]]
        assert sum(counts) == direction["received"]
        assert 0 < latency["min"] <= latency["max"]
        assert latency["counts"][0][0] <= latency["min"]
    assert 290_000_000 < trial["duration_ns"] < 310_000_000
    assert 0 < trial["busy_ns"] <= trial["duration_ns"]
    assert trial["foreign"] == [0, 0]


def test_maximum_load(loop):
    """No pace: what the port refuses is not sent, what is sent arrives."""
    trial = loop.trial(duration_ns=200_000_000)
    assert_nothing_lost(trial)
    assert all(d["unsent"] == 0 for d in trial["directions"])
    assert trial["busy_ns"] == trial["duration_ns"] - trial["gaps"]["total_ns"]


def test_bytes_of_a_mix_are_counted_where_the_port_refuses_frames(loop):
    """One direction at maximum load fills the peer's ring; what the kernel then drops is in no count of bytes."""
    for _ in range(TRIALS_UNTIL_REFUSED):
        trial = loop.trial(duration_ns=60_000_000, frame_sizes=[[178, 7], [571, 4], [64, 1]], directions=[[0, 1]])
        assert_nothing_lost(trial)
        if trial["directions"][0]["refused"]:
            return
    raise AssertionError("the port took every frame of every trial")


def test_a_gap_of_the_sender_is_known_and_what_was_due_in_it_is_late(loop):
    """The process is stopped for 40 ms: no frame of that time is sent later, and none of it is a refused one."""
    assert loop.call("start", duration_ns=400_000_000, rate_pps=100_000)["ok"]
    loop.wait_until_sending()
    os.kill(loop.process.pid, signal.SIGSTOP)
    time.sleep(0.04)
    os.kill(loop.process.pid, signal.SIGCONT)
    assert wait_until(lambda: loop.call("stats")["result"]["state"] == "done")
    trial = loop.call("stats")["result"]["trial"]
    assert_nothing_lost(trial)
    assert trial["gaps"]["longest_ns"] > 30_000_000
    assert trial["gaps"]["total_ns"] >= trial["gaps"]["longest_ns"]
    assert trial["busy_ns"] <= trial["duration_ns"] - trial["gaps"]["total_ns"]
    for direction in trial["directions"]:
        assert direction["late"] == direction["unsent"] > 2_000
        assert 0 < direction["received_in_time"] <= direction["received"]


def test_a_trial_begins_when_who_asked_for_it_has_its_answer(loop):
    """Who asks may share the core: nothing is sent in the 2 ms in which it reads the answer and goes to sleep."""
    looks = []
    for _ in range(20):
        assert loop.call("start", duration_ns=1_000_000, rate_pps=1_000_000)["ok"]
        at_once = loop.call("stats")["result"]
        looks.append(at_once["elapsed_ns"])
        assert wait_until(lambda: loop.call("stats")["result"]["state"] == "done")
        if at_once["state"] == "running" and at_once["elapsed_ns"] < 2_000_000:
            assert [d["sent"] for d in at_once["trial"]["directions"]] == [0, 0]
            assert all(d["sent"] > 0 for d in loop.call("stats")["result"]["trial"]["directions"])
            return
    pytest.fail(f"no look within 2 ms of a start in 20: {looks} ns")


def test_odd_rate_is_exact(shared_loop):
    """A rate that no interval in whole nanoseconds gives."""
    trial = shared_loop.trial(duration_ns=300_000_000, rate_pps=70_007, directions=[[0, 1]])
    assert trial["directions"][0]["intended"] == 21_003


@pytest.mark.parametrize("flows", [1, 100_000])
@pytest.mark.parametrize(
    "stack",
    [
        {"vlan": None, "ip": 4, "vxlan": None},
        {"vlan": 100, "ip": 4, "vxlan": None},
        {"vlan": None, "ip": 6, "vxlan": None},
        {"vlan": None, "ip": 4, "vxlan": 7},
        {"vlan": 4094, "ip": 6, "vxlan": 16_000_000},
    ],
)
def test_stacks_and_flows(shared_loop, stack, flows):
    """Checksums hold for every stack, an odd size and many flows."""
    sizes = [[178, 7], [571, 4], [1514, 1]]
    trial = shared_loop.trial(duration_ns=60_000_000, rate_pps=50_000, stack=stack, flows=flows, frame_sizes=sizes)
    assert_nothing_lost(trial)


# Prints destination address and UDP source port, which tells the flow, of so many frames.
LISTEN = """
import json, socket, sys
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x800))
port.bind((sys.argv[1], 0x800))
port.settimeout(20)
print("ready", flush=True)
frames = [port.recv(9000) for _ in range(int(sys.argv[2]))]
print(json.dumps([[frame[:6].hex(":"), int.from_bytes(frame[34:36], "big")] for frame in frames]))
"""


def heard(namespace, tmp_path, script, keys, ports=(0,)):
    """Send with these keys, and return what a listener behind each of the ports prints of 100 frames, one by one.

    A frame that is late is not sent: where too few were, others are sent.
    """
    namespace.pair("nfvta", "nfvtc")
    namespace.pair("nfvtb", "nfvtd")
    namespace.receive_offload("on", "nfvtc", "nfvtd")
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
    directions = [[port, 1 - port] for port in ports]

    def listen():
        listeners = [namespace.start(sys.executable, "-c", script, ("nfvtc", "nfvtd")[port], "100") for port in ports]
        try:
            assert [listener.stdout.readline() for listener in listeners] == ["ready\n"] * len(ports)
            trial = generator.trial(frames=2000, rate_pps=10_000, duration_ns=10**9, directions=directions, **keys)
            if any(direction["sent"] < 100 for direction in trial["directions"]):
                return None
            return [seen for listener in listeners for seen in json.loads(listener.communicate(timeout=30)[0])]
        finally:
            for listener in listeners:
                listener.kill()
                listener.wait()

    try:
        seen = retried(listen, lambda seen: seen is not None)
        assert seen is not None, "frames were late each time"
        return seen
    finally:
        generator.close()


def test_destination_follows_the_flow(namespace, tmp_path):
    """Flow f has destination f modulo the count."""
    macs = ["02:00:00:00:00:f8", "02:00:00:00:01:00"]
    keys = {"flows": 6, "destination_macs": macs, "destination_mac_count": 4}
    seen = heard(namespace, tmp_path, LISTEN, keys)
    flows = {mac: {port - 0xC000 for other, port in seen if other == mac} for mac, _ in seen}
    assert flows == {f"02:00:00:00:00:{0xF8 + n:02x}": {n, n + 4} & set(range(6)) for n in range(4)}


# Prints both MAC addresses, both IPv4 addresses and the UDP source port of so many frames.
LISTEN_TO_ALL = LISTEN.replace(
    '[frame[:6].hex(":"),', "[frame[:6].hex(), frame[6:12].hex(), frame[26:30].hex(), frame[30:34].hex(),"
)


def test_addresses_move_with_the_flow(namespace, tmp_path):
    """Flow f is added to what was asked for: three bytes of both MAC addresses, the network of the destination."""
    keys = {"flow_macs": ["source", "destination"], "flow_address": "destination-network", "flows": 70_000}
    keys |= {"macs": ["02:00:00:00:ff:f0", "02:00:00:80:00:00"], "ipv4": ["16.0.0.1", "128.0.0.1"]}
    seen = heard(namespace, tmp_path, LISTEN_TO_ALL, keys)
    for destination, source, sender, receiver, port in seen:
        flow = port - 0xC000
        assert int(destination, 16) == 0x020000800000 + flow
        assert int(source, 16) == 0x02000000FFF0 + flow
        assert (int(sender, 16), int(receiver, 16)) == (0x10000001, 0x80000001 + (flow << 16))
    assert len({port for *_, port in seen}) == 100


# Prints both MAC addresses, both IPv4 addresses and both UDP ports.
LISTEN_TO_ENDS = LISTEN_TO_ALL.replace("frame[34:36]", "frame[34:38]")


@pytest.mark.parametrize("address", ["source", "destination", "destination-network"])
def test_mirrored_sessions_answer_each_other_flow_by_flow(namespace, tmp_path, address):
    """What port 1 sends has the addresses and ports of a flow of port 0 the other way round; unreplied, none has."""
    keys = {"sessions": "mirrored", "flows": 50, "flow_address": address, "flow_macs": ["source"]}
    seen = heard(namespace, tmp_path, LISTEN_TO_ENDS, keys, ports=(0, 1))
    there, back = seen[:100], seen[100:]
    answers = {(source, target, to, by, ports % 65536 << 16 | ports >> 16) for target, source, by, to, ports in back}
    assert answers == {tuple(frame) for frame in there} and len(answers) == 50
    assert {ports >> 16 for *_, ports in there} == {0xC000 + flow for flow in range(50)}
    assert {ports >> 16 for *_, ports in back} == {9}


@pytest.mark.parametrize("stack", [{"ip": 4}, {"vlan": 5, "ip": 6}, {"ip": 4, "vxlan": 7}])
@pytest.mark.parametrize("directions", [[[0, 1], [1, 0]], [[1, 0]]])
def test_mirrored_sessions_are_checked_as_others_are(shared_loop, stack, directions):
    keys = {"sessions": "mirrored", "flows": 70_000, "flow_macs": ["source"], "directions": directions}
    trial = shared_loop.trial(duration_ns=60_000_000, rate_pps=50_000, frame_sizes=[[178, 1]], stack=stack, **keys)
    assert_nothing_lost(trial)
    assert trial["foreign"] == [0, 0]


@pytest.mark.parametrize("address", ["source", "destination", "destination-network"])
@pytest.mark.parametrize("ip", [4, 6])
def test_moving_addresses_keep_their_checksums(shared_loop, ip, address):
    keys = {"flow_macs": ["source", "destination"], "flow_address": address, "flows": 70_000, "stack": {"ip": ip}}
    trial = shared_loop.trial(duration_ns=60_000_000, frame_sizes=[[178, 7], [571, 4]], **keys)
    assert_nothing_lost(trial)
    assert trial["foreign"] == [0, 0]


@pytest.mark.parametrize("stack", [{"ip": 4}, {"vlan": 5, "ip": 6}, {"ip": 4, "vxlan": 7}])
def test_several_destinations(shared_loop, stack):
    """Address and checksums have nothing to do with each other, also inside VXLAN; the receiver takes all of them."""
    keys = {"destination_macs": ["02:00:00:00:00:f8", "02:00:00:00:01:00"], "destination_mac_count": 8, "flows": 1000}
    sizes = [[178, 7], [571, 4]]
    trial = shared_loop.trial(duration_ns=60_000_000, rate_pps=50_000, stack=stack, frame_sizes=sizes, **keys)
    assert_nothing_lost(trial)
    assert trial["foreign"] == [0, 0]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGKILL, -9)])
def test_nothing_stays_attached(namespace, loop, number, status):
    """Ended in the middle of a trial, by whatever signal."""
    assert loop.call("start", duration_ns=60_000_000_000)["ok"]
    loop.wait_until_sending()
    began = time.monotonic()
    loop.process.send_signal(number)
    output, _ = loop.process.communicate(timeout=2 * PATIENCE_S)
    assert loop.process.returncode == status
    assert time.monotonic() - began < PATIENCE_S, "not at the end of the trial"
    if number != signal.SIGKILL:
        assert json.loads(output)["exit"]["last"]["directions"][0]["sent"] > 0
    wait_until(lambda: not namespace.attached())
    assert namespace.attached() == set()


def test_stop_ends_a_trial_early(loop):
    """`stop` answers with the counts so far, which are complete."""
    assert loop.call("start", duration_ns=60_000_000_000, rate_pps=1000)["ok"]
    loop.wait_until_sending()
    result = loop.call("stop")["result"]
    assert result["state"] == "done"
    assert result["trial"]["duration_ns"] < PATIENCE_S * 1_000_000_000
    assert_nothing_lost(result["trial"])
