"""Maps VSPERF's settings of jumbo frames to the frame sizes, from which the MTU of every port follows."""

from typing import Final

from nfvbed.vsperf.conf.draft import Draft, truth, whole
from nfvbed.vsperf.conf.settings import TestSettings

ENABLED: Final = "VSWITCH_JUMBO_FRAMES_ENABLED"
MTU: Final = "VSWITCH_JUMBO_FRAMES_SIZE"
"""VSPERF asks its ports for it as their MTU (`mtu_request`)."""
LARGEST_USUAL_BYTES: Final = 1518
"""The largest frame, with FCS, that an MTU of 1500 lets pass."""
HEADER_BYTES: Final = LARGEST_USUAL_BYTES - 1500
"""Ethernet header and FCS, which an MTU leaves out."""
MAX_MTU: Final = 65_535


def map_jumbo(draft: Draft, settings: TestSettings) -> None:
    """Compare the frame sizes with the MTU that VSPERF would set on its ports.

    In nfvbed the MTU of the ports follows from the largest frame of the experiment. Where VSPERF's ports would have a
    larger one all the same, which takes larger buffers, the test is missing.

    Raises:
        ConfigurationError: frames that VSPERF's ports would drop.
    """
    sizes = settings.require("TRAFFICGEN_PKT_SIZES")
    largest = max((size for size in draft.experiment["frame_sizes"] if isinstance(size, int)), default=0)
    enabled, size = settings.get(ENABLED), settings.get(MTU)
    if enabled is None or not truth(draft, enabled):
        if largest > LARGEST_USUAL_BYTES:
            raise draft.wrong(
                sizes,
                f"give sizes up to {LARGEST_USUAL_BYTES}, or {ENABLED} = True: without it VSPERF's ports keep their"
                " MTU of 1500, and drop larger frames",
            )
        return
    mtu = whole(draft, size, 64, MAX_MTU) if size is not None else _default_mtu(settings)
    if largest - HEADER_BYTES > mtu:
        raise draft.wrong(sizes, f"give sizes up to {mtu + HEADER_BYTES}, or a larger {MTU}, which is {mtu}")
    if largest <= LARGEST_USUAL_BYTES:
        draft.lacks(
            f"the ports' MTU follows from the largest frame: it is 1500, not {mtu}",
            enabled,
            f"give {ENABLED} = False, or a frame above {LARGEST_USUAL_BYTES} bytes in TRAFFICGEN_PKT_SIZES",
        )
    else:
        draft.differs(size or enabled, f"the ports' MTU follows from the largest frame: {largest - HEADER_BYTES}")


def _default_mtu(settings: TestSettings) -> int:
    return int(settings.default(MTU))
