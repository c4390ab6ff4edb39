"""Units of packet measurement: frame sizes with FCS, bit rates at layer 1 and layer 2, IMIX.

Sizes follow RFC 2544: a 64-byte frame includes its 4-byte FCS, so it is 60 bytes in memory.
"""

from typing import Literal

FCS_BYTES = 4
LAYER1_OVERHEAD_BYTES = 20
"""Preamble (7), start of frame (1) and inter-frame gap (12), IEEE 802.3."""

GTPU_BYTES = 36
"""IPv4 (20), UDP (8) and GTP-U (8) headers in front of a user's packet, 3GPP TS 29.281."""

ETHERNET_BYTES = 18
"""Header (14) and FCS (4): what a frame is longer than the packet that an MTU is about."""
USUAL_MTU = 1500
USUAL_FRAME_BYTES = USUAL_MTU + ETHERNET_BYTES
"""Longer frames are jumbo frames."""

MIN_FRAME_SIZE_BYTES = 64
MAX_FRAME_SIZE_BYTES = 9018

NS_PER_S = 1_000_000_000

IMIX: tuple[tuple[int, int], ...] = ((64, 7), (570, 4), (1518, 1))
"""(frame size in bytes, weight): 7:4:1, as FD.io CSIT uses it."""

FrameSize = int | Literal["imix"]
"""A frame size in bytes with FCS, or the mix."""


def frame_mix(size: FrameSize) -> tuple[tuple[int, int], ...]:
    """Return (frame size in bytes, weight) pairs for one size or the mix."""
    return IMIX if size == "imix" else ((size, 1),)


def mean_frame_size_bytes(size: FrameSize) -> float:
    """Return the mean frame size in bytes (353.83 for IMIX)."""
    mix = frame_mix(size)
    return sum(length * weight for length, weight in mix) / sum(weight for _, weight in mix)


def mtu_for(size: FrameSize) -> int:
    """Return the MTU that ports need for frames of a size, at least the default one."""
    return max(USUAL_MTU, max(length for length, _ in frame_mix(size)) - ETHERNET_BYTES)


def layer2_bits_per_s(rate_pps: float, size: FrameSize) -> float:
    """Return the bit rate at layer 2, frames with FCS, in bit/s."""
    return rate_pps * mean_frame_size_bytes(size) * 8


def layer1_bits_per_s(rate_pps: float, size: FrameSize) -> float:
    """Return the bit rate at layer 1, with preamble and inter-frame gap, in bit/s."""
    return rate_pps * (mean_frame_size_bytes(size) + LAYER1_OVERHEAD_BYTES) * 8
