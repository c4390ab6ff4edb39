"""Server-sent events: parts of pages as they are now, sent between trials alone.

While a trial is going the server sends nothing and reads nothing: each connection looks a few times a second whether
one is, which costs microseconds.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from nfvbed.errors import BusyError
from nfvbed.quiet import trial_is_going

LOOK_S: Final = 0.7
"""Between two looks whether a trial is going, or something has changed."""
MOST: Final = 16
"""Connections; each is a task of the server."""
ALIVE_S: Final = 20.0
"""After so long without an event a comment says that the server is there; not during a trial either."""

Part = Callable[[], tuple[str, bool]]
"""Returns a part of a page as HTML, and whether it is the last one: what it shows has ended."""


class Streams:
    """The connections of one server."""

    def __init__(self, is_going: Callable[[], bool] = trial_is_going, look_s: float = LOOK_S) -> None:
        self._open = 0
        self._is_going = is_going
        self._look_s = look_s

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
            shown, silent_s = "", 0.0
            while True:
                if not self._is_going():
                    if await request.is_disconnected():
                        return
                    html, last = await anyio.to_thread.run_sync(part)
                    # A trial may have begun while that was read.
                    if not self._is_going():
                        if html != shown:
                            shown, silent_s = html, 0.0
                            yield f"event: part\ndata: {json.dumps(html)}\n\n"
                        elif silent_s >= ALIVE_S:
                            silent_s = 0.0
                            yield ": here\n\n"
                        if last:
                            yield "event: end\ndata: {}\n\n"
                            return
                await asyncio.sleep(self._look_s)
                silent_s += self._look_s
        finally:
            self._open -= 1
