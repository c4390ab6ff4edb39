"""What a file may say of tests inside guests."""

from typing import Annotated, Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest

Threads = Annotated[int, Field(ge=1, le=256)]
"""Threads of the load in the guest."""


class GuestComputeTest(NamedTest):
    """sysbench's CPU test inside the guest of the first VNF, while nothing is forwarded."""

    kind: Literal["guest-compute"]
    threads: tuple[Threads, ...] = Field((1, 32), min_length=1)
    """Numbers of threads, a row each; they are put on the guest's vCPUs in turn."""
    max_prime: int = Field(10_000, ge=3, le=1_000_000)
    """Number up to which an event finds all primes."""
    duration_s: int = Field(10, ge=1, le=600)
    """Length of each run by the guest's clock, s."""
    repeats: int = Field(3, ge=1, le=100)
    """Runs of a row: their median, least and greatest are shown."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of load, and the runs."""
        runs = len(self.threads) * self.repeats
        return float(runs * self.duration_s), runs


class GuestMemoryTest(NamedTest):
    """sysbench's memory test inside the guest of the first VNF, while nothing is forwarded."""

    kind: Literal["guest-memory"]
    operations: tuple[Literal["read", "write"], ...] = Field(("read", "write"), min_length=1)
    """Operations on memory."""
    threads: tuple[Threads, ...] = Field((1, 32), min_length=1)
    """Numbers of threads; a row for each operation and number."""
    block_kib: int = Field(1, ge=1, le=1_048_576)
    """Size of the block that all threads go through again and again; larger than the caches, it tells of the memory."""
    duration_s: int = Field(10, ge=1, le=600)
    """Length of each run by the guest's clock, s."""
    repeats: int = Field(3, ge=1, le=100)
    """Runs of a row: their median, least and greatest are shown."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of load, and the runs."""
        runs = len(self.operations) * len(self.threads) * self.repeats
        return float(runs * self.duration_s), runs


BOOT_S = 20.0
"""Estimate of the boot of guests side by side."""
SETTLE_S = 2
"""From the start of the load until it is counted, and as long behind it."""


class GuestTlbTest(NamedTest):
    """Misses of the TLBs while guests side by side go through their memory, with and without hugepages."""

    kind: Literal["guest-tlb"]
    vnfs: tuple[Annotated[int, Field(ge=1, le=32)], ...] = Field(tuple(range(1, 11)), min_length=1)
    """Numbers of guests; a row for each of them and each kind of pages. They are booted for it, beside the path."""
    hugepages: tuple[bool, ...] = Field((True, False), min_length=1)
    """Use of hugepages for the guests' memory, a row each; everything else is the flavor's."""
    operation: Literal["read", "write"] = "read"
    """Operation on memory."""
    threads: int = Field(1, ge=1, le=256)
    """Threads of sysbench in each guest."""
    block_kib: int = Field(65_536, ge=1, le=1_048_576)
    """Size of the block that each guest goes through: 64 MiB need more pages of 4 KiB than a TLB has entries."""
    duration_s: int = Field(10, ge=1, le=600)
    """Seconds for which misses are counted."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of load and boots, and the runs."""
        runs = len(self.vnfs) * len(self.hugepages)
        return runs * (self.duration_s + 2 * SETTLE_S + BOOT_S), runs


class GuestMultiqueueTest(NamedTest):
    """Concurrent TCP connections from one guest to another, over one queue of their ports and over all."""

    kind: Literal["guest-multiqueue"]
    connections: tuple[Annotated[int, Field(ge=1, le=1024)], ...] = Field((1, 2, 4, 8, 16, 32, 64), min_length=1)
    """Numbers of connections at the same time, a row each; every one has a process of its own at both ends, on the
    vCPUs in turn."""
    multiqueue: tuple[bool, ...] = Field((False, True), min_length=1)
    """Use of multiqueue, a row each. Off: one queue; on: as many as the flavor has, which are as many as its vCPUs."""
    traffic: Literal["stream", "request-response"] = "stream"
    """Traffic: netperf's TCP_STREAM, or TCP_RR."""
    duration_s: int = Field(10, ge=1, le=600)
    """Length of each run, s."""
    repeats: int = Field(3, ge=1, le=100)
    """Runs of a row: their median, least and greatest are shown."""
    share_cores: bool = False
    """Measurement also where PMD threads and vCPUs have no cores of their own: it shows that queues work, and no
    gain."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the runs."""
        runs = len(self.connections) * len(self.multiqueue) * self.repeats
        return float(runs * self.duration_s), runs
