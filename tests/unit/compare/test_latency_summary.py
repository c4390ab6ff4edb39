"""Merging latency histograms."""

import base64
import struct
import zlib

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.compare.rows.latency import (
    HIGHEST_NS,
    SIGNIFICANT_FIGURES,
    SURELY_SMALL,
    both_and_each,
    by_direction,
    least_and_p99,
    mean_latency_ns,
    merge_latency,
)
from nfvbed.errors import DamagedError


def encoded(value_ns: int, count: int) -> str:
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    histogram.record_value(value_ns, count)
    return str(histogram.encode().decode("ascii"))


def test_counts_are_merged_and_percentiles_are_not_averaged():
    merged = merge_latency([encoded(1_000, 9_900), encoded(1_000_000, 100)])
    assert merged is not None
    assert merged.frames == 10_000
    assert merged.p50_ns == pytest.approx(1_000, rel=0.001)
    assert merged.p99_ns == pytest.approx(1_000, rel=0.001)
    assert merged.max_ns == pytest.approx(1_000_000, rel=0.001)
    assert dict(merged.curve)[99.5] == pytest.approx(1_000_000, rel=0.001)


def test_percentiles_of_single_frames_are_not_drawn():
    merged = merge_latency([encoded(1_000, 500)])
    assert merged is not None
    assert max(p for p, _ in merged.curve[:-1]) == 99
    assert merged.curve[-1][0] == 100


def test_directions_of_different_reach_are_those_of_all_frames_together():
    rng = np.random.default_rng(7)
    sides = [[encoded(int(value), 30) for value in rng.uniform(1, reach, 40)] for reach in (2_000, 60_000_000)]
    both, each = both_and_each(list(zip(*sides, strict=True)))
    whole = HdrHistogram(1, 60_000_000_000, 3)
    for text in (*sides[0], *sides[1]):
        whole.decode_and_add(text)
    assert both is not None and each == (merge_latency(sides[0]), merge_latency(sides[1]))
    assert both == merge_latency((*sides[0], *sides[1]))
    assert least_and_p99((*sides[0], *sides[1])) == (both.min_ns, both.p99_ns)
    assert least_and_p99([]) is None
    assert (both.frames, both.max_ns) == (whole.get_total_count(), whole.get_value_at_percentile(100))
    shown = [percentile for percentile, _ in both.curve if percentile]
    assert dict(both.curve[1:]) == {percentile: whole.get_value_at_percentile(percentile) for percentile in shown}


def test_nothing_counted_is_nothing():
    assert merge_latency([]) is None
    assert by_direction([(None, None), (None, None)]) == (None, None)
    assert by_direction([]) == ()


def test_directions_stay_apart():
    first, second = by_direction([(encoded(10, 5), encoded(99, 7)), (encoded(10, 5), None)])
    assert first is not None and second is not None
    assert (first.frames, second.frames) == (10, 7)


def repacked(change):
    """Return an encoded histogram whose compressed payload was changed."""
    raw = base64.b64decode(encoded(10, 5))
    packed = change(raw[8:])
    return base64.b64encode(raw[:4] + struct.pack(">I", len(packed)) + packed).decode()


@pytest.mark.parametrize(
    "text",
    [
        "rubbish",
        "abc",
        base64.b64encode(bytes(64)).decode(),
        base64.b64encode(base64.b64decode(encoded(10, 5))[:-3]).decode(),
        repacked(lambda packed: packed[:-9] + bytes(9)),
        repacked(lambda packed: zlib.compress(zlib.decompress(packed)[:20])),
        repacked(lambda packed: zlib.compress(zlib.decompress(packed)[:40] + b"\xff" * 30)),
        repacked(lambda packed: zlib.compress(bytes(60))),
    ],
)
def test_rubbish_is_named(text):
    with pytest.raises(DamagedError, match="not an HdrHistogram"):
        merge_latency([text])


def test_latency_beyond_what_is_counted_is_named():
    longer = HdrHistogram(1, 10**14, 3)
    longer.record_value(10**13)
    with pytest.raises(DamagedError, match="not an HdrHistogram"):
        merge_latency([longer.encode().decode()])


def test_a_histogram_that_unfolds_without_end_is_refused_before_it_does():
    packed = zlib.compress(bytes(50_000_000))
    bomb = base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()
    assert len(bomb) < 70_000
    for read in (merge_latency, mean_latency_ns):
        with pytest.raises(DamagedError, match="unfolds into more than"):
            read([bomb])


def test_a_histogram_with_a_count_in_every_bucket_is_within_the_bound():
    histogram = HdrHistogram(1, HIGHEST_NS, SIGNIFICANT_FIGURES)
    for bucket in range(histogram.counts_len):
        histogram.record_value(histogram.get_value_from_index(bucket), bucket * 2_654_435_761 % 2**31 + 1)
    encoded = histogram.encode().decode()
    summary = merge_latency([encoded])
    assert len(encoded) > SURELY_SMALL and summary is not None
    assert summary.frames == histogram.get_total_count()
