# SPDX-License-Identifier: Apache-2.0
"""nfvgen's DPDK engine, the real binary, looped back on itself and through a testpmd that changes frames.

The loops need no second process: a virtio-user server and its vhost client, or a memif pair, in one nfvgen.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NFVGEN", ROOT / "native/build/nfvgen/nfvgen"))
HUGEPAGES = Path("/proc/sys/vm/nr_hugepages")
NEEDED_PAGES = 1024
CORE = max(os.sched_getaffinity(0))
TRIAL_NS = 100_000_000


class Generator:
    """One nfvgen process and a connection to it."""

    def __init__(self, folder: Path, ports: list[str], *options: str) -> None:
        self.path = folder / "control.sock"
        command = [str(BINARY), "--engine", "dpdk", "--socket", str(self.path), "--core", str(CORE), *options]
        for port in ports:
            command += ["--port", port]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 20
        while not self.path.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError(f"nfvgen did not start: {self.process.communicate()[1]}")
            time.sleep(0.02)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(str(self.path))
        self.stream = self.socket.makefile("rwb")
        self.number = 0

    def raw(self, line: bytes) -> dict[str, Any]:
        """Send bytes as they are and read one answer."""
        self.stream.write(line + b"\n")
        self.stream.flush()
        return json.loads(self.stream.readline())

    def ask(self, command: str, **keys: Any) -> dict[str, Any]:
        """One request, its whole answer."""
        self.number += 1
        answer = self.raw(json.dumps({"schema": "nfvgen/1", "id": self.number, "command": command, **keys}).encode())
        assert answer["schema"] == "nfvgen/1"
        assert answer["id"] == self.number
        return answer

    def result(self, command: str, **keys: Any) -> dict[str, Any]:
        """One request that must succeed."""
        answer = self.ask(command, **keys)
        assert answer["ok"], answer
        return answer["result"]

    def trial(self, **keys: Any) -> dict[str, Any]:
        """Start a trial, wait for its end, return its result."""
        self.result("start", **{"duration_ns": TRIAL_NS, **keys})
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            stats = self.result("stats")
            if stats["state"] != "running":
                assert stats["state"] == "done", stats
                return stats["trial"]
            time.sleep(0.02)
        raise AssertionError("the trial did not end")

    def refused(self, **keys: Any) -> dict[str, Any]:
        """A start that must be refused; returns the error."""
        answer = self.ask("start", **{"duration_ns": TRIAL_NS, **keys})
        assert not answer["ok"]
        return answer["error"]

    def end(self, how: int) -> tuple[int, dict[str, Any]]:
        """End with a signal; exit status and exit document."""
        self.process.send_signal(how)
        output, _ = self.process.communicate(timeout=20)
        return self.process.returncode, json.loads(output)["exit"]

    def close(self) -> None:
        """Whatever happened, leave no process behind."""
        self.stream.close()
        self.socket.close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.communicate()


@pytest.fixture(scope="module", autouse=True)
def hugepages() -> Iterator[None]:
    """Enough 2 MiB pages while the tests run, as many as before afterwards."""
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is not built: meson setup native/build native && ninja -C native/build")
    before = int(HUGEPAGES.read_text())
    if before < NEEDED_PAGES:
        HUGEPAGES.write_text(str(NEEDED_PAGES))
    yield
    HUGEPAGES.write_text(str(before))


def loop_ports(kind: str, folder: Path) -> list[str]:
    """Two ports of one process that are each other's peer."""
    path = folder / "loop.sock"
    if kind == "vhost":
        return [f"net_virtio_user0,path={path},server=1,queue_size=1024", f"net_vhost0,iface={path},client=1"]
    common = f"socket={path},socket-abstract=no,id=0,rsize=10"
    return [f"net_memif0,role=server,{common}", f"net_memif1,role=client,{common}"]


@pytest.fixture(params=["vhost", "memif"])
def loop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Generator]:
    generator = Generator(tmp_path, loop_ports(request.param, tmp_path))
    yield generator
    generator.close()


@pytest.fixture
def vhost(tmp_path: Path) -> Iterator[Generator]:
    generator = Generator(tmp_path, loop_ports("vhost", tmp_path))
    yield generator
    generator.close()


