"""The kernel's trace ring buffer as `trace_pipe_raw` gives it: pages of events with times in ns.

Layout: `events/header_page` and `events/header_event` of tracefs, and include/linux/ring_buffer.h (`struct
ring_buffer_event`, enum `ring_buffer_type`). It has been so since Linux 2.6.31; byte order is the host's.
"""

import struct
import sys
from collections.abc import Iterator
from typing import NamedTuple

from nfvbed.errors import InternalError

_HEADER = struct.Struct("=QQ")
_WORD = struct.Struct("=I")
_LENGTH_MASK = (1 << 20) - 1
"""The upper bits of the second word are flags."""
_PADDING, _TIME_EXTEND, _TIME_STAMP = 29, 30, 31
_TIME_BITS = 27
_STAMP_BITS = 59
"""Bits of an absolute time stamp; the bits above are those of the time before."""


class Event(NamedTuple):
    """One record: when, and its bytes, which begin with the event's type (u16) and hold the thread id at 4 (i32)."""

    time_ns: int
    data: bytes


def events_of(page: bytes) -> Iterator[Event]:
    """Yield the events of one page.

    Raises:
        InternalError: the page is not in the form that is known.
    """
    if len(page) < _HEADER.size:
        raise InternalError("a page of the trace buffer is cut off", observed=f"{len(page)} bytes")
    time_ns, commit = _HEADER.unpack_from(page)
    place, end = _HEADER.size, _HEADER.size + (commit & _LENGTH_MASK)
    if end > len(page):
        raise InternalError("a page of the trace buffer is cut off", observed=f"{len(page)} of {end} bytes")
    while place < end:
        kind, delta = _split(_WORD.unpack_from(page, place)[0])
        place += _WORD.size
        if kind == _PADDING:
            if not delta:
                return  # the rest of the page is empty
            place += _WORD.unpack_from(page, place)[0]
        elif kind == _TIME_EXTEND:
            delta += _WORD.unpack_from(page, place)[0] << _TIME_BITS
            place += _WORD.size
        elif kind == _TIME_STAMP:
            stamp = delta + (_WORD.unpack_from(page, place)[0] << _TIME_BITS)
            time_ns = (time_ns >> _STAMP_BITS << _STAMP_BITS) | stamp
            place += _WORD.size
            continue
        else:
            start, length = _data(page, place, kind)
            yield Event(time_ns + delta, page[start : start + length])
            place = start + length
        time_ns += delta


def _split(word: int) -> tuple[int, int]:
    """Return an event's kind or length, and the ns since the one before; bit fields begin at the lower or upper end."""
    if sys.byteorder == "little":
        return word & 31, word >> 5
    return word >> _TIME_BITS, word & ((1 << _TIME_BITS) - 1)


def _data(page: bytes, place: int, kind: int) -> tuple[int, int]:
    """Return where an event's data begin, and how long they are; short ones have their length in the header."""
    if kind:
        return place, kind * _WORD.size
    return place + _WORD.size, _WORD.unpack_from(page, place)[0] - _WORD.size
