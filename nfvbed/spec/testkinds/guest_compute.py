"""The processors of a guest."""

from typing import Annotated, Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest

Threads = Annotated[int, Field(ge=1, le=256)]
"""Threads of the load in the guest."""


class GuestComputeTest(NamedTest):
    """sysbench's CPU test inside the guest of the first VNF, while nothing is forwarded."""

    kind: Literal["guest-compute"]
    threads: tuple[Threads, ...] = Field((1, 32), min_length=1)
    """A row each; they are put on the guest's vCPUs in turn."""
    max_prime: int = Field(10_000, ge=3, le=1_000_000)
    """An event is to find all prime numbers up to it."""
    duration_s: int = Field(10, ge=1, le=600)
    """Of each run, by the guest's clock."""
    repeats: int = Field(3, ge=1, le=100)
    """Runs of a row: their median, least and greatest are shown."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of load, and the runs."""
        runs = len(self.threads) * self.repeats
        return float(runs * self.duration_s), runs