def assert_clean(trial: dict[str, Any], frames: int = 1) -> None:
    """Every frame that was sent came back, once, in order and intact."""
    assert trial["foreign"] == [0, 0]
    for row in trial["directions"]:
        assert row["sent"] >= frames
        assert row["received"] == row["sent"]
        assert row["received_bytes"] == row["sent_bytes"]
        assert row["intended"] == row["sent"] + row["unsent"]
        assert [row[key] for key in ("lost", "reordered", "duplicated", "corrupted")] == [0, 0, 0, 0]
        if row["latency"]:
            assert sum(count for _, count in row["latency"]["counts"]) == row["received"]
            assert row["latency"]["min"] <= row["latency"]["max"]


def test_hello_tells_the_ports(loop: Generator) -> None:
    hello = loop.result("hello")
    assert (hello["name"], hello["engine"], hello["core"]) == ("nfvgen", "dpdk", CORE)
    assert hello["pid"] == loop.process.pid
    assert hello["thread_id"] in [int(task.name) for task in Path(f"/proc/{hello['pid']}/task").iterdir()]
    assert hello["min_frame_size_bytes"] == 64
    assert len(hello["ports"]) == 2
    assert loop.path.stat().st_mode & 0o777 == 0o600


def test_maximum_rate_counts_every_frame(loop: Generator) -> None:
    trial = loop.trial()
    assert_clean(trial, frames=10_000)
    assert 0 < trial["busy_ns"] <= trial["duration_ns"]
    assert trial["clock"] == "tsc"


def test_paced_100_kpps_loses_nothing(loop: Generator) -> None:
    hello = loop.result("hello")
    schedstat = Path(f"/proc/{hello['pid']}/task/{hello['thread_id']}/schedstat")
    waited_ns = -int(schedstat.read_text().split()[1])
    trial = loop.trial(duration_ns=500_000_000, rate_pps=100_000)
    waited_ns += int(schedstat.read_text().split()[1])
    assert_clean(trial)
    for row in trial["directions"]:
        assert row["intended"] == 50_000
        # Another process on this CPU, or the hypervisor, makes frames late: those are unsent, and never lost. What the
        # scheduler admits to, plus 5 % for the hypervisor, is all that may be missing.
        assert row["unsent"] <= 2_500 + waited_ns / 10_000


def test_imix_keeps_its_weights(loop: Generator) -> None:
    trial = loop.trial(frames=12_000, duration_ns=10**10, frame_sizes=[[64, 7], [570, 4], [1518, 1]])
    assert_clean(trial)
    for row in trial["directions"]:
        assert row["sent"] == 12_000
        assert row["sent_bytes"] == 7_000 * 64 + 4_000 * 570 + 1_000 * 1518


@pytest.mark.parametrize(
    ("stack", "smallest"),
    [
        ({"vlan": 100}, 68),
        ({"ip": 6}, 84),
        ({"vlan": 100, "ip": 6}, 88),
        ({"vxlan": 5000}, 114),
        ({"ip": 6, "vxlan": 5000, "vlan": 7}, 158),
    ],
)
def test_stacks_at_their_smallest_and_at_1518(vhost: Generator, stack: dict[str, int], smallest: int) -> None:
    assert vhost.refused(stack=stack, frame_sizes=[[smallest - 1, 1]])["limit"] == smallest
    assert_clean(vhost.trial(stack=stack, frame_sizes=[[smallest, 1]], flows=1000, rate_pps=50_000))
    assert_clean(vhost.trial(stack=stack, frame_sizes=[[smallest, 1], [1518, 1]], flows=1000, rate_pps=50_000))


def test_a_million_flows(loop: Generator) -> None:
    assert_clean(loop.trial(flows=1_000_000, duration_ns=300_000_000), frames=100_000)


def test_largest_frame(vhost: Generator) -> None:
    largest = vhost.result("hello")["max_frame_size_bytes"]
    assert largest >= 9018
    assert_clean(vhost.trial(frame_sizes=[[largest, 1], [9018, 1]], rate_pps=5_000))
    assert vhost.refused(frame_sizes=[[largest + 1, 1]])["limit"] == largest


def test_without_stamp_and_check(loop: Generator) -> None:
    trial = loop.trial(stamp=False, check=False)
    assert_clean(trial)
    assert all(row["latency"] is None for row in trial["directions"])


def test_one_direction_and_a_number_of_frames(vhost: Generator) -> None:
    trial = vhost.trial(directions=[[1, 0]], frames=1234, duration_ns=10**10)
    assert_clean(trial)
    assert [(row["tx"], row["rx"], row["sent"]) for row in trial["directions"]] == [(1, 0, 1234)]


