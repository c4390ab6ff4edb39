# SPDX-License-Identifier: Apache-2.0
"""nfvgen's XDP engine on real veth pairs, looped back and through a peer that does harm."""

import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NFVGEN = os.environ.get("NFVGEN", str(ROOT / "native/build/nfvgen/nfvgen"))
CORE = str(max(os.sched_getaffinity(0)))
_NUMBER = itertools.count()

# Forwards between two interfaces and does to every tenth frame of ours what it is told.
RELAY = """
import select, socket, sys
names, harm = sys.argv[1:3], sys.argv[3]
ports = []
for name in names:
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    port.bind((name, 0))
    port.setsockopt(263, 23, 1)
    ports.append(port)
print("ready", flush=True)
count, held = 0, None
while True:
    for port in select.select(ports, [], [])[0]:
        frame = bytearray(port.recv(9000))
        out = ports[1 - ports.index(port)]
        if b"NFVG" not in frame:
            continue
        count += 1
        hit = count % 10 == 0
        if hit and harm == "loss":
            continue
        if hit and harm == "hold":
            held = frame
            continue
        if hit and harm == "corruption":
            frame[-1] ^= 0x10
        out.send(frame)
        if hit and harm == "duplication":
            out.send(frame)
        if held:
            out.send(held)
            held = None
"""

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
s.settimeout(2)
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


def _ip(*arguments):
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True).stdout


class Namespace:
    """A network namespace with veth pairs, gone at the end."""

    def __init__(self):
        self.name = f"nfvtg{os.getpid()}n{next(_NUMBER)}"
        _ip("netns", "add", self.name)

    def pair(self, one, other, mtu=1500):
        """Two ends, up, no address of their own (so that the kernel says nothing)."""
        _ip("-n", self.name, "link", "add", one, "type", "veth", "peer", "name", other)
        for end in (one, other):
            _ip("-n", self.name, "link", "set", end, "mtu", str(mtu), "addrgenmode", "none", "up")

    def receive_offload(self, state, *interfaces):
        """Generic receive offload: with it a veth takes redirected frames without an XDP program."""
        for interface in interfaces:
            self.run("ethtool", "-K", interface, "gro", state)

    def run(self, *argv):
        """One program in the namespace; returns its standard output."""
        argv = ["ip", "netns", "exec", self.name, *argv]
        result = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def start(self, *argv):
        """One program in the namespace, running; its process id is the program's own."""
        argv = ["ip", "netns", "exec", self.name, *argv]
        return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def attached(self):
        """The interfaces that have an XDP program."""
        links = json.loads(_ip("-j", "-d", "-n", self.name, "link"))
        return {link["ifname"] for link in links if link.get("xdp")}

    def close(self):
        """Takes the pairs along."""
        _ip("netns", "delete", self.name)


