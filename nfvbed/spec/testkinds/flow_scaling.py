"""Rate by number of flows."""

from typing import Literal

from nfvbed.spec.testkinds.scaling import Counts, ScalingTest


class FlowScalingTest(ScalingTest):
    """The rate (or loss and latency at a load) by the number of flows, which differ in address and UDP port."""

    kind: Literal["flow-scaling"]
    counts: Counts = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
    """Flows per direction, one row each."""
