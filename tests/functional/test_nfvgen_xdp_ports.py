# SPDX-License-Identifier: Apache-2.0
"""The ports of nfvgen's XDP engine: which it takes, what it answers on them, how it leaves them."""

import os
import pathlib
import signal
import sys
import time

import pytest

from tests.functional.disturbed import retried, wait_until
from tests.functional.xdp_driver import CORE, NFVGEN, Generator, assert_nothing_lost, ip

pytestmark = pytest.mark.no_hugepages

# Two tap interfaces, each one's frames written to the other, as a switch in user space does.
TAPS = """
import fcntl, os, select, struct, sys
taps = []
for name in sys.argv[1:3]:
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1002))
    taps.append(tap)
print("ready", flush=True)
while True:
    for tap in select.select(taps, [], [])[0]:
        try:
            os.write(taps[1 - taps.index(tap)], os.read(tap, 9000))
        except OSError:
            pass  # the other one is not up yet
"""

# Asks for the address of the port behind an interface, by ARP and by neighbour solicitation, and prints the answers.
ASK = """
import socket, struct, sys
name, mac = sys.argv[1], bytes.fromhex(sys.argv[2])
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind((name, 0))
s.settimeout(20)
def wait(match):
    while True:
        frame = s.recv(2000)
        if match(frame):
            return frame
me = bytes([198, 18, 0, 99])
arp = struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + mac + me + bytes(6) + bytes([198, 18, 0, 1])
s.send(b"\\xff" * 6 + mac + b"\\x08\\x06" + arp + bytes(18))
answer = wait(lambda f: f[12:14] == b"\\x08\\x06" and f[20:22] == b"\\0\\2")
print(answer[22:28].hex(), answer[:6].hex(), answer[28:32].hex(), answer[38:42].hex())
source, target = socket.inet_pton(10, "2001:2::99"), socket.inet_pton(10, "2001:2::1")
group = socket.inet_pton(10, "ff02::1:ff00:1")
def total(data):
    words = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while words >> 16:
        words = (words & 0xffff) + (words >> 16)
    return words
icmp = struct.pack("!BBHI", 135, 0, 0, 0) + target + b"\\1\\1" + mac
check = 0xffff ^ total(source + group + struct.pack("!II", 32, 58) + icmp)
icmp = icmp[:2] + struct.pack("!H", check) + icmp[4:]
header = struct.pack("!IHBB", 6 << 28, 32, 58, 255) + source + group
s.send(b"\\x33\\x33\\xff\\0\\0\\1" + mac + b"\\x86\\xdd" + header + icmp)
answer = wait(lambda f: f[12:14] == b"\\x86\\xdd" and f[54] == 136)
right = total(answer[22:54] + struct.pack("!II", 32, 58) + answer[54:86])
print(answer[80:86].hex(), answer[62:78] == target, hex(right))
"""


def test_tap_interfaces(namespace, tmp_path):
    """Ports of a switch in user space: native XDP on both, at a rate that the relay holds."""
    relay = namespace.start(sys.executable, "-c", TAPS, "nfvta", "nfvtb")
    try:
        assert relay.stdout.readline() == "ready\n", relay.stderr.read()
        for tap in ("nfvta", "nfvtb"):
            ip("-n", namespace.name, "link", "set", tap, "addrgenmode", "none", "up")
        generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
        try:
            assert generator.call("hello")["result"]["ports"][0]["driver"] == "tun"
            sizes = [[64, 1], [1518, 1]]
            patient = {"duration_ns": 200_000_000, "drain_ns": 1_000_000_000}
            assert_nothing_lost(generator.trial(**patient, rate_pps=1000, frame_sizes=sizes))
        finally:
            generator.close()
    finally:
        relay.kill()
        relay.communicate()


def test_answers_arp_and_neighbour_discovery(namespace, tmp_path):
    """A router behind the port learns its address."""
    namespace.pair("nfvta", "nfvtc")
    namespace.pair("nfvtb", "nfvtd")
    namespace.receive_offload("on", "nfvtc", "nfvtd")
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
    try:
        mac = generator.call("hello")["result"]["ports"][0]["mac"].replace(":", "")
        arp, nd = namespace.run(sys.executable, "-c", ASK, "nfvtc", "020000000063").splitlines()
    finally:
        generator.close()
    assert arp == f"{mac} 020000000063 c6120001 c6120063"
    assert nd == f"{mac} True 0xffff"


def test_sink_core(namespace, tmp_path):
    """The ports' receive threads run where they were asked to; at the end the ports are as they were."""
    core = str(min(os.sched_getaffinity(0)))
    namespace.pair("nfvta", "nfvtb")
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"), "--sink-core", core)
    try:
        assert_nothing_lost(generator.trial(duration_ns=100_000_000, drain_ns=1_000_000_000))
        assert namespace.run("cat", "/sys/class/net/nfvta/threaded") == "1\n"
        threads = [
            path
            for path in pathlib.Path("/proc").glob("[0-9]*/comm")
            if path.read_text().startswith(("napi/nfvta-", "napi/nfvtb-"))
        ]
        assert len(threads) >= 2
        for path in threads:
            assert f"Cpus_allowed_list:\t{core}\n" in (path.parent / "status").read_text()
    finally:
        generator.close()
    assert namespace.run("cat", "/sys/class/net/nfvta/threaded") == "0\n"