def test_stop_ends_a_long_trial(vhost: Generator) -> None:
    vhost.result("start", duration_ns=60 * 10**9, rate_pps=1000)
    assert vhost.ask("start", duration_ns=TRIAL_NS)["error"]["code"] == "busy"
    time.sleep(0.2)
    running = vhost.result("stats")
    assert running["state"] == "running"
    assert running["trial"]["directions"][0]["latency"] is None
    stopped = vhost.result("stop")
    assert stopped["state"] == "done"
    assert_clean(stopped["trial"])
    assert vhost.ask("stop")["error"]["code"] == "idle"


def test_bad_requests_do_not_end_the_server(vhost: Generator) -> None:
    assert vhost.raw(b"no json")["error"]["code"] == "bad-request"
    assert vhost.raw(b"[]")["error"]["code"] == "bad-request"
    assert vhost.raw(b'{"schema": "nfvgen/2", "id": 1, "command": "hello"}')["error"]["field"] == "schema"
    assert vhost.raw(b'{"schema": "nfvgen/1", "command": "hello"}')["error"]["field"] == "id"
    assert vhost.ask("dance")["error"]["field"] == "command"
    assert vhost.ask("hello", more=1)["error"]["field"] == "more"
    assert vhost.refused(rate=1)["field"] == "rate"
    assert vhost.refused(duration_ns=1)["limit"] == 1_000_000
    assert vhost.refused(flows=1_000_001)["limit"] == 1_000_000
    assert vhost.result("stats") == {"state": "idle", "elapsed_ns": 0, "error": None, "trial": None}


def test_a_long_line_closes_the_connection_and_the_next_client_is_served(vhost: Generator) -> None:
    vhost.socket.sendall(b"x" * (1 << 20) + b"xx")
    assert json.loads(vhost.stream.readline())["error"]["code"] == "bad-request"
    assert vhost.stream.readline() == b""
    vhost.socket = socket.socket(socket.AF_UNIX)
    vhost.socket.connect(str(vhost.path))
    vhost.stream = vhost.socket.makefile("rwb")
    assert vhost.result("stats")["state"] == "idle"


def test_a_second_client_is_busy(vhost: Generator) -> None:
    vhost.result("hello")
    with socket.socket(socket.AF_UNIX) as second:
        second.connect(str(vhost.path))
        assert json.loads(second.makefile().readline())["error"]["code"] == "busy"
    assert vhost.result("stats")["state"] == "idle"


@pytest.mark.parametrize(("how", "status", "name"), [(signal.SIGINT, 130, "SIGINT"), (signal.SIGTERM, 0, "SIGTERM")])
def test_signals_end_a_running_trial_cleanly(
    loop: Generator, tmp_path: Path, how: signal.Signals, status: int, name: str
) -> None:
    loop.result("start", duration_ns=60 * 10**9)
    time.sleep(0.1)
    seen, document = loop.end(how)
    assert seen == status
    assert (document["reason"], document["signal"], document["trials"]) == ("signal", name, 1)
    assert document["last"]["directions"][0]["sent"] > 0
    assert list(tmp_path.iterdir()) == []


def test_quit_prints_the_exit_document(vhost: Generator, tmp_path: Path) -> None:
    vhost.trial(frames=10)
    vhost.result("quit")
    output, errors = vhost.process.communicate(timeout=20)
    assert vhost.process.returncode == 0
    assert errors == ""
    assert json.loads(output)["exit"]["reason"] == "quit"
    assert list(tmp_path.iterdir()) == []


PARENT = """
import subprocess, sys, time
with open(sys.argv[1], "wb") as output:
    print(subprocess.Popen(sys.argv[2:], stdout=output).pid, flush=True)
time.sleep(60)
"""


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    ports = [word for port in loop_ports("vhost", tmp_path) for word in ("--port", port)]
    generator = [str(BINARY), "--engine", "dpdk", "--socket", f"{tmp_path}/c.sock", "--core", str(CORE), *ports]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, f"{tmp_path}/exit.json", *generator], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    deadline = time.monotonic() + 20
    while not (tmp_path / "c.sock").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    while (tmp_path / "c.sock").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert json.loads((tmp_path / "exit.json").read_text())["exit"]["reason"] == "parent"
    assert [path.name for path in tmp_path.iterdir()] == ["exit.json"]


