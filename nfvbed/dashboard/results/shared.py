"""Readings that many ask for: each is made once for all who ask meanwhile, and kept for a moment."""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from nfvbed.errors import BusyError, NfvbedError

QUEUE_S: Final = 30.0
"""How long one waits for others' readings."""
KEPT: Final = 64
"""Readings."""

Value = TypeVar("Value")


@dataclass
class _CachedReading(Generic[Value]):
    at: float
    value: Value | None = None
    error: NfvbedError | None = None


@dataclass
class _Place(Generic[Value]):
    lock: threading.Lock = field(default_factory=threading.Lock)
    kept: _CachedReading[Value] | None = None


class SharedReadings(Generic[Value]):
    """Readings that those who ask share; may be asked from several threads.

    Args:
        what: what the readings are of, for the message to those who wait too long.
        fresh_s: how long a reading, or its failure, answers those who ask again; a `BusyError` is of its moment alone.
        queue_s: how long those who ask wait for a reading that is being made for another.
        most: how many readings are kept.
    """

    def __init__(self, what: str, fresh_s: float, queue_s: float = QUEUE_S, most: int = KEPT) -> None:
        self._what = what
        self._fresh_s = fresh_s
        self._queue_s = queue_s
        self._most = most
        self._places: dict[Hashable, _Place[Value]] = {}
        self._one_at_a_time = threading.Lock()

    def read(self, key: Hashable, make: Callable[[], Value], fresh_s: float | None = None) -> Value:
        """Return a reading; one that was made a moment ago is not made again.

        Args:
            key: what the reading is of.
            fresh_s: how old a reading may be here; None: as in all others.

        Raises:
            NfvbedError: what making it failed with, or did a moment ago.
            BusyError: others' readings take too long.
        """
        place = self._place(key)
        if not place.lock.acquire(timeout=self._queue_s):
            raise BusyError(
                f"{self._what} is being read for others",
                observed=f"for more than {self._queue_s:g} s",
                fix="load the page again",
            )
        try:
            kept = place.kept
            if kept is None or time.monotonic() - kept.at >= (self._fresh_s if fresh_s is None else fresh_s):
                kept = place.kept = _made(make)
        finally:
            place.lock.release()
        return _value_of(kept)

    def newest(self, key: Hashable) -> Value | None:
        """Return the newest reading, however old; None where there is none.

        Raises:
            NfvbedError: what making it failed with.
        """
        with self._one_at_a_time:
            place = self._places.get(key)
        return None if place is None or place.kept is None else _value_of(place.kept)

    def keep(self, key: Hashable, value: Value) -> None:
        """Take a reading that was made otherwise."""
        self._place(key).kept = _CachedReading(time.monotonic(), value)

    def _place(self, key: Hashable) -> _Place[Value]:
        with self._one_at_a_time:
            found = self._places.pop(key, None) or _Place()
            self._places[key] = found
            idle = [known for known, place in self._places.items() if not place.lock.locked() and known != key]
            for known in idle[: max(0, len(self._places) - self._most)]:
                del self._places[known]
            return found


def _value_of(kept: _CachedReading[Value]) -> Value:
    if kept.error is not None:
        raise kept.error.with_traceback(None)  # It is raised for many, and would grow.
    assert kept.value is not None
    return kept.value


def _made(make: Callable[[], Value]) -> _CachedReading[Value]:
    try:
        value = make()
    except BusyError:
        raise
    except NfvbedError as error:
        return _CachedReading(time.monotonic(), error=error)
    return _CachedReading(time.monotonic(), value)
