"""From maximum receive rates to the load of a paced trial."""

from collections.abc import Sequence
from statistics import median

from nfvbed.errors import UsageError


def paced_rate_pps(mrr_pps: Sequence[int], fraction: float, directions: int, fix: str = "") -> int:
    """Return the intended load per direction, in whole frames/s, as a fraction of the median MRR.

    Args:
        mrr_pps: aggregate rates of the cell that were measured so far.
        fraction: part of the median; 0 < fraction <= 1.
        directions: 1 or 2; the load is shared evenly.
        fix: the fix of the error: how to find out where frames are lost.

    Raises:
        UsageError: nothing was measured yet, or nothing was received.
    """
    if not mrr_pps:
        raise UsageError("a paced trial needs an MRR to be paced by", observed="no MRR trial has ended yet")
    rate = int(median(mrr_pps) * fraction) // directions
    if rate < 1:
        raise UsageError(
            "a paced trial needs an MRR above zero",
            observed=f"median {median(mrr_pps):g} frames/s",
            fix=fix,
        )
    return rate
