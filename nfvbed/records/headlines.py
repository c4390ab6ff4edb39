"""The headline quantities of each kind of test, shown wherever there is no room for all.

One line a kind, best first, by the names that its results have. A row that has none of a kind's headline quantities is
an addition to those that do; it is in the full tables.
"""

from collections.abc import Mapping
from typing import Final

from nfvbed.records.words import ResultKind

THROUGHPUT, BOUNDS = "throughput", "bounds"
"""Quantities of each goal of a search."""
FORWARDED, MISSING, P50, P99 = "forwarded rate", "missing frames", "P50", "P99"
"""Quantities of each load of a test at given loads."""

HEADLINES: Final[Mapping[ResultKind, tuple[str, ...]]] = {
    ResultKind.SEARCH: (THROUGHPUT, BOUNDS),
    ResultKind.CONTINUOUS: (FORWARDED, MISSING),
    ResultKind.LOSS_CURVE: (MISSING, FORWARDED),
    ResultKind.LATENCY: (P50, P99, MISSING),
    ResultKind.SOAK: (MISSING, FORWARDED),
    ResultKind.BACK_TO_BACK: ("longest burst", "corrected burst"),
    ResultKind.BURST: ("received", "loss", "not sent"),
    ResultKind.SYSTEM_RECOVERY: ("recovery time", "first 10 ms without loss"),
    ResultKind.RESET: ("outage by frame loss", "outage by time stamps", "missing frames"),
    ResultKind.LIFE_CYCLE: ("longest gap", "lost frames", "detected", "booted"),
    ResultKind.ADDRESS_CACHING: ("addresses held", "too many"),
    ResultKind.ADDRESS_LEARNING: ("learning rate", "too fast"),
    ResultKind.FLOW_SCALING: ("rate", "missing frames", "latency P99"),
    ResultKind.TABLE_SCALING: ("rate", "missing frames", "latency P99"),
    ResultKind.TCP_THROUGHPUT: ("throughput", "retransmits"),
    ResultKind.REQUEST_RESPONSE: ("transactions", "latency P50", "latency P99"),
    ResultKind.UDP_THROUGHPUT: ("throughput", "loss", "received"),
    ResultKind.SOCKET_LATENCY: ("round trip P50", "round trip P99", "loss"),
    ResultKind.GUEST_COMPUTE: ("events", "mean event"),
    ResultKind.GUEST_MEMORY: ("memory throughput",),
    ResultKind.GUEST_TLB: (
        "dTLB misses per 1,000 instructions",
        "iTLB misses per 1,000 instructions",
        "memory throughput",
    ),
    ResultKind.GUEST_MULTIQUEUE: ("TCP throughput", "transactions", "slowest connection"),
    ResultKind.QUEUE_BALANCE: ("imbalance", "queues used", "moves", "out of order", "mapper"),
    ResultKind.COST: ("user", "system", "softirq", "guest", "cycles"),
    ResultKind.XDP_TASKS: ("time per packet", "cycles per packet", "processed"),
    ResultKind.ATTACH_RATE: ("attach rate", "attach P50", "attach P99", "failed"),
    ResultKind.SESSIONS: ("carrying, held", "carrying", "attached", "detached"),
    ResultKind.RESTORATION: ("go on", "carrying before", "restored"),
    ResultKind.VSPERF: (
        "received",
        "frame loss",
        "mean latency",
        "rx_frames",
        "b2b_frames",
        "b2b_frame_loss_percent",
        "caching_capacity_addrs",
        "optimal_learning_rate_fps",
    ),
}
"""The quantities that are read first, by kind. Of cost all kinds of time are read, as they add up: a bridge's work is
the kernel's, a poller's its own.
"""
