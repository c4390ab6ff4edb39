"""A stand-in for nfvgen: answers on a real Unix socket as a test tells it to, and a process that is none."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HELLO: dict[str, Any] = {
    "name": "nfvgen",
    "version": "0.1.0",
    "engine": "dpdk",
    "engine_version": "DPDK 22.11.11",
    "pid": 4711,
    "thread_id": 4712,
    "core": 1,
    "tsc_hz": 2_595_000_000,
    "min_frame_size_bytes": 64,
    "max_frame_size_bytes": 3400,
    "max_flows": 1_000_000,
    "capabilities": ["pacing", "latency", "checksum"],
    "ports": [
        {"name": "p0", "driver": "net_virtio_user", "mac": "02:00:00:00:00:00", "link": "up", "speed_mbps": None},
        {"name": "p1", "driver": "net_virtio_user", "mac": "02:00:00:00:00:01", "link": "down", "speed_mbps": None},
    ],
}


def direction(tx: int, rx: int, **changes: Any) -> dict[str, Any]:
    """Return the counts of a direction in which all 1,000 frames arrived."""
    counts = {
        "tx": tx, "rx": rx, "intended": 1000, "sent": 1000, "received": 1000, "lost": 0, "unsent": 0, "late": 0,
        "received_in_time": 990,
        "refused": 0, "reordered": 0, "duplicated": 0, "corrupted": 0, "sent_bytes": 64000, "received_bytes": 64000,
        "latency": {"unit": "ns", "min": 900, "max": 3000, "sum": 912000, "counts": [[900, 999], [3000, 1]]},
    }  # fmt: skip
    return {**counts, **changes}


def trial(*directions: dict[str, Any]) -> dict[str, Any]:
    """Return a trial's counts."""
    return {
        "duration_ns": 100_000_123,
        "busy_ns": 90_000_000,
        "gaps": {"count": 1, "total_ns": 50_000, "longest_ns": 50_000},
        "directions": list(directions) or [direction(0, 1), direction(1, 0)],
        "foreign": [0, 2],
        "clock": "tsc",
    }


Reply = dict[str, Any] | bytes | None
"""A result, raw bytes, or None: close the connection."""


@dataclass
class FakeNfvgen:
    """Serves one client at a time. `replies` overrides the answer to a command."""

    path: Path
    replies: dict[str, Callable[[dict[str, Any]], Reply]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    running_polls: int = 1
    """How often `stats` says `running` before the trial is done."""
    delay_s: float = 0.0
    running: bool = True
    status: int | None = None
    log: str = ""
    stopped: int = 0
    pid: int = 4711

    def __post_init__(self) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._left = self.running_polls
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def exit_status(self) -> int | None:
        return self.status

    def alive(self) -> bool:
        return self.running

    def log_tail(self, lines: int = 20) -> str:
        return "\n".join(self.log.splitlines()[-lines:])

    def stop(self) -> None:
        self.stopped += 1
        self.die(0)
        for waiting in (self._listener, *self._connections):
            with contextlib.suppress(OSError):
                # Wakes the accept and the read.
                waiting.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(2)

    def die(self, status: int) -> None:
        """End as a process does."""
        self.running = False
        if self.status is None:
            self.status = status

    def refuse(self, command: str, code: str, message: str, **more: Any) -> None:
        """Answer a command with an error."""
        error = {"code": code, "message": message, **more}

        def reply(request: dict[str, Any]) -> bytes:
            return encode({"schema": "nfvgen/1", "id": request["id"], "ok": False, "error": error})

        self.replies[command] = reply

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                with connection, connection.makefile("rb") as lines:
                    for line in lines:
                        if not self._answer(connection, json.loads(line)):
                            break

    def _answer(self, connection: socket.socket, request: dict[str, Any]) -> bool:
        self.requests.append(request)
        time.sleep(self.delay_s)
        reply = self.replies.get(request["command"], self._usual)(request)
        if reply is None:
            return False
        if isinstance(reply, dict):
            reply = encode({"schema": "nfvgen/1", "id": request["id"], "ok": True, "result": reply})
        connection.sendall(reply)
        return self.running

    def _usual(self, request: dict[str, Any]) -> Reply:
        if request["command"] == "hello":
            return HELLO
        if request["command"] == "stats":
            self._left -= 1
            if self._left >= 0:
                return {"state": "running", "elapsed_ns": 1, "error": None, "trial": None}
            return {"state": "done", "elapsed_ns": 100_000_123, "error": None, "trial": trial()}
        if request["command"] == "quit":
            self.die(0)
        return {}


def encode(document: dict[str, Any]) -> bytes:
    """Make a line of the protocol."""
    return json.dumps(document).encode() + b"\n"
