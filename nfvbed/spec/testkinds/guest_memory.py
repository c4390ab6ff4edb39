"""The memory of a guest."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest
from nfvbed.spec.testkinds.guest_compute import Threads


class GuestMemoryTest(NamedTest):
    """sysbench's memory test inside the guest of the first VNF, while nothing is forwarded."""

    kind: Literal["guest-memory"]
    operations: tuple[Literal["read", "write"], ...] = Field(("read", "write"), min_length=1)
    threads: tuple[Threads, ...] = Field((1, 32), min_length=1)
    """A row for each operation and number of threads."""
    block_kib: int = Field(1, ge=1, le=1_048_576)
    """Of the block that all threads go through again and again; larger than the caches, it tells of the memory."""
    duration_s: int = Field(10, ge=1, le=600)
    """Of each run, by the guest's clock."""
    repeats: int = Field(3, ge=1, le=100)
    """Runs of a row: their median, least and greatest are shown."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of load, and the runs."""
        runs = len(self.operations) * len(self.threads) * self.repeats
        return float(runs * self.duration_s), runs
