# SPDX-License-Identifier: Apache-2.0
"""nfvgen with its DPDK engine as a process: requests, clients, signals, its parent's end, bad options and ports."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.dpdk_driver import (
    BINARY,
    CORE,
    TRIAL_NS,
    Generator,
    assert_clean,
    enough_hugepages,
    loop_ports,
    looped,
)


@pytest.fixture(scope="module", autouse=True)
def hugepages() -> Iterator[None]:
    with enough_hugepages():
        yield


@pytest.fixture(params=["vhost", "memif"])
def loop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Generator]:
    with looped(request.param, tmp_path) as generator:
        yield generator


@pytest.fixture
def vhost(tmp_path: Path) -> Iterator[Generator]:
    with looped("vhost", tmp_path) as generator:
        yield generator


def test_stop_ends_a_long_trial(vhost: Generator) -> None:
    vhost.result("start", duration_ns=60 * 10**9, rate_pps=1000)
    assert vhost.ask("start", duration_ns=TRIAL_NS)["error"]["code"] == "busy"
    vhost.wait_until_sending()
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
    loop.wait_until_sending()
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