class Generator:
    """One nfvgen and its control connection."""

    def __init__(self, namespace, path, ports, *options):
        self.process = namespace.start(
            NFVGEN, "--engine", "xdp", "--socket", str(path), "--core", CORE,
            "--port", ports[0], "--port", ports[1], *options,
        )
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + 20
        while self.socket.connect_ex(str(path)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError(self.process.communicate()[1])
            time.sleep(0.01)
        self.file = self.socket.makefile("rw")

    def call(self, command, **keys):
        """The answer to one request."""
        self.file.write(json.dumps({"schema": "nfvgen/1", "id": 1, "command": command, **keys}) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def trial(self, **keys):
        """The result of one trial, which must not fail."""
        stats = self.attempt(**keys)
        assert stats["state"] == "done", stats["error"]
        return stats["trial"]

    def attempt(self, **keys):
        """As trial, but it may fail."""
        answer = self.call("start", **keys)
        assert answer["ok"], answer
        while True:
            stats = self.call("stats")["result"]
            if stats["state"] != "running":
                return stats
            time.sleep(0.01)

    def close(self):
        """Ends it, politely first; returns status, standard output and standard error."""
        self.file.close()
        self.socket.close()
        if self.process.poll() is None:
            self.process.terminate()
        output = self.process.communicate(timeout=20)
        return self.process.returncode, *output


@pytest.fixture(name="namespace")
def _namespace():
    namespace = Namespace()
    yield namespace
    namespace.close()


@pytest.fixture(name="loop")
def _loop(namespace, tmp_path):
    namespace.pair("nfvta", "nfvtb")
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
    yield generator
    generator.close()


@pytest.fixture(name="start_relay")
def _start_relay(namespace):
    started = []

    def start(harm):
        namespace.pair("nfvta", "nfvtc")
        namespace.pair("nfvtb", "nfvtd")
        namespace.receive_offload("on", "nfvtc", "nfvtd")
        relay = namespace.start(sys.executable, "-c", RELAY, "nfvtc", "nfvtd", harm)
        started.append(relay)
        assert relay.stdout.readline() == "ready\n", relay.stderr.read()

    yield start
    for relay in started:
        relay.kill()
        relay.communicate()


def _assert_nothing_lost(trial):
    for direction in trial["directions"]:
        assert direction["sent"] > 0
        assert direction["received"] == direction["sent"]
        assert direction["received_bytes"] == direction["sent_bytes"]
        for kind in ("lost", "reordered", "duplicated", "corrupted"):
            assert direction[kind] == 0, (kind, direction)
        assert direction["intended"] == direction["sent"] + direction["unsent"]


def test_paced_trial_is_complete(loop):
    """100,000 frames/s each way for 0.3 s: every one is intended, what was sent arrives, each with a latency."""
    trial = loop.trial(duration_ns=300_000_000, rate_pps=100_000)
    _assert_nothing_lost(trial)
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
    _assert_nothing_lost(trial)
    assert all(d["unsent"] == 0 for d in trial["directions"])
    assert trial["busy_ns"] == trial["duration_ns"]


def test_one_direction(loop):
    """The other port sends nothing."""
    trial = loop.trial(duration_ns=50_000_000, rate_pps=10_000, directions=[[1, 0]])
    _assert_nothing_lost(trial)
    assert [(d["tx"], d["rx"], d["intended"]) for d in trial["directions"]] == [(1, 0, 500)]


def test_odd_rate_is_exact(loop):
    """A rate that no interval in whole nanoseconds gives."""
    trial = loop.trial(duration_ns=300_000_000, rate_pps=70_007, directions=[[0, 1]])
    assert trial["directions"][0]["intended"] == 21_003


@pytest.mark.parametrize("rate_pps", [None, 50_000])
def test_number_of_frames(loop, rate_pps):
    """A trace: exactly so many frames each way."""
    trial = loop.trial(duration_ns=5_000_000_000, frames=777, rate_pps=rate_pps)
    _assert_nothing_lost(trial)
    assert [d["intended"] for d in trial["directions"]] == [777, 777]


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
def test_stacks_and_flows(loop, stack, flows):
    """Checksums hold for every stack, an odd size and many flows."""
    sizes = [[178, 7], [571, 4], [1514, 1]]
    trial = loop.trial(duration_ns=60_000_000, rate_pps=50_000, stack=stack, flows=flows, frame_sizes=sizes)
    _assert_nothing_lost(trial)


def test_mix_of_sizes(loop):
    """IMIX in its proportions, to the byte."""
    trial = loop.trial(duration_ns=1_000_000_000, frames=1200, frame_sizes=[[64, 7], [570, 4], [1518, 1]])
    _assert_nothing_lost(trial)
    for direction in trial["directions"]:
        assert direction["sent_bytes"] == 100 * (7 * 64 + 4 * 570 + 1518)


def test_without_stamp_and_check(loop):
    """What they cost can be measured, so they can be left out."""
    trial = loop.trial(duration_ns=50_000_000, stamp=False, check=False, directions=[[0, 1]])
    _assert_nothing_lost(trial)
    assert trial["directions"][0]["latency"] is None


def test_late_frames_of_an_earlier_trial_do_not_count(loop):
    """Many short trials, no drain: what is left over is never taken for a frame of the next one."""
    for _ in range(5):
        trial = loop.trial(duration_ns=2_000_000, drain_ns=0)
        for direction in trial["directions"]:
            assert direction["received"] <= direction["sent"]
            assert direction["duplicated"] == direction["corrupted"] == 0


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        ("none", None),
        ("loss", "lost"),
        ("duplication", "duplicated"),
        ("corruption", "corrupted"),
        ("hold", "reordered"),
    ],
)
def test_harm_is_found(namespace, start_relay, tmp_path, harm, kind):
    """A peer that drops, repeats, damages or delays every tenth frame is found out, frame by frame."""
    start_relay(harm)
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
    try:
        trial = generator.trial(
            duration_ns=5_000_000_000, frames=300, rate_pps=1000, directions=[[0, 1]], drain_ns=200_000_000
        )
    finally:
        generator.close()
    direction = trial["directions"][0]
    sent, hits = direction["sent"], direction["sent"] // 10
    expected = {"lost": 0, "duplicated": 0, "corrupted": 0, "reordered": 0}
    if kind:
        expected[kind] = hits
    if kind == "corrupted":
        expected["lost"] = hits
    if kind == "reordered" and sent % 10 == 0:
        # The last one is still held when the trial ends.
        expected["reordered"] -= 1
        expected["lost"] = 1
    assert {key: direction[key] for key in expected} == expected
    assert direction["received"] == sent - expected["lost"]


