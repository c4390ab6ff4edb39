"""What a file may say of tests of a port's queues."""

from typing import Annotated, Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest

SETTLE_S = 0.5
"""Estimated time in which a row's tap, its ends and the balancer start and end."""


class QueueBalanceTest(NamedTest):
    """Flows from the host to a multi-queue tap: how evenly they are spread over its queues, and what that costs.

    After Han's balancer (Seoul National University, 2013). The variant says who chooses the queues: the kernel's hash,
    or the balancer (`queue_balancer`). A reader for each queue stands for a guest's vCPU.
    """

    kind: Literal["queue-balance"]
    queues: tuple[Annotated[int, Field(ge=2, le=64)], ...] = Field((2, 3, 4), min_length=1)
    """Numbers of queues; a row for each of them and each of `colliding`."""
    colliding: tuple[bool, ...] = Field((False, True), min_length=1)
    """Choice of the flows. False: ports drawn for the round; true: ports that the kernel's hash puts on as few queues
    as possible."""
    flows: int = Field(4, ge=1, le=64)
    """Flows at the same time."""
    volumes: Literal["equal", "skewed"] = "equal"
    """Rates of the flows; `skewed`: in proportion to 1, 1/2, 1/3, ..."""
    load_pps: int = Field(8_000, ge=100, le=1_000_000)
    """Frames/s of all flows."""
    service_pps: int | None = Field(None, ge=100, le=1_000_000)
    """Frames/s that each queue's reader takes at most, so that loaded queues fill up; none: as many as it can."""
    duration_s: float = Field(10, ge=0.4, le=600)
    """Length of each row, s."""
    interval_s: float = Field(0.2, ge=0.05, le=60)
    """Interval in which queues are compared, s."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the rows."""
        rows = len(self.queues) * len(self.colliding)
        return rows * (self.duration_s + SETTLE_S), rows
