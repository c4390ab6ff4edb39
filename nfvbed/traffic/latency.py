"""Latency buckets as HdrHistograms: the form in which they are stored, merged and read by other tools."""

from collections.abc import Iterable, Sequence

from hdrh.histogram import HdrHistogram

HIGHEST_NS = 60_000_000_000
"""nfvgen's largest bucket; longer ones are counted in it."""
SIGNIFICANT_FIGURES = 3
_BITS = 11
"""Bits of a value that three figures keep: 2,048 buckets of 1 ns, then 1,024 for every doubling."""


def encode_latency(buckets: Iterable[Sequence[int]]) -> str | None:
    """Return latencies as an encoded HdrHistogram, from (lower end of the bucket in ns, count) pairs.

    nfvgen's buckets are HdrHistogram's own (1 ns, three significant figures), so that nothing is rounded.

    Returns:
        HdrHistogram V2 compressed, base64; None when nothing was counted.

    Raises:
        ValueError: a value that no bucket can have.
    """
    counted = sorted((value_ns, count) for value_ns, count in buckets if count)
    if not counted:
        return None
    histogram = HdrHistogram(1, HIGHEST_NS, SIGNIFICANT_FIGURES)
    # The ends through the library, which keeps the least and the greatest value; what lies between, thousands of
    # buckets in the pause after every trial, straight into its counts.
    for value_ns, count in counted[:1] + counted[1:][-1:]:
        if not histogram.record_value(value_ns, count):
            raise ValueError(f"latency of {value_ns} ns is outside 0..{HIGHEST_NS} ns")
    counts = histogram.counts
    for value_ns, count in counted[1:-1]:
        shift = max(0, value_ns.bit_length() - _BITS)
        counts[(shift << _BITS - 1) + (value_ns >> shift)] += count
        histogram.total_count += count
    return str(histogram.encode().decode("ascii"))
