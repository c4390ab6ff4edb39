"""A traffic point: what cells must share to be compared."""

from typing import NamedTuple

from nfvbed.units import FrameSize


class TrafficPoint(NamedTuple):
    """Path, VNFs and traffic of a cell, without its variant."""

    topology: str
    vnf: str
    """Label of the VNFs; empty without."""
    frame_size: FrameSize
    flows: int
    """Per direction."""
    bidirectional: bool
