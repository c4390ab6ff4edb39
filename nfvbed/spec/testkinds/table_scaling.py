"""Rate by number of table entries."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.testkinds.scaling import Counts, ScalingTest


class TableScalingTest(ScalingTest):
    """The rate (or loss and latency at a load) by the number of OpenFlow entries, or of routes of a router.

    Frames hit entries that are spread over the table. A count beyond what frames can tell apart is refused.
    """

    kind: Literal["table-scaling"]
    counts: Counts = (1, 10, 100, 1_000, 10_000, 100_000)
    """Entries in the table, one row each; the directions share them."""
    warmup_s: float = Field(2, ge=0, le=600)
    """Maximum load before the trials of each row, not counted, in which every entry should be looked up once."""
