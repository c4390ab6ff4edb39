"""The columns of VSPERF's result files, in VSPERF's order."""

from collections.abc import Sequence
from typing import Final

from nfvbed.records import DirectionCounts
from nfvbed.units import FrameSize, mean_frame_size_bytes

RATES: Final = (
    "tx_rate_fps",
    "throughput_rx_fps",
    "tx_rate_mbps",
    "throughput_rx_mbps",
    "tx_rate_percent",
    "throughput_rx_percent",
)
"""Sent and received: frames/s, Mbit/s (layer 2 with FCS), percent of the line rate."""
LATENCIES: Final = ("min_latency_ns", "max_latency_ns", "avg_latency_ns")
TRAFFIC: Final = (*RATES, *LATENCIES, "frame_loss_percent")
"""Columns of a throughput test or a continuous stream."""
CONDITIONS: Final = (
    "type",
    "packet_size",
    "id",
    "deployment",
    "vswitch",
    "traffic_type",
    "test_execution_time",
    "start_time",
    "stop_time",
    "stream_count",
    "match_type",
    "pre-installed_flows",
    "guest_loopback_app",
)
"""What was measured; `type` is TRAFFIC['traffic_type'], `traffic_type` the protocol. With `-m trafficgen` the two
first are all."""
COLUMNS: Final = (*TRAFFIC, *CONDITIONS)
OWN_PREFIX: Final = "nfvbed_"
"""Columns that nfvbed adds at the end of what it exports; by them a file is known to come from it."""
COUNTS: Final = (
    "tx_frames",
    "rx_frames",
    "tx_bytes",
    "rx_bytes",
    "payload_err",
    "seq_err",
    "b2b_rx_fps",
    "b2b_tx_fps",
    "b2b_rx_percent",
    "b2b_tx_percent",
    "b2b_tx_count",
    "b2b_frames",
    "b2b_frame_loss_frames",
    "b2b_frame_loss_percent",
    "forwarding_rate_fps",
    "caching_capacity_addrs",
    "addr_learned_percent",
    "optimal_learning_rate_fps",
    "imix_avg_framesize",
)
"""Numbers of other tests."""


def burst_counts(directions: Sequence[DirectionCounts], size: FrameSize) -> dict[str, int]:
    """Return the counts of one burst, both directions together; bytes with FCS."""
    sent = sum(way.sent for way in directions)
    received = sum(way.received for way in directions)
    frame_bytes = mean_frame_size_bytes(size)
    return {
        "tx_frames": sent,
        "rx_frames": received,
        "tx_bytes": round(sent * frame_bytes),
        "rx_bytes": round(received * frame_bytes),
        "payload_err": sum(way.corrupted for way in directions),
        "seq_err": sum(way.reordered + way.duplicated for way in directions),
    }
