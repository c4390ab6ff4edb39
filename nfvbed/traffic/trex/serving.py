"""Answers `nfvgen/1` (docs/reference/nfvgen-protocol.md) on a Unix socket: one client, one document a line."""

import contextlib
import json
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SCHEMA = "nfvgen/1"
MAX_LINE_BYTES = 1024 * 1024
Command = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes the keys of a request, and returns its result."""


class RequestRefused(Exception):
    """A refused request.

    Args:
        code: error code of the protocol.
        field: refused key of the message.
        limit: what would fit.
    """

    def __init__(self, code: str, message: str, field: str | None = None, limit: Any = None) -> None:
        super().__init__(message)
        self.body = {"code": code, "message": message, "field": field, "limit": limit}


class Server:
    """Listens, and answers until asked to quit.

    Args:
        path: path of the socket, which is made with mode 0600.
        commands: by their names; `quit` is the server's own.
    """

    def __init__(self, path: Path, commands: Mapping[str, Command]) -> None:
        self._commands = commands
        self._going = True
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        path.chmod(0o600)
        self._listener.listen(1)

    def serve(self) -> None:
        """Answer clients one after the other; a closed connection does not end what it has started."""
        with self._listener:
            while self._going:
                connected, _ = self._listener.accept()
                # A client that is gone comes back on another connection.
                with connected, contextlib.suppress(OSError):
                    self._answer_all(connected)

    def _answer_all(self, connected: socket.socket) -> None:
        with connected.makefile("rb") as lines:
            while self._going:
                line = lines.readline(MAX_LINE_BYTES + 1)
                if not line or len(line) > MAX_LINE_BYTES:
                    return
                if line.strip():
                    connected.sendall(json.dumps(self.answer(line)).encode() + b"\n")

    def answer(self, line: bytes) -> dict[str, Any]:
        """Return the answer to one request, whatever it is."""
        identifier = None
        try:
            document = _document(line)
            identifier = document.pop("id")
            command = document.pop("command", None)
            if command == "quit":
                self._going = False
                return _answered(identifier, {})
            if not isinstance(command, str) or command not in self._commands:
                raise RequestRefused("bad-request", f"there is no command {command!r}", "command")
            return _answered(identifier, self._commands[command](document))
        except RequestRefused as refused:
            return {"schema": SCHEMA, "id": identifier, "ok": False, "error": refused.body}


def _document(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise RequestRefused("bad-request", f"not JSON: {error}") from error
    if not isinstance(document, dict) or document.pop("schema", None) != SCHEMA:
        raise RequestRefused("bad-request", f"schema is not {SCHEMA}", "schema")
    if not isinstance(document.get("id"), int):
        raise RequestRefused("bad-request", "id is no number", "id")
    return document


def _answered(identifier: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"schema": SCHEMA, "id": identifier, "ok": True, "result": result}
