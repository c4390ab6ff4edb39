# SPDX-License-Identifier: Apache-2.0
"""nfvgen's DPDK engine as its tests drive it: the real binary, whose two ports are each other's peer.

The loops need no second process: a virtio-user server and its vhost client, or a memif pair, in one nfvgen.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nfvbed.host.memory.hugepages import HugepagePool
from nfvbed.host.workspace.workspace import Workspace
from tests.functional.disturbed import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("NFVGEN", ROOT / "native/build/nfvgen/nfvgen"))
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
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=folder, **pipes)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        deadline = time.monotonic() + PATIENCE_S
        while self.socket.connect_ex(str(self.path)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError(f"nfvgen did not start: {self.process.communicate()[1]}")
            time.sleep(0.02)
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

    def wait_until_sending(self) -> None:
        """Wait until the trial that runs has sent a frame."""
        assert wait_until(lambda: self.result("stats")["trial"]["directions"][0]["sent"]), "nothing was sent"

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


@contextmanager
def enough_hugepages() -> Iterator[None]:
    """Enough 2 MiB pages meanwhile; afterwards as many as before, for which after a kill the next nfvbed sees."""
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is not built: meson setup native/build native && ninja -C native/build")
    workspace = Workspace.create()
    try:
        HugepagePool().ensure_free(NEEDED_PAGES, workspace.ledger)
        yield
    finally:
        workspace.close()


def loop_ports(kind: str, folder: Path) -> list[str]:
    """Two ports of one process that are each other's peer."""
    path = folder / "loop.sock"
    if kind == "vhost":
        return [f"net_virtio_user0,path={path},server=1,queue_size=1024", f"net_vhost0,iface={path},client=1"]
    # By the folder in which the generator runs: newer DPDKs take no arguments of more than 128 characters, and memif
    # takes none but absolute paths.
    common = f"socket=/proc/self/cwd/{path.name},socket-abstract=no,id=0,rsize=10"
    return [f"net_memif0,role=server,{common}", f"net_memif1,role=client,{common}"]


@contextmanager
def looped(kind: str, folder: Path) -> Iterator[Generator]:
    """A generator with such a loop."""
    generator = Generator(folder, loop_ports(kind, folder))
    try:
        yield generator
    finally:
        generator.close()


def tell(peer: subprocess.Popen[str], *commands: str) -> None:
    """Give testpmd commands, and a moment for each."""
    assert peer.stdin is not None
    for command in commands:
        peer.stdin.write(command + "\n")
        peer.stdin.flush()
        time.sleep(0.2)


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
