"""Maps a continuous stream below the line rate: from a percentage to frames/s, where 100 % is known."""

from typing import Final

from nfvbed.units import LAYER1_OVERHEAD_BYTES, mean_frame_size_bytes
from nfvbed.vsperf.conf.draft import Draft, flag, number, whole
from nfvbed.vsperf.conf.settings import TestSettings

FORCED: Final = "TRAFFICGEN_TREX_FORCE_PORT_SPEED"
SPEED: Final = "TRAFFICGEN_TREX_PORT_SPEED"
"""VSPERF's own names for a line rate that the user declares, in Mbit/s; VSPERF has them for T-Rex only."""
MAX_SPEED_MBPS: Final = 1_600_000
BITS_PER_MBIT: Final = 1_000_000


def map_unbounded_load(draft: Draft, settings: TestSettings) -> None:
    """Note for a test at 100 % that its declared line rate does not bound it: the ports take what they can."""
    forced = settings.get(FORCED)
    if forced is not None and flag(draft, forced):
        draft.differs(forced, f"frames are sent as fast as the ports take them; {SPEED} holds below 100 % alone")


def map_given_load(draft: Draft, settings: TestSettings, duration_s: float) -> None:
    """Map TRAFFIC['frame_rate'] below 100 % to a test `continuous` at a load in frames/s over all directions.

    Virtual ports have no line rate, and no part of something else is taken in its place: without a declared port speed
    the test is missing. As is one of several frame sizes at once, since each has a load of its own.
    """
    rate = settings.require("TRAFFIC").at("frame_rate")
    forced, speed = settings.get(FORCED), settings.get(SPEED)
    sizes = draft.experiment["frame_sizes"]
    if forced is None or speed is None or not flag(draft, forced):
        draft.lacks(
            "a part of the line rate, which virtual ports do not have; declare one in Mbit/s with"
            f" {FORCED} = True and {SPEED}",
            rate,
        )
        return
    if len(sizes) > 1:
        draft.lacks(f"a load for each of {len(sizes)} frame sizes; give one size in TRAFFICGEN_PKT_SIZES", rate)
        return
    speed_mbps = whole(draft, speed, 1, MAX_SPEED_MBPS)
    directions = 2 if draft.experiment["traffic"]["bidirectional"] else 1
    bits = (mean_frame_size_bytes(sizes[0]) + LAYER1_OVERHEAD_BYTES) * 8
    load_pps = round(directions * number(draft, rate, 0, 100) / 100 * speed_mbps * BITS_PER_MBIT / bits)
    draft.put("tests", [{"kind": "continuous", "load_pps": load_pps, "duration_s": duration_s}], rate)
    draft.differs(
        rate, f"{load_pps:,} frames/s over all directions: layer 1 at the declared {speed_mbps:,} Mbit/s per port"
    )
