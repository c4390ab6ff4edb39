"""Queues of a guest's port against connections."""

from typing import Annotated, Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest


class GuestMultiqueueTest(NamedTest):
    """Concurrent TCP connections from one guest to another, over one queue of their ports and over all."""

    kind: Literal["guest-multiqueue"]
    connections: tuple[Annotated[int, Field(ge=1, le=1024)], ...] = Field((1, 2, 4, 8, 16, 32, 64), min_length=1)
    """At the same time, a row each; every one has a process of its own at both ends, on the vCPUs in turn."""
    multiqueue: tuple[bool, ...] = Field((False, True), min_length=1)
    """Off: one queue; on: as many as the flavor has, which are as many as its vCPUs."""
    traffic: Literal["stream", "request-response"] = "stream"
    """netperf's TCP_STREAM, or TCP_RR."""
    duration_s: int = Field(10, ge=1, le=600)
    """Of each run."""
    repeats: int = Field(3, ge=1, le=100)
    """Runs of a row: their median, least and greatest are shown."""
    share_cores: bool = False
    """Measure also where PMD threads and vCPUs have no cores of their own: it shows that queues work, and no gain."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the runs."""
        runs = len(self.connections) * len(self.multiqueue) * self.repeats
        return float(runs * self.duration_s), runs