def test_without_a_peer_the_link_is_down_and_start_says_so(tmp_path: Path) -> None:
    ports = [f"net_virtio_user{i},path={tmp_path}/p{i}.sock,server=1" for i in (0, 1)]
    generator = Generator(tmp_path, ports)
    try:
        time.sleep(0.2)
        assert [port["link"] for port in generator.result("hello")["ports"]] == ["down", "down"]
        error = generator.refused()
        assert error["code"] == "port"
        assert "net_virtio_user0" in error["message"]
    finally:
        generator.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ([], "--engine"),
        (["--engine", "trex"], "--engine"),
        (["--engine", "dpdk", "--core", "999"], "--core"),
        (["--engine", "dpdk", "--socket", "/tmp/x", "--core", str(CORE), "--port", "a"], "--port"),
        (["--engine", "dpdk", "--burst", "0"], "--burst"),
        (["--speed"], "--speed"),
    ],
)
def test_bad_options(arguments: list[str], option: str) -> None:
    done = subprocess.run([str(BINARY), *arguments], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert option in done.stderr


def test_a_port_that_cannot_be_opened(tmp_path: Path) -> None:
    command = [str(BINARY), "--engine", "dpdk", "--socket", f"{tmp_path}/c.sock", "--core", str(CORE)]
    command += ["--port", "net_nonsense0", "--port", "net_null0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 24
    assert "net_nonsense0" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_socket_in_use_is_busy_and_a_dead_one_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    with socket.socket(socket.AF_UNIX) as owner:
        owner.bind(str(path))
        owner.listen()
        command = [str(BINARY), "--engine", "dpdk", "--socket", str(path), "--core", str(CORE)]
        command += ["--port", "net_null0", "--port", "net_null1"]
        assert subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 13
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    answered = False
    while not answered and time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as client:
            answered = client.connect_ex(str(path)) == 0
        time.sleep(0.02)
    process.terminate()
    assert json.loads(process.communicate(timeout=20)[0])["exit"]["signal"] == "SIGTERM"
    assert answered


@pytest.fixture
def testpmd(tmp_path: Path) -> Iterator[tuple[Generator, subprocess.Popen[str]]]:
    """A testpmd between two virtio-user ports; the test starts its forwarding."""
    program = shutil.which("dpdk-testpmd")
    if program is None:
        pytest.fail("dpdk-testpmd is not installed (package dpdk)")
    generator = Generator(tmp_path, [f"net_virtio_user{i},path={tmp_path}/p{i}.sock,server=1" for i in (0, 1)])
    command = [program, "--lcores", "0@0,1@0", "--no-pci", "--in-memory", "--single-file-segments", "--no-telemetry"]
    command += ["--socket-mem", "128", "--iova-mode=va"]
    for i in (0, 1):
        command += ["--vdev", f"net_vhost{i},iface={tmp_path}/p{i}.sock,client=1"]
    command += ["--", "-i", "--total-num-mbufs=8192", "--forward-mode=io"]
    peer = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    )
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if all(port["link"] == "up" for port in generator.result("hello")["ports"]):
            break
        time.sleep(0.05)
    time.sleep(1)
    yield generator, peer
    peer.kill()
    peer.wait()
    generator.close()


def tell(peer: subprocess.Popen[str], *commands: str) -> None:
    """Commands for testpmd, and a moment for each."""
    assert peer.stdin is not None
    for command in commands:
        peer.stdin.write(command + "\n")
        peer.stdin.flush()
        time.sleep(0.2)


def test_through_testpmd(testpmd: tuple[Generator, subprocess.Popen[str]]) -> None:
    """Forwarded, addresses and ports swapped, dropped altogether, and replaced by frames that are not ours."""
    generator, peer = testpmd
    paced: dict[str, Any] = {"rate_pps": 20_000, "frame_sizes": [[64, 1], [1518, 1]]}
    tell(peer, "start")
    for row in generator.trial(**paced)["directions"]:
        assert row["received"] > 0
        assert row["corrupted"] == row["duplicated"] == row["reordered"] == 0
    tell(peer, "stop", "set fwd 5tswap", "start")
    for row in generator.trial(**paced)["directions"]:
        assert row["received"] > 0
        assert row["corrupted"] == 0
    tell(peer, "stop", "set fwd rxonly", "start")
    for row in generator.trial(**paced)["directions"]:
        assert row["received"] == 0
        assert row["lost"] == row["sent"] > 0
    tell(peer, "stop", "set fwd txonly", "start")
    # txonly writes new headers into buffers in which our old payloads may still lie: foreign, or ours and corrupted.
    trial = generator.trial(**paced)
    for row in trial["directions"]:
        assert row["received"] == 0
        assert row["corrupted"] + trial["foreign"][row["rx"]] > 0
