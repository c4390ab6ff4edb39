"""Server-sent events: parts of pages as they are now, sent between trials alone.

While a trial is going the server sends nothing and reads nothing: each connection looks twice a second whether one
still is, which costs microseconds. The time between two trials may be shorter than reading takes; what was read then is
sent at the next such time, so a page is late by a trial and two seconds at most.
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from nfvbed.errors import BusyError
from nfvbed.host.trialsign import trial_is_going

LOOK_S: Final = 0.7
"""Between two looks whether something has changed."""
FRESH_S: Final = 2.0
"""How often a part is read at most, for all who follow it: the time between two trials may end while it is."""
GOING_S: Final = 0.5
"""Between two looks whether a trial is still going."""
MOST: Final = 16
"""Connections; each is a task of the server."""
ALIVE_S: Final = 20.0
"""After so long without an event a comment says that the server is there; not during a trial either."""

Part = Callable[[], tuple[str, bool]]
"""Returns a part of a page as HTML, and whether it is the last one: what it shows has ended."""


class _Shared:
    """Parts that several connections show: each is read once for all of them."""

    def __init__(self, fresh_s: float) -> None:
        self._fresh_s = fresh_s
        self._known: dict[str, tuple[float, tuple[str, bool]]] = {}
        self._one_at_a_time = threading.Lock()

    def read(self, name: str, part: Part) -> tuple[str, bool]:
        """Return a part; one that was read a moment ago is not read again."""
        with self._one_at_a_time:
            known = {key: kept for key, kept in self._known.items() if time.monotonic() - kept[0] < self._fresh_s}
            if name not in known:
                known[name] = time.monotonic(), part()
            self._known = known
            return known[name][1]


class Streams:
    """The connections of one server."""

    def __init__(
        self,
        is_going: Callable[[], bool] = trial_is_going,
        look_s: float = LOOK_S,
        going_s: float = GOING_S,
        fresh_s: float = FRESH_S,
    ) -> None:
        self._open = 0
        self._is_going = is_going
        self._look_s = look_s
        self._going_s = going_s
        self._shared = _Shared(fresh_s)

    def follow(self, request: Request, part: Part) -> Response:
        """Return the events of a part: `part` whenever it changes, `end` after the last one.

        Raises:
            BusyError: too many connections.
        """
        if self._open >= MOST:
            raise BusyError(
                f"at most {MOST} pages are followed at once", fix="close some, or load the page again later"
            )
        return StreamingResponse(self._events(request, part), media_type="text/event-stream")

    async def _events(self, request: Request, part: Part) -> AsyncIterator[str]:
        self._open += 1
        try:
            shown, sent_at = "", time.monotonic()
            read: tuple[str, bool] | None = None
            while True:
                if not (going := self._is_going()):
                    if await request.is_disconnected():
                        return
                    if read is None:
                        read = await anyio.to_thread.run_sync(self._shared.read, request.url.path, part)
                        # Where a trial has begun while it was read, it is sent after that trial.
                        going = self._is_going()
                    if not going:
                        (html, last), read = read, None
                        for event in _events_of(html, shown, last, time.monotonic() - sent_at):
                            sent_at = time.monotonic()
                            yield event
                        shown = html
                        if last:
                            return
                await asyncio.sleep(self._going_s if going else self._look_s)
        finally:
            self._open -= 1


def _events_of(html: str, shown: str, last: bool, silent_s: float) -> Iterator[str]:
    if html != shown:
        yield f"event: part\ndata: {json.dumps(html)}\n\n"
    elif silent_s >= ALIVE_S:
        yield ": here\n\n"
    if last:
        yield "event: end\ndata: {}\n\n"
