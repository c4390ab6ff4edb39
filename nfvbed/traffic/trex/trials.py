"""Trials of TRex: streams are added, sent and counted; what TRex cannot tell is not counted."""

import threading
import time
from typing import Any

from nfvbed.traffic.trex import frames
from nfvbed.traffic.trex.frames import Part
from nfvbed.traffic.trex.serving import Refused

PORTS = (0, 1)
NS_PER_S = 1_000_000_000
MBPS_PER_GBPS = 1000
DRAIN_NS = 50_000_000
LONGEST_START_S = 10.0
"""What starting and stopping may take beside the trial."""
MAX_FRAME_BYTES = 9018
CAPABILITIES = ("pacing", "imix", "ipv6", "vlan")


class Trials:
    """One trial after the other.

    Args:
        stl: TRex's module `trex.stl.api`.
        client: connected to TRex's server.
    """

    def __init__(self, stl: Any, client: Any) -> None:
        self._stl = stl
        self._client = client
        self._thread: threading.Thread | None = None
        self._began_ns = 0
        self._trial: dict[str, Any] | None = None
        self._error = ""
        client.acquire(ports=list(PORTS), force=True)
        self._macs = tuple(str(client.get_port_attr(port)["src_mac"]) for port in PORTS)

    def hello(self, _keys: dict[str, Any]) -> dict[str, Any]:
        """Say what TRex is, and how its ports are."""
        version = self._client.get_server_version()
        return {
            "name": "trex",
            "version": "1",
            "engine": "stl",
            "engine_version": f"TRex {version.get('version', version) if isinstance(version, dict) else version}",
            "pid": 0,
            "thread_id": 0,
            "core": -1,
            "tsc_hz": 0,
            "min_frame_size_bytes": 64,
            "max_frame_size_bytes": MAX_FRAME_BYTES,
            "max_flows": frames.MAX_FLOWS,
            "capabilities": list(CAPABILITIES),
            "ports": [self._port(port) for port in PORTS],
        }

    def start(self, keys: dict[str, Any]) -> dict[str, Any]:
        """Begin a trial; it ends by itself."""
        if self._is_running():
            raise Refused("busy", "a trial is running")
        frames.check(keys)
        planned = frames.parts(keys)
        streams = [(part, frames.stream(self._stl, part, keys, self._own_macs)) for part in planned]
        self._trial, self._error, self._began_ns = None, "", time.monotonic_ns()
        self._thread = threading.Thread(target=self._run, args=(keys, streams), daemon=True)
        self._thread.start()
        return {}

    def stats(self, _keys: dict[str, Any]) -> dict[str, Any]:
        """Say what is going on, and what was counted last."""
        running = self._is_running()
        elapsed = time.monotonic_ns() - self._began_ns if running else 0
        state = "running" if running else "failed" if self._error else "done" if self._trial else "idle"
        return {"state": state, "elapsed_ns": elapsed, "error": self._error or None, "trial": self._trial}

    def stop(self, keys: dict[str, Any]) -> dict[str, Any]:
        """End a trial that is going on."""
        if self._thread is None or not self._is_running():
            raise Refused("idle", "nothing is running")
        self._client.stop(ports=list(PORTS))
        self._thread.join()
        return self.stats(keys)

    @property
    def _own_macs(self) -> tuple[str, str]:
        first, second = self._macs
        return first, second

    def _port(self, port: int) -> dict[str, Any]:
        found = self._client.get_port_attr(port)
        speed = found.get("speed")
        return {
            "name": str(found.get("pci_addr") or found.get("description") or port),
            "driver": str(found.get("driver", "")),
            "mac": str(found["src_mac"]),
            "link": "up" if str(found.get("link", "")).upper() == "UP" else "down",
            "speed_mbps": round(float(speed) * MBPS_PER_GBPS) if speed else None,
        }

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self, keys: dict[str, Any], streams: list[tuple[Part, Any]]) -> None:
        try:
            self._learn(keys)
            self._trial = self._measure(keys, streams)
        except Exception as error:  # noqa: BLE001 - TRex's own errors have no class of their own that is worth naming.
            self._error = str(error) or type(error).__name__

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
        client.wait_on_traffic(ports=ports, timeout=LONGEST_START_S, rx_delay_ms=10)
        client.remove_all_streams(ports=ports)

    def _measure(self, keys: dict[str, Any], streams: list[tuple[Part, Any]]) -> dict[str, Any]:
        client, ports = self._client, list(PORTS)
        for part, stream in streams:
            client.add_streams(stream, ports=[part.tx])
        senders = sorted({part.tx for part, _ in streams})
        client.clear_stats(ports=ports)
        seconds = keys["duration_ns"] / NS_PER_S
        full = keys.get("rate_pps") is None and keys.get("frames") is None
        client.start(ports=senders, mult="100%" if full else "1", force=True, duration=seconds)
        drain_ms = max(1, (keys.get("drain_ns") or DRAIN_NS) // 1_000_000)
        client.wait_on_traffic(ports=senders, timeout=seconds + LONGEST_START_S, rx_delay_ms=drain_ms)
        return self._counts(keys, [part for part, _ in streams])

    def _counts(self, keys: dict[str, Any], planned: list[Part]) -> dict[str, Any]:
        by_id = self._client.get_pgid_stats([part.id for part in planned])["flow_stats"]
        at_ports = self._client.get_stats(ports=list(PORTS))
        received = dict.fromkeys(PORTS, 0)
        directions = []
        for tx, rx in dict.fromkeys((part.tx, part.rx) for part in planned):
            of_it = [part for part in planned if (part.tx, part.rx) == (tx, rx)]
            found = _direction(of_it, by_id, was_full=bool(at_ports["global"].get("queue_full", 0)))
            received[rx] += found["received"]
            directions.append({"tx": tx, "rx": rx, **found})
        frames_apart = [max(0, int(at_ports[port]["ipackets"]) - received[port]) for port in PORTS]
        return {
            "duration_ns": _duration_ns(keys, directions),
            # TRex says how busy it was as an average over seconds, whatever the trial was.
            "busy_ns": 0,
            "gaps": None,
            "directions": directions,
            "foreign": frames_apart,
            "clock": "tsc",
        }


def _direction(planned: list[Part], by_id: dict[Any, Any], *, was_full: bool) -> dict[str, Any]:
    """Return the counts of one direction; what TRex does not count is 0, and its results say that it did not."""
    sent = received = sent_bytes = received_bytes = intended = 0
    for part in planned:
        counted = by_id.get(part.id) or by_id.get(str(part.id)) or {}
        out, back = (
            int(counted.get(key, {}).get(port, 0)) for key, port in (("tx_pkts", part.tx), ("rx_pkts", part.rx))
        )
        sent, received = sent + out, received + back
        sent_bytes, received_bytes = sent_bytes + out * part.size_bytes, received_bytes + back * part.size_bytes
        # A stream that ends by time sends a frame or two more.
        intended += out if part.intended is None else max(out, part.intended)
    unsent = intended - sent
    return {
        "intended": intended,
        "sent": sent,
        "received": received,
        "lost": sent - received,
        "unsent": unsent,
        # TRex counts how often a port's queue was full, not the frames.
        "late": 0 if was_full else unsent,
        "refused": unsent if was_full else 0,
        "reordered": 0,
        "duplicated": 0,
        "corrupted": 0,
        "sent_bytes": sent_bytes,
        "received_bytes": received_bytes,
    }


def _duration_ns(keys: dict[str, Any], directions: list[dict[str, Any]]) -> int:
    """Return how long frames were sent: what was asked for, or what so many frames take."""
    if keys.get("frames") is None:
        return int(keys["duration_ns"])
    most = max((one["sent"] for one in directions), default=0)
    return max(1, round(most * NS_PER_S / (keys.get("rate_pps") or frames.BURST_PPS)))
