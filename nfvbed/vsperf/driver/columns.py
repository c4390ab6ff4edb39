"""Turns nfvgen's counts into the columns that VSPERF's controllers expect of a traffic generator."""

from collections.abc import Mapping
from typing import Any, Final

from nfvbed.compare.rows.latency import mean_latency_ns, merge_latency
from nfvbed.traffic.generator import TrafficResult
from nfvbed.units import NS_PER_S, FrameSize, layer2_bits_per_s
from nfvbed.vsperf.conf.columns import burst_counts

UNKNOWN: Final = "Unknown"
"""VSPERF's own word for a value that there is not: no line rate, no frame that came back."""


def rate_columns(result: TrafficResult, size: FrameSize) -> dict[str, Any]:
    """Return rates, latency and loss of one trial, both directions together."""
    sent = sum(way.sent for way in result.directions)
    received = sum(way.received for way in result.directions)
    seconds = result.duration_ns / NS_PER_S
    return {
        **_rates(sent / seconds, received / seconds, size),
        **_latency(result),
        "frame_loss_percent": 100 * sum(way.lost for way in result.directions) / sent if sent else UNKNOWN,
    }


def _rates(sent_pps: float, received_pps: float, size: FrameSize) -> dict[str, Any]:
    return {
        "tx_rate_fps": round(sent_pps, 3),
        "throughput_rx_fps": round(received_pps, 3),
        "tx_rate_mbps": round(layer2_bits_per_s(sent_pps, size) / 1e6, 6),
        "throughput_rx_mbps": round(layer2_bits_per_s(received_pps, size) / 1e6, 6),
        "tx_rate_percent": UNKNOWN,
        "throughput_rx_percent": UNKNOWN,
    }


def _latency(result: TrafficResult) -> Mapping[str, Any]:
    histograms = [text for text in result.latency_hdr if text]
    summary = merge_latency(histograms)
    if summary is None:
        return dict.fromkeys(("min_latency_ns", "max_latency_ns", "avg_latency_ns"), UNKNOWN)
    mean_ns = mean_latency_ns(histograms)
    return {
        "min_latency_ns": summary.curve[0][1],
        "max_latency_ns": summary.max_ns,
        "avg_latency_ns": UNKNOWN if mean_ns is None else round(mean_ns, 1),
    }


def burst_columns(result: TrafficResult, size: FrameSize) -> dict[str, Any]:
    """Return the counts of one burst, both directions together."""
    return dict(burst_counts(result.directions, size))
