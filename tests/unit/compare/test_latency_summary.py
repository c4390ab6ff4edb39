"""Merging latency histograms."""

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.compare.latency import by_direction, merge_latency


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


def test_nothing_counted_is_nothing():
    assert merge_latency([]) is None
    assert by_direction([(None, None), (None, None)]) == (None, None)
    assert by_direction([]) == ()


def test_directions_stay_apart():
    first, second = by_direction([(encoded(10, 5), encoded(99, 7)), (encoded(10, 5), None)])
    assert first is not None and second is not None
    assert (first.frames, second.frames) == (10, 7)


def test_rubbish_is_named():
    with pytest.raises(ValueError, match="HdrHistogram"):
        merge_latency(["rubbish"])
