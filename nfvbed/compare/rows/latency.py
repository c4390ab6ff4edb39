"""Latency of paced trials: HdrHistograms merged, never percentiles averaged."""

import base64
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from hdrh.codec import (
    V2_COMPRESSION_COOKIE_BASE,
    V2_ENCODING_COOKIE_BASE,
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
    get_cookie_base,
)
from hdrh.codec import decode as decode_counts
from hdrh.histogram import HdrHistogram

from nfvbed.errors import DamagedError
from nfvbed.records import Record

HIGHEST_NS: Final = 60_000_000_000
SIGNIFICANT_FIGURES: Final = 3
CURVE: Final = (0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.995, 99.999)
FRAMES_ABOVE: Final = 10
"""A percentile is drawn when at least so many frames lie above it; else it is one frame's chance."""

SURELY_SMALL: Final = 8_192
"""Characters: what they unfold into is 6 MB at most."""
MOST_UNFOLDED: Final = 1_000_000
"""Bytes; a histogram with a count in each of its buckets has a quarter."""
_COMPRESSED: Final = struct.Struct(">II")
"""Before what is compressed: a cookie and a length."""
_HEADER: Final = struct.Struct(">IIIIQQd")
"""Before the counts: a cookie, their length, an offset, significant figures, least and greatest value, a ratio."""

Counts = npt.NDArray[np.int64]
"""Frames by bucket from the lowest on, of histograms with the limits above."""

