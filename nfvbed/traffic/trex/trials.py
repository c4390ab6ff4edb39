"""Trials of TRex: streams are added, sent and counted."""

import threading
import time
from collections.abc import Callable
from typing import Any

from nfvbed.traffic.trex import counts, frames
from nfvbed.traffic.trex.counts import PORTS, SendingCounts, UncountedFramesError
from nfvbed.traffic.trex.frames import NS_PER_S, Part
from nfvbed.traffic.trex.serving import RequestRefused

MBPS_PER_GBPS = 1000
DRAIN_NS = 50_000_000
LEARNED_S = 10.0
"""What the learning frames may take."""
LATE_S = 0.005
"""After the end of a trial TRex is stopped: what it has not sent by then is unsent. It begins some milliseconds after
it has said that it will."""
LOOK_S = 0.001
MAX_FRAME_BYTES = 9018
CAPABILITIES = ("pacing", "imix", "ipv6", "vlan", "sessions")


class Trials:
    """Runs one trial after the other.

    TRex's client is not thread-safe: during a trial, only the trial's thread uses it.

    Args:
        stl: TRex's module `trex.stl.api`.
        client: connected to TRex's server.
        ended: tells how the server ended; None: it runs.
        software: whether TRex counts streams by itself, and not its NICs.
    """

    def __init__(self, stl: Any, client: Any, ended: Callable[[], int | None], *, software: bool = False) -> None:
        self._stl = stl
        self._client = client
        self._ended = ended
        self._software = software
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._began_ns = 0
        self._trial: dict[str, Any] | None = None
        self._error: str | dict[str, Any] = ""
        client.acquire(ports=list(PORTS), force=True)
        self._look_at_ports()

    def hello(self, _keys: dict[str, Any]) -> dict[str, Any]:
        """Return TRex's description, with the state of its ports."""
        if not self._is_running():
            self._look_at_ports()
        version = self._client.get_server_version()
        return {
            "name": "trex",
            "version": "1",
            "engine": "stl",
            "engine_version": f"TRex {version['version']}",
            "pid": 0,
            "thread_id": 0,
            "core": -1,
            "tsc_hz": 0,
            "min_frame_size_bytes": 64,
            "max_frame_size_bytes": MAX_FRAME_BYTES,
            "max_flows": frames.MAX_FLOWS,
            "capabilities": list(CAPABILITIES),
            "ports": [_described(found) for found in self._ports],
        }

    def start(self, keys: dict[str, Any]) -> dict[str, Any]:
        """Begin a trial, which ends by itself."""
        if self._is_running():
            raise RequestRefused("busy", "a trial is running")
        frames.check(keys)
        planned = frames.parts(keys, [_bits_per_s(found) for found in self._ports])
        streams = [(part, frames.stream(self._stl, part, keys, self._own_macs)) for part in planned]
        self._trial, self._error, self._began_ns = None, "", time.monotonic_ns()
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, args=(keys, streams), daemon=True)
        self._thread.start()
        return {}

    def stats(self, _keys: dict[str, Any]) -> dict[str, Any]:
        """Return the current activity, and the latest counts."""
        running = self._is_running()
        elapsed = time.monotonic_ns() - self._began_ns if running else 0
        status = self._ended() if running else None
        if status is not None:
            # TRex's client goes on to ask the server that is gone, for ten seconds.
            self._stopped.set()
            error = f"TRex ended with status {status} in the middle of a trial"
            return {"state": "failed", "elapsed_ns": elapsed, "error": error, "trial": None}
        state = "running" if running else "failed" if self._error else "done" if self._trial else "idle"
        return {"state": state, "elapsed_ns": elapsed, "error": self._error or None, "trial": self._trial}

    def stop(self, keys: dict[str, Any]) -> dict[str, Any]:
        """End the current trial."""
        if self._thread is None or not self._is_running():
            raise RequestRefused("idle", "nothing is running")
        self._stopped.set()
        self._thread.join()
        return self.stats(keys)

    def _look_at_ports(self) -> None:
        self._ports = [self._client.get_port_attr(port) for port in PORTS]

    @property
    def _own_macs(self) -> tuple[str, str]:
        first, second = (str(found["src_mac"]) for found in self._ports)
        return first, second

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self, keys: dict[str, Any], streams: list[tuple[Part, Any]]) -> None:
        try:
            self._learn(keys)
            self._trial = self._measure(keys, streams)
        except UncountedFramesError as error:
            self._error = {"code": "port", "message": str(error), "field": None, "limit": None, "fix": error.fix}
        except (self._stl.TRexError, AssertionError) as error:
            # The client asserts that no counter of a stream runs backwards.
            status = self._ended()
            ended = "" if status is None else f"TRex ended with status {status}: "
            self._error = f"{ended}{error}"

    def _learn(self, keys: dict[str, Any]) -> None:
        client, ports = self._client, list(PORTS)
        client.reset(ports=ports)
        client.set_port_attr(ports=ports, promiscuous=True)
        if not keys.get("learning_frames", 3):
            return
        asked = {"learning_frames": 3, **keys}
        for port, mac in zip(PORTS, frames.macs_of(keys, self._own_macs), strict=True):
            client.add_streams(frames.learning(self._stl, asked, port, mac), ports=[port])
        client.start(ports=ports, force=True)
        client.wait_on_traffic(ports=ports, timeout=LEARNED_S, rx_delay_ms=10)
        client.remove_all_streams(ports=ports)

    def _measure(self, keys: dict[str, Any], streams: list[tuple[Part, Any]]) -> dict[str, Any]:
        client, ports = self._client, list(PORTS)
        planned = [part for part, _ in streams]
        for part, stream in streams:
            client.add_streams(stream, ports=[part.tx])
        client.clear_stats(ports=ports)
        sent = self._send(keys, planned)
        by_id = client.get_pgid_stats([part.id for part in planned])["flow_stats"]
        return counts.trial(planned, by_id, client.get_stats(ports=ports), sent, software=self._software)

    def _send(self, keys: dict[str, Any], planned: list[Part]) -> SendingCounts:
        """Send the streams, and wait for frames on their way."""
        client, senders = self._client, sorted({part.tx for part in planned})
        drain_ms = max(1, (keys.get("drain_ns") or DRAIN_NS) // 1_000_000)
        asked = time.monotonic()
        client.start(ports=senders, mult="1", force=True)
        began = time.monotonic()
        self._wait(began + keys["duration_ns"] / NS_PER_S + LATE_S, may_end=keys.get("frames") is not None)
        ending = time.monotonic()
        client.stop(ports=senders, rx_delay_ms=drain_ms)
        ended = time.monotonic() - drain_ms / 1000
        # Both happen while their request is under way.
        took_s = (ending + ended - asked - began) / 2
        return SendingCounts(round(took_s * NS_PER_S), _nominal_ns(keys), self._stopped.is_set())

    def _wait(self, until: float, *, may_end: bool) -> None:
        """Wait for a time, or for a request to end; with a number of frames, until they are sent."""
        if not may_end:
            self._stopped.wait(max(0.0, until - time.monotonic()))
            return
        while self._client.get_active_ports() and time.monotonic() < until:
            if self._stopped.wait(LOOK_S):
                return


def _nominal_ns(keys: dict[str, Any]) -> int:
    """Return the time of sending: the one that was asked for, or that of the number of frames."""
    if keys.get("frames") is None:
        return int(keys["duration_ns"])
    rate_pps: int = keys.get("rate_pps") or frames.BURST_PPS
    return max(1, round(int(keys["frames"]) * NS_PER_S / rate_pps))


def _bits_per_s(port: dict[str, Any]) -> int:
    return round(float(port.get("speed") or 0) * MBPS_PER_GBPS) * 1_000_000


def _described(port: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": str(port.get("pci_addr", "")),
        "driver": str(port.get("driver", "")),
        "mac": str(port["src_mac"]),
        "link": "up" if port.get("link") == "UP" else "down",
        "speed_mbps": _bits_per_s(port) // 1_000_000 or None,
    }
