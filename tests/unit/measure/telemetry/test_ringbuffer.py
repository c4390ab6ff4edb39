"""Pages of the trace buffer, put together as the kernel does (include/linux/ring_buffer.h)."""

import struct

import pytest

from nfvbed.errors import InternalError
from nfvbed.measure.telemetry.ringbuffer import Event, events_of


def word(kind: int, delta: int) -> bytes:
    return struct.pack("<I", kind | delta << 5)


def page(*parts: bytes, time_ns: int = 1000, flags: int = 0) -> bytes:
    data = b"".join(parts)
    return struct.pack("<QQ", time_ns, len(data) | flags) + data


def test_short_events_follow_each_other_in_time():
    found = list(events_of(page(word(2, 5) + b"abcdefgh", word(1, 7) + b"ijkl")))
    assert found == [Event(1005, b"abcdefgh"), Event(1012, b"ijkl")]


def test_a_long_event_has_its_length_in_front():
    data = bytes(120)
    found = list(events_of(page(word(0, 1) + struct.pack("<I", len(data) + 4) + data, word(1, 1) + b"next")))
    assert found == [Event(1001, data), Event(1002, b"next")]


def test_a_long_pause_is_a_time_extend():
    extend = word(30, 3) + struct.pack("<I", 2)
    assert list(events_of(page(extend, word(1, 4) + b"data"))) == [Event(1000 + 3 + (2 << 27) + 4, b"data")]


def test_an_absolute_time_keeps_the_upper_bits_of_the_one_before():
    stamp = word(31, 9) + struct.pack("<I", 1)
    base = 1 << 60
    (event,) = events_of(page(stamp, word(1, 0) + b"data", time_ns=base))
    assert event.time_ns == base + (1 << 27) + 9


def test_padding_and_discarded_events_are_passed_over():
    discarded = word(29, 6) + struct.pack("<I", 8) + b"gone"
    found = list(events_of(page(discarded, word(1, 1) + b"kept", word(29, 0) + bytes(40))))
    assert found == [Event(1007, b"kept")]


def test_flags_beside_the_length_are_no_length():
    assert list(events_of(page(word(1, 1) + b"data", flags=1 << 31 | 1 << 30))) == [Event(1001, b"data")]


def test_an_empty_page():
    assert list(events_of(page())) == []


@pytest.mark.parametrize("cut", [4, 18])
def test_a_page_that_is_cut_off_is_no_empty_page(cut: int):
    with pytest.raises(InternalError, match="cut off"):
        list(events_of(page(word(2, 5) + b"abcdefgh")[:cut]))
