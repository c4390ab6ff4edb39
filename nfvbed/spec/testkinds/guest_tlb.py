"""Misses of translation look-aside buffers by number of guests."""

from typing import Annotated, Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest

BOOT_S = 20.0
"""Of guests side by side, as an estimate."""
SETTLE_S = 2
"""From the start of the load until it is counted, and as long behind it."""


class GuestTlbTest(NamedTest):
    """Misses of the TLBs while guests side by side go through their memory, with and without hugepages."""

    kind: Literal["guest-tlb"]
    vnfs: tuple[Annotated[int, Field(ge=1, le=32)], ...] = Field(tuple(range(1, 11)), min_length=1)
    """Numbers of guests; a row for each of them and each kind of pages. They are booted for it, beside the path."""
    hugepages: tuple[bool, ...] = Field((True, False), min_length=1)
    """What the guests' memory is made of; everything else is the flavor's."""
    operation: Literal["read", "write"] = "read"
    threads: int = Field(1, ge=1, le=256)
    """Of sysbench in each guest."""
    block_kib: int = Field(65_536, ge=1, le=1_048_576)
    """That each guest goes through: 64 MiB need more pages of 4 KiB than a TLB has entries."""
    duration_s: int = Field(10, ge=1, le=600)
    """For which misses are counted."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of load and boots, and the runs."""
        runs = len(self.vnfs) * len(self.hugepages)
        return runs * (self.duration_s + 2 * SETTLE_S + BOOT_S), runs
