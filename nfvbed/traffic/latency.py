"""Latency buckets as HdrHistograms: the form in which they are stored, merged and read by other tools."""

from collections.abc import Iterable, Sequence

from hdrh.histogram import HdrHistogram

HIGHEST_NS = 60_000_000_000
"""nfvgen's largest bucket; longer ones are counted in it."""
SIGNIFICANT_FIGURES = 3


def encode_latency(buckets: Iterable[Sequence[int]]) -> str | None:
    """Encode (lower end of the bucket in ns, count) pairs.

    nfvgen's buckets are HdrHistogram's own (1 ns, three significant figures), so that nothing is rounded.

    Returns:
        HdrHistogram V2 compressed, base64; None when nothing was counted.

    Raises:
        ValueError: a value that no bucket can have.
    """
    histogram = HdrHistogram(1, HIGHEST_NS, SIGNIFICANT_FIGURES)
    for value_ns, count in buckets:
        if count and not histogram.record_value(value_ns, count):
            raise ValueError(f"latency of {value_ns} ns is outside 0..{HIGHEST_NS} ns")
    if not histogram.get_total_count():
        return None
    return str(histogram.encode().decode("ascii"))
