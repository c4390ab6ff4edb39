"""Measures with nfvgen for the plug-in inside VSPERF: one line of JSON is a request, one line the answer."""

import json
import select
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from nfvbed.errors import ConfigurationError, NfvbedError

POLL_S: Final = 0.2
MAX_REQUEST_BYTES: Final = 1_000_000
REQUEST_PATIENCE_S: Final = 5.0
Handler = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Takes a command with its keys and returns the result."""


class PluginService:
    """A Unix socket for the plug-in's requests; all work is done in the thread that calls `serve`.

    nfvgen is tied to the thread that started it, so no other thread may serve.
    """

    def __init__(self, path: Path, handler: Handler) -> None:
        self._handler = handler
        self.failure: NfvbedError | None = None
        """The first request that failed, failed with it."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen()

    def serve(self, goes_on: Callable[[], bool]) -> None:
        """Answer requests in order, as long as VSPERF runs."""
        while goes_on():
            ready, _, _ = select.select([self._socket], [], [], POLL_S)
            if ready:
                connection, _ = self._socket.accept()
                with connection:
                    self._answer(connection)

    def close(self) -> None:
        """Close the socket; idempotent."""
        self._socket.close()

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(REQUEST_PATIENCE_S)
        try:
            answer: dict[str, Any] = {"result": dict(self._result(connection))}
        except NfvbedError as error:
            self.failure = self.failure or error
            answer = {"error": " ".join(str(error).split())}
        try:
            connection.sendall(json.dumps(answer).encode() + b"\n")
        except OSError:
            # VSPERF ended meanwhile; how it ended is what the driver looks at.
            return

    def _result(self, connection: socket.socket) -> Mapping[str, Any]:
        try:
            with connection.makefile("rb") as stream:
                line = stream.readline(MAX_REQUEST_BYTES)
            request = json.loads(line)
            command = request.pop("command")
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise ConfigurationError("this is no request of the plug-in", observed=repr(error)) from error
        return self._handler(str(command), request)