def test_largest_frame(namespace, tmp_path):
    """Bound by the MTU or, with a large one, by what XDP live frames hold; the refusal names the limit."""
    namespace.pair("nfvta", "nfvtb", mtu=3490)
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
    try:
        limit = generator.call("hello")["result"]["max_frame_size_bytes"]
        assert 3000 < limit < 3600
        refusal = generator.call("start", duration_ns=1_000_000, frame_sizes=[[limit + 1, 1]])["error"]
        assert (refusal["code"], refusal["limit"]) == ("out-of-range", limit)
        assert_nothing_lost(generator.trial(duration_ns=50_000_000, rate_pps=10_000, frame_sizes=[[limit, 1]]))
    finally:
        generator.close()


def test_deaf_port_is_reported(namespace, tmp_path):
    """A peer with neither XDP nor receive offload takes no redirected frame: that is a failure, not a loss."""
    namespace.pair("nfvta", "nfvtc")
    namespace.pair("nfvtb", "nfvtd")
    namespace.receive_offload("off", "nfvtc", "nfvtd")
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
    try:
        stats = generator.attempt(duration_ns=60_000_000_000, rate_pps=1000, directions=[[1, 0]])
        assert stats["state"] == "failed"
        assert "nfvtb" in stats["error"]["message"] and "gro on" in stats["error"]["message"]
        assert stats["elapsed_ns"] < 30_000_000_000, "not at the end of the trial"
        namespace.receive_offload("on", "nfvtd")
        trial = generator.trial(duration_ns=50_000_000, rate_pps=1000, directions=[[1, 0]])
        assert trial["directions"][0]["sent"] == trial["directions"][0]["lost"] > 0
        ip("-n", namespace.name, "link", "set", "nfvtb", "down")
        answer = generator.call("start", duration_ns=50_000_000, rate_pps=1000, directions=[[1, 0]])
        assert not answer["ok"] and "down" in answer["error"]["message"]
    finally:
        generator.close()


def test_a_generator_that_is_stopped_again_and_again_goes_on(namespace, loop):
    """Kept from its cores, for longer than any frame takes: its ports are there all the same."""
    answer = loop.call("start", duration_ns=400_000_000, rate_pps=1000)
    assert answer["ok"], answer
    for _ in range(6):
        loop.process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        loop.process.send_signal(signal.SIGCONT)
    assert wait_until(lambda: loop.call("stats")["result"]["state"] != "running")
    stats = loop.call("stats")["result"]
    assert (stats["state"], stats["error"]) == ("done", None)
    assert all(direction["sent"] > 0 for direction in stats["trial"]["directions"])


@pytest.mark.parametrize(
    ("ports", "says"),
    [
        (("nfvta", "nfvtx"), "nfvtx: there is no such interface"),
        (("nfvta", "nfvta"), "nfvta: given twice"),
        (("nfvta", "lo"), "lo: its driver"),
        (("nfvta", "nfvtj"), "nfvtj: native XDP refused"),
    ],
)
def test_refused_ports(namespace, tmp_path, ports, says):
    """Exit status 24 and one line that names the port and the way out."""
    namespace.pair("nfvta", "nfvtb")
    namespace.pair("nfvtj", "nfvtk", mtu=9000)
    arguments = ["--engine", "xdp", "--socket", str(tmp_path / "s"), "--core", CORE]
    process = namespace.start(NFVGEN, *arguments, "--port", ports[0], "--port", ports[1])
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 24
    assert says in errors and errors.count("\n") == 1
    assert namespace.attached() == set()


def test_a_port_in_use_is_refused(namespace, loop, tmp_path):
    """Two generators on one port would count each other's frames."""
    assert namespace.attached() == {"nfvta", "nfvtb"}
    with pytest.raises(RuntimeError, match="another XDP program"):
        Generator(namespace, tmp_path / "other", ("nfvta", "nfvtb"))
    assert_nothing_lost(loop.trial(duration_ns=10_000_000, rate_pps=1000))


def test_a_sender_for_each_port(namespace, tmp_path):
    """Each direction is sent from a core of its own; both begin together, and their counts are exact."""
    namespace.pair("nfvta", "nfvtb")
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))[:2]]
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"), "--core", ",".join(cores))
    try:
        hello = generator.call("hello")["result"]
        assert [str(core) for core in hello["cores"]] == cores
        second = pathlib.Path(f"/proc/{hello['pid']}/task/{hello['thread_ids'][1]}/status").read_text()
        assert f"Cpus_allowed_list:\t{cores[1]}\n" in second
        sizes = [[64, 7], [571, 4], [1518, 1]]
        for keys in ({}, {"rate_pps": 2_000}, {"rate_pps": 2_000, "frames": 300, "frame_sizes": sizes}):
            # One core may be another's for all of a trial.
            trial = retried(
                lambda keys=keys: generator.trial(duration_ns=300_000_000, drain_ns=1_000_000_000, **keys),
                lambda trial: all(direction["sent"] for direction in trial["directions"]),
            )
            assert_nothing_lost(trial)
            assert trial["gaps"]["total_ns"] <= trial["duration_ns"]
            if keys:
                expected = keys.get("frames", 600)
                assert [direction["intended"] for direction in trial["directions"]] == [expected, expected]
            assert trial["busy_ns"] <= trial["duration_ns"]
        one_way = generator.trial(duration_ns=50_000_000, drain_ns=1_000_000_000, directions=[[1, 0]])
        assert len(one_way["directions"]) == 1
        assert_nothing_lost(one_way)
    finally:
        generator.close()