_NO_HISTOGRAM: Final = (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
    IndexError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What hdrh raises for other text; they have no common base. binascii's error is a ValueError."""


class LatencySummary(Record):
    """One merged histogram, in ns."""

    frames: int
    p50_ns: int
    p99_ns: int
    max_ns: int
    curve: tuple[tuple[float, int], ...]
    """(percentile, latency in ns); the last one is (100, maximum)."""

    def at(self, percentile: float) -> int | None:
        """Return the latency at a percentile, in ns; None where too few frames lie above it to say."""
        return dict(self.curve).get(percentile)

    @property
    def min_ns(self) -> int:
        """The least latency."""
        return self.curve[0][1]

    @property
    def delay_variation_ns(self) -> int:
        """P99 less the least delay: the delay variation (RFC 3393) against the frame of least delay.

        This is the PDV of RFC 5481 section 4.2. Differences between frames that follow each other are not in a
        histogram.
        """
        return self.p99_ns - self.min_ns


class DueLatency(Record):
    """Percentiles over the frames that were due: one that never came is infinitely late.

    Those over the frames that came are blind where frames are refused: a stall of 10 ms at 5 Mpps is 50,000 due frames,
    and as many samples as the rings hold.
    """

    frames: int
    """Frames that were due."""
    came: int
    p50_ns: int | None
    """None: fewer than that came."""
    p99_ns: int | None


def due_latency(encoded: Iterable[str], due: int) -> DueLatency | None:
    """Return the percentiles over due frames; None where no latency was measured.

    Args:
        encoded: base64 HdrHistograms of the frames that came.
        due: frames that were due; fewer than came count as these.

    Raises:
        DamagedError: something that is not such a histogram.
    """
    totals = np.cumsum(_merge(encoded))
    came = int(totals[-1]) if len(totals) else 0
    if not came:
        return None
    due = max(due, came)

    def at(percentile: float) -> int | None:
        rank = max(int(percentile * due / 100 + 0.5), 1)
        return _value(int(np.searchsorted(totals, rank)), percentile) if rank <= came else None

    return DueLatency(frames=due, came=came, p50_ns=at(50.0), p99_ns=at(99.0))


def merge_latency(encoded: Iterable[str]) -> LatencySummary | None:
    """Return base64 HdrHistograms (V2, compressed) merged; None when there is none or they are empty.

    Raises:
        DamagedError: something that is not such a histogram.
    """
    return _summary(_merge(encoded))


def least_and_p99(encoded: Iterable[str]) -> tuple[int, int] | None:
    """Return the least delay and the P99 of base64 HdrHistograms merged, in ns; None when there is none.

    They are those of `merge_latency`, without the curve: a recommendation asks for them in thousands of visits.

    Raises:
        DamagedError: something that is not such a histogram.
    """
    totals = np.cumsum(_merge(encoded))
    if not len(totals) or not totals[-1]:
        return None
    found = _percentiles(totals, (0.0, 99.0))
    return found[0.0], found[99.0]


def _summary(counts: Counts) -> LatencySummary | None:
    totals = np.cumsum(counts)
    frames = int(totals[-1]) if len(totals) else 0
    if not frames:
        return None
    highest = _value(int(np.searchsorted(totals, frames)), 100.0)
    # Rounded: 100 - 99.9 is a little less than 0.1 to a computer.
    shown = [p for p in CURVE if p <= 99 or round(frames * (100 - p) / 100, 6) >= FRAMES_ABOVE]
    found = _percentiles(totals, (*shown, 50.0, 99.0))
    curve = [(p, found[p]) for p in shown]
    return LatencySummary(
        frames=frames,
        p50_ns=found[50.0],
        p99_ns=found[99.0],
        max_ns=highest,
        curve=(*curve, (100.0, highest)),
    )


def _percentiles(totals: Counts, wanted: Iterable[float]) -> dict[float, int]:
    """Return what `get_percentile_to_value_dict` does; its loop over the buckets took most of a comparison's time."""
    frames = int(totals[-1])
    below = {percentile: max(int(percentile * frames / 100 + 0.5), 1) for percentile in wanted}
    buckets = np.searchsorted(totals, list(below.values()))
    return {percentile: _value(int(bucket), percentile) for percentile, bucket in zip(below, buckets, strict=True)}


@lru_cache(maxsize=4096)
def _value(bucket: int, percentile: float) -> int:
    """Return the delay of a bucket in ns: the highest that it stands for, at the 0th percentile the lowest."""
    scale = _scale()
    value = scale.get_value_from_index(bucket)
    equivalent = scale.get_highest_equivalent_value if percentile else scale.get_lowest_equivalent_value
    return int(equivalent(value))


@cache
def _scale() -> HdrHistogram:
    """Return an empty histogram, which knows what its buckets stand for."""
    return HdrHistogram(1, HIGHEST_NS, SIGNIFICANT_FIGURES)


def mean_latency_ns(encoded: Iterable[str]) -> float | None:
    """Return the mean over all frames of base64 HdrHistograms, in ns; None when there is none or they are empty.

    For formats that ask for it; a mean says little of a distribution with a long tail.

    Raises:
        DamagedError: something that is not such a histogram.
    """
    merged = HdrHistogram(1, HIGHEST_NS, SIGNIFICANT_FIGURES)
    for text in encoded:
        with _refused():
            _require_small(text)
            merged.decode_and_add(text)
    return float(merged.get_mean_value()) if merged.get_total_count() else None


def _merge(encoded: Iterable[str]) -> Counts:
    """Return the counts of all, up to the highest bucket that is used: most of them end in the lowest quarter."""
    merged, used, decoder = np.zeros(_scale().counts_len, np.int64), 0, _Decoder()
    with _refused():
        for text in encoded:
            used = max(used, decoder.add_to(merged, text))
    return merged[:used]


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except _NO_HISTOGRAM as error:
        raise DamagedError(
            "the latency of a trial cannot be read",
            where="table histogram, column encoded",
            observed=f"not an HdrHistogram (V2, compressed, base64): {error}",
            fix="import the run again where it was exported, or leave it out",
        ) from error


def _require_small(text: str) -> None:
    """Unfold a long text within a bound, before hdrh unfolds it without one.

    Raises:
        ValueError: it becomes more than any histogram has.
    """
    if len(text) <= SURELY_SMALL:
        return
    _unfolded(base64.b64decode(text))


def _unfolded(packed: bytes) -> bytes:
    """Return what is compressed in a histogram.

    Raises:
        ValueError: it becomes more than any histogram has.
    """
    unfolding = zlib.decompressobj()
    found = unfolding.decompress(packed[_COMPRESSED.size :], MOST_UNFOLDED)
    if unfolding.unconsumed_tail:
        raise ValueError(f"it unfolds into more than {MOST_UNFOLDED:,} bytes")
    if not unfolding.eof:
        raise ValueError("what is compressed in it has no end")
    return found


class _Decoder:
    """Decodes histograms into one array: hdrh makes objects and an array of all buckets for each, which takes longer.

    It checks what `HdrHistogramEncoder.decode` does; the counts are decoded by the same function of hdrh.
    """

    def __init__(self) -> None:
        self._counts: Counts = np.zeros(_scale().counts_len, np.int64)
        self._address = self._counts.ctypes.data

    def add_to(self, merged: Counts, text: str) -> int:
        """Add a histogram's counts, and return how many buckets they take."""
        packed = base64.b64decode(text)
        cookie, length = _COMPRESSED.unpack_from(packed)
        if get_cookie_base(cookie) != V2_COMPRESSION_COOKIE_BASE or length != len(packed) - _COMPRESSED.size:
            raise HdrCookieException(f"cookie {cookie:x}, length {length}")
        unfolded = _unfolded(packed)
        cookie, _, _, *limits, _ = _HEADER.unpack_from(unfolded)
        if get_cookie_base(cookie) != V2_ENCODING_COOKIE_BASE:
            raise HdrCookieException(f"cookie {cookie:x}")
        if limits != [SIGNIFICANT_FIGURES, 1, HIGHEST_NS]:
            return _add_other(merged, text)
        found = decode_counts(unfolded, _HEADER.size, self._address, len(merged), self._counts.itemsize)
        if not found["total"]:
            return 0
        least, used = int(found["min_nonzero_index"]), int(found["max_nonzero_index"]) + 1
        merged[least:used] += self._counts[least:used]
        self._counts[least:used] = 0
        return used


def _add_other(merged: Counts, text: str) -> int:
    """Add the counts of a histogram with other limits."""
    other = HdrHistogram(1, HIGHEST_NS, SIGNIFICANT_FIGURES)
    other.decode_and_add(text)
    merged += np.frombuffer(other.encoder.get_counts(), np.int64)
    return len(merged)


def by_direction(histograms: Sequence[Sequence[str | None]]) -> tuple[LatencySummary | None, ...]:
    """Return the histograms of several trials merged, each direction on its own."""
    return tuple(_summary(merged) for merged in _by_direction(histograms))


def both_and_each(
    histograms: Sequence[Sequence[str | None]],
) -> tuple[LatencySummary | None, tuple[LatencySummary | None, ...]]:
    """Return the histograms of several trials merged, all directions together and each alone; each is decoded once."""
    each = _by_direction(histograms)
    together = np.zeros(max((len(merged) for merged in each), default=0), np.int64)
    for merged in each:
        together[: len(merged)] += merged
    return _summary(together), tuple(_summary(merged) for merged in each)


def _by_direction(histograms: Sequence[Sequence[str | None]]) -> list[Counts]:
    width = max((len(trial) for trial in histograms), default=0)
    columns = ([trial[side] for trial in histograms if side < len(trial)] for side in range(width))
    return [_merge(text for text in column if text) for column in columns]
