"""The conversation with nfvgen: one JSON document a line each way, every wait bounded, every answer checked."""

import json
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nfvbed.errors import GeneratorError
from nfvbed.traffic.nfvgen_protocol import SCHEMA, Answer

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Two full latency histograms are about 1 MB; far more than this is not an answer."""


class ChannelClosed(GeneratorError):
    """The generator closed the connection: it ended, or another client holds it."""


class ChannelSilent(GeneratorError):
    """The generator did not answer in time: it is starved, or a connection over a network is dead."""


def connect(path: Path, timeout_s: float = 5.0) -> "NfvgenChannel":
    """Connect to the Unix socket of a generator on this machine.

    Raises:
        OSError: nothing answers there.
    """
    reached = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    reached.settimeout(timeout_s)
    try:
        reached.connect(str(path))
    except OSError:
        reached.close()
        raise
    return NfvgenChannel(reached, str(path))


class NfvgenChannel:
    """One connection to nfvgen. Not thread-safe; after an error it is not used again.

    Args:
        connected: a stream socket to nfvgen.
        where: its place, for messages.
        closing: files and processes that end with the connection.
    """

    def __init__(self, connected: socket.socket, where: str, closing: Callable[[], None] | None = None) -> None:
        self._where = where
        self._buffer = bytearray()
        self._next_id = 1
        self._socket = connected
        self._closing = closing

    def request(self, command: str, timeout_s: float, **keys: Any) -> Answer:
        """Send one request and return its answer, refused or not.

        Raises:
            ChannelClosed: the connection ended.
            ChannelSilent: no answer in time.
            GeneratorError: an answer that the protocol does not allow.
        """
        identifier = self._next_id
        self._next_id += 1
        document = {"schema": SCHEMA, "id": identifier, "command": command, **keys}
        try:
            self._socket.settimeout(timeout_s)
            self._socket.sendall(json.dumps(document).encode() + b"\n")
        except TimeoutError as error:
            raise ChannelSilent(f"nfvgen does not read its requests ({command})", where=self._where) from error
        except OSError as error:
            raise ChannelClosed("nfvgen closed the connection", where=self._where, observed=str(error)) from error
        answer = self._parse(self._read_line(command, timeout_s), command)
        if answer.id != identifier:
            raise GeneratorError(
                f"nfvgen answered another request than {command}",
                where=self._where,
                observed=f"id {answer.id} instead of {identifier}",
            )
        return answer

    def wait_closed(self, timeout_s: float) -> bool:
        """Sleep without using the CPU; return True, early, when the generator sends or closes."""
        ready, _, _ = select.select([self._socket], [], [], max(timeout_s, 0))
        return bool(ready)

    def close(self) -> None:
        """Close the connection; the generator goes on."""
        self._socket.close()
        if self._closing is not None:
            self._closing()

    def _read_line(self, command: str, timeout_s: float) -> bytes:
        deadline = time.monotonic() + timeout_s
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_LINE_BYTES:
                raise GeneratorError("nfvgen sent a line without an end", where=self._where)
            left = deadline - time.monotonic()
            try:
                self._socket.settimeout(max(left, 0.001))
                chunk = self._socket.recv(262_144)
            except TimeoutError as error:
                raise ChannelSilent(
                    f"nfvgen did not answer {command} within {timeout_s:g} s",
                    where=self._where,
                    fix="look at its log; a core that is shared with another poller starves it",
                ) from error
            except OSError as error:
                raise ChannelClosed("nfvgen closed the connection", where=self._where, observed=str(error)) from error
            if not chunk:
                raise ChannelClosed("nfvgen closed the connection", where=self._where, observed=f"while {command}")
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _parse(self, line: bytes, command: str) -> Answer:
        try:
            document = json.loads(line)
        except ValueError as error:
            raise GeneratorError(
                f"nfvgen's answer to {command} is not JSON", where=self._where, observed=_shortened(line)
            ) from error
        schema = document.get("schema") if isinstance(document, dict) else None
        if schema != SCHEMA:
            raise GeneratorError(
                f"nfvgen speaks another protocol than {SCHEMA}",
                where=self._where,
                observed=f"schema {schema!r}",
                fix="build the generator of this version of nfvbed",
            )
        try:
            return Answer.model_validate(document)
        except ValidationError as error:
            raise unexpected_answer(command, error, self._where) from error


def unexpected_answer(command: str, error: ValidationError, where: str) -> GeneratorError:
    """Return the error for an answer that the protocol does not allow, in one line."""
    faults = "; ".join(f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in error.errors()[:3])
    return GeneratorError(
        f"nfvgen's answer to {command} does not follow {SCHEMA}",
        where=where,
        observed=faults,
        fix="build the generator of this version of nfvbed",
    )


def _shortened(line: bytes) -> str:
    text = line[:120].decode("utf-8", "replace")
    return repr(text + ("..." if len(line) > 120 else ""))
