"""nfvgen's buckets are HdrHistogram's: nothing is rounded on the way into the store."""

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.traffic.latency import encode_latency


def bucket_value(index: int) -> int:
    """Return the lower end of nfvgen's bucket: 2,048 of 1 ns, then 1,024 for every doubling."""
    if index < 2048:
        return index
    shift = index // 1024 - 1
    return (index - shift * 1024) << shift


def test_every_bucket_comes_back_as_it_went_in() -> None:
    buckets = [(bucket_value(i), i % 7 + 1) for i in range(0, 26_600, 13)]
    encoded = encode_latency(buckets)
    assert encoded is not None
    histogram = HdrHistogram.decode(encoded)
    seen = [
        (histogram.get_lowest_equivalent_value(step.value_iterated_to), step.count_added_in_this_iter_step)
        for step in histogram.get_recorded_iterator()
    ]
    assert seen == buckets


def test_nothing_counted_is_none_and_not_an_empty_histogram() -> None:
    assert encode_latency([]) is None
    assert encode_latency([(900, 0)]) is None


def test_a_value_beyond_the_last_bucket_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        encode_latency([(80_000_000_000, 1)])


def test_a_bucket_that_is_named_twice_is_added_up() -> None:
    encoded = encode_latency([(7, 1), (7, 2), (5, 3), (9, 1)])
    assert encoded is not None
    histogram = HdrHistogram.decode(encoded)
    assert [histogram.get_count_at_value(value) for value in (5, 7, 9)] == [3, 3, 1]
    twice = encode_latency([(7, 1), (7, 2)])
    assert twice is not None
    assert HdrHistogram.decode(twice).get_total_count() == 3