def test_tap_interfaces(namespace, tmp_path):
    """Ports of a switch in user space: native XDP on both, at a rate that the relay holds."""
    relay = namespace.start(sys.executable, "-c", TAPS, "nfvta", "nfvtb")
    try:
        assert relay.stdout.readline() == "ready\n", relay.stderr.read()
        for tap in ("nfvta", "nfvtb"):
            _ip("-n", namespace.name, "link", "set", tap, "addrgenmode", "none", "up")
        generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
        try:
            assert generator.call("hello")["result"]["ports"][0]["driver"] == "tun"
            sizes = [[64, 1], [1518, 1]]
            _assert_nothing_lost(generator.trial(duration_ns=200_000_000, rate_pps=1000, frame_sizes=sizes))
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
    """The ports' receive threads run where they were told to; at the end the ports are as they were."""
    core = str(min(os.sched_getaffinity(0)))
    namespace.pair("nfvta", "nfvtb")
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"), "--sink-core", core)
    try:
        _assert_nothing_lost(generator.trial(duration_ns=100_000_000))
        assert namespace.run("cat", "/sys/class/net/nfvta/threaded") == "1\n"
        threads = [
            path for path in pathlib.Path("/proc").glob("[0-9]*/comm")
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
        _assert_nothing_lost(generator.trial(duration_ns=50_000_000, rate_pps=10_000, frame_sizes=[[limit, 1]]))
    finally:
        generator.close()


def test_deaf_port_is_reported(namespace, tmp_path):
    """A peer with neither XDP nor receive offload takes no redirected frame: that is a failure, not a loss."""
    namespace.pair("nfvta", "nfvtc")
    namespace.pair("nfvtb", "nfvtd")
    namespace.receive_offload("off", "nfvtc", "nfvtd")
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
    try:
        stats = generator.attempt(duration_ns=10_000_000_000, rate_pps=1000, directions=[[1, 0]])
        assert stats["state"] == "failed"
        assert "nfvtb" in stats["error"]["message"] and "gro on" in stats["error"]["message"]
        assert stats["elapsed_ns"] < 5_000_000_000
        namespace.receive_offload("on", "nfvtd")
        trial = generator.trial(duration_ns=50_000_000, rate_pps=1000, directions=[[1, 0]])
        assert trial["directions"][0]["sent"] == trial["directions"][0]["lost"] > 0
        _ip("-n", namespace.name, "link", "set", "nfvtb", "down")
        answer = generator.call("start", duration_ns=50_000_000, rate_pps=1000, directions=[[1, 0]])
        assert not answer["ok"] and "down" in answer["error"]["message"]
    finally:
        generator.close()


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
    _assert_nothing_lost(loop.trial(duration_ns=10_000_000, rate_pps=1000))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGKILL, -9)])
def test_nothing_stays_attached(namespace, loop, number, status):
    """Ended in the middle of a trial, by whatever signal."""
    assert loop.call("start", duration_ns=60_000_000_000)["ok"]
    time.sleep(0.2)
    began = time.monotonic()
    loop.process.send_signal(number)
    output, _ = loop.process.communicate(timeout=20)
    assert loop.process.returncode == status
    assert time.monotonic() - began < 5
    if number != signal.SIGKILL:
        assert json.loads(output)["exit"]["last"]["directions"][0]["sent"] > 0
    for _ in range(100):
        if not namespace.attached():
            break
        time.sleep(0.02)
    assert namespace.attached() == set()


def test_stop_ends_a_trial_early(loop):
    """`stop` answers with the counts so far, which are complete."""
    assert loop.call("start", duration_ns=60_000_000_000, rate_pps=1000)["ok"]
    time.sleep(0.2)
    running = loop.call("stats")["result"]["trial"]["directions"][0]
    assert running["sent"] > 0
    result = loop.call("stop")["result"]
    assert result["state"] == "done"
    assert result["trial"]["duration_ns"] < 5_000_000_000
    _assert_nothing_lost(result["trial"])
