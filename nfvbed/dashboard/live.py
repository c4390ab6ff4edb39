"""Server-sent events: parts of pages as they are now, sent between trials alone.

While a trial is running the server sends nothing and reads nothing: each connection looks twice a second whether one
still is, which costs microseconds. The time between two trials may be shorter than reading takes; what was read then is
sent at the next such time, so a page is late by a trial and two seconds at most.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nfvbed.dashboard.access.slots import Slots
from nfvbed.dashboard.people.roles import current
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.host.workspace.trialsign import trial_is_going

LOOK_S: Final = 0.7
"""Time between two looks whether something has changed."""
FRESH_S: Final = 2.0
"""How often a part is read at most, for all who follow it: the time between two trials may end while it is."""
GOING_S: Final = 0.5
"""Time between two looks whether a trial is still going."""
MOST: Final = 24
"""Connections at once; each is a task of the server."""
OF_OPERATORS: Final = 8
"""Connections that are kept for operators, which viewers never take."""
OF_CLIENT: Final = 8
"""Connections of one client."""
READING: Final = 8
"""Threads that read parts, beside those of other requests."""
ALIVE_S: Final = 20.0
"""After so long without an event a comment says that the server is there; not during a trial either."""
LINE_END: Final = "\n"

Part = Callable[[], tuple[str, bool]]
"""Returns a part of a page as HTML, and whether it is the last one: what it shows has ended."""


class _PlacedEvents(EventSourceResponse):
    """Events that have a place, which they give back whether or not any was sent."""

    def __init__(self, events: AsyncIterator[ServerSentEvent], give_back: Callable[[], None]) -> None:
        # The library's own signs of life would be sent during trials too.
        super().__init__(events, ping=0, sep=LINE_END)
        self._give_back = give_back

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, and give the place back at the end."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._give_back()


class Streams:
    """The connections of one server."""

    def __init__(
        self,
        is_going: Callable[[], bool] = trial_is_going,
        look_s: float = LOOK_S,
        going_s: float = GOING_S,
        fresh_s: float = FRESH_S,
    ) -> None:
        self._places = Slots(MOST, OF_OPERATORS, OF_CLIENT, "pages that follow what runs")
        self._is_going = is_going
        self._look_s = look_s
        self._going_s = going_s
        self._reading = anyio.CapacityLimiter(READING)
        self._shared: SharedReadings[tuple[str, bool]] = SharedReadings("a page", fresh_s)

    def follow(self, request: Request, part: Part) -> Response:
        """Return the events of a part: `part` whenever it changes, `end` after the last one.

        The connection's place is taken here, before anything is sent.

        Raises:
            BusyError: there are too many connections.
        """
        asker = current()
        give_back = self._places.take(asker.place, operates=asker.operates)
        return _PlacedEvents(self._events(request, part), give_back)

    async def _events(self, request: Request, part: Part) -> AsyncIterator[ServerSentEvent]:
        asker, shown, sent_at = current(), "", time.monotonic()
        read: tuple[str, bool] | None = None
        while asker.may_go_on():
            if not (going := self._is_going()):
                if read is None:
                    read = await anyio.to_thread.run_sync(
                        self._shared.read, request.url.path, part, limiter=self._reading
                    )
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


def _events_of(html: str, shown: str, last: bool, silent_s: float) -> Iterator[ServerSentEvent]:
    if html != shown:
        yield ServerSentEvent(json.dumps(html), event="part", sep=LINE_END)
    elif silent_s >= ALIVE_S:
        yield ServerSentEvent(comment="here", sep=LINE_END)
    if last:
        yield ServerSentEvent("{}", event="end", sep=LINE_END)
