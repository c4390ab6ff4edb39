"""Draws figures in a process of its own; if that dies, only the picture that it drew is lost.

The process is started once and serves all drawings; the first picture of a process costs half a second more than the
next. It ends with this one, however that ends, and after a while without drawings.
"""

import atexit
import json
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

from nfvbed.characters import drawable, shown
from nfvbed.errors import DrawingError
from nfvbed.patience import patient

IDLE_S: Final = 300.0
"""Without drawings, after which the process ends."""
LONGEST_S: Final = patient(30.0)
"""Bound of one drawing."""
_END_S: Final = 2.0
_LENGTH: Final = struct.Struct(">I")
"""Before each request and answer, as the program has it."""
_CHUNK: Final = 1 << 20
_SHOWN: Final = 300
"""Characters of what the process printed that a message repeats."""


class _EndedError(Exception):
    """The process ended, or was ended, before it answered."""

    def __init__(self, observed: str, *, idle: bool = False) -> None:
        super().__init__(observed)
        self.idle = idle
        """Whether it ended by itself, as it had nothing to do."""


class DrawingProcess:
    """One process that draws, started when it is needed and again after it died; may be called from several threads.

    Args:
        program: its command line; for tests.
        longest_s: the longest time of one drawing.
    """

    def __init__(self, program: Sequence[str] = (), longest_s: float = LONGEST_S) -> None:
        source = str(Path(__file__).with_name("drawing_program.py"))
        # -P: the folder that nfvbed is called in has no say in what is imported.
        self._program = [*(program or (sys.executable, "-P", source)), str(IDLE_S), str(longest_s + _END_S)]
        self._longest_s = longest_s
        self._one_at_a_time = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._printed: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Id of the process; None while there is none."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def begin(self) -> None:
        """Start the process, if it is not there, so that it is ready when something is to be drawn."""
        with self._one_at_a_time:
            self._started()

    def svg(self, spec: dict[str, Any]) -> bytes:
        """Draw a Vega-Lite specification.

        Raises:
            DrawingError: the figure cannot be drawn, or the process died or took too long.
        """
        return self._draw({"svg": drawable(spec)})

    def png(self, spec: dict[str, Any], scale: float) -> bytes:
        """Draw a Vega-Lite specification as points.

        Raises:
            DrawingError: as `svg`.
        """
        return self._draw({"png": drawable(spec), "scale": scale})

    def bundle(self, snippet: str) -> str:
        """Return the libraries that draw in a browser, with what makes them known there.

        Raises:
            DrawingError: as `svg`.
        """
        return self._draw({"bundle": snippet}).decode()

    def end(self) -> None:
        """End the process, if there is one."""
        with self._one_at_a_time:
            self._end()

    def _draw(self, request: dict[str, Any]) -> bytes:
        with self._one_at_a_time:
            try:
                answer = self._answered(request)
            except _EndedError as failure:
                raise DrawingError(
                    "a figure could not be drawn: the process that draws ended",
                    observed=str(failure),
                    fix="its numbers are in the tables; draw it again where the process was killed",
                ) from failure
        if answer[:1] == b"+":
            return answer[1:]
        raise DrawingError(
            "a figure could not be drawn",
            observed=_short(answer[1:]),
            fix="its numbers are in the tables; this is a fault of nfvbed",
        )

    def _answered(self, request: dict[str, Any]) -> bytes:
        content = json.dumps(request).encode()
        message = _LENGTH.pack(len(content)) + content
        try:
            return self._exchange(self._started(), message)
        except _EndedError as failure:
            self._end()
            if not failure.idle:
                raise
        except BaseException:  # an interrupt: what is answered later is of no request
            self._end()
            raise
        return self._exchange(self._started(), message)

    def _started(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._channel is None:
            self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
            self._channel, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    self._program,
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=self._printed,
                    start_new_session=True,  # Ctrl-C is for nfvbed
                )
        return self._channel

    def _exchange(self, channel: socket.socket, message: bytes) -> bytes:
        """Send a request and return its answer.

        Raises:
            _EndedError: no answer came.
        """
        until = time.monotonic() + self._longest_s
        self._forget_what_it_printed()
        try:
            channel.settimeout(self._longest_s)
            channel.sendall(message)
            length = _LENGTH.unpack(_received(channel, _LENGTH.size, until))[0]
            return _received(channel, length, until)
        except TimeoutError as failure:
            raise _EndedError(f"nothing was drawn within {self._longest_s:g} s") from failure
        except (OSError, EOFError) as failure:
            raise self._ended() from failure

    def _forget_what_it_printed(self) -> None:
        assert self._printed is not None
        self._printed.seek(0)  # both processes write where the other one was
        self._printed.truncate()

    def _ended(self) -> _EndedError:
        """Return how the process ended by itself."""
        assert self._process is not None and self._printed is not None
        code = self._process.wait(_END_S)
        self._printed.seek(0)
        said = _short(self._printed.read())
        how = f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"
        return _EndedError(f"{how}; it printed: {said}" if said else how, idle=code == 0)

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._printed is not None:
            self._printed.close()
        self._process = self._channel = self._printed = None


def _received(channel: socket.socket, count: int, until: float) -> bytes:
    """Return exactly so many bytes from a socket.

    Raises:
        TimeoutError, EOFError, OSError: they do not come in time.
    """
    found = bytearray()
    while len(found) < count:
        if (left := until - time.monotonic()) <= 0:
            raise TimeoutError
        channel.settimeout(left)
        part = channel.recv(min(count - len(found), _CHUNK))
        if not part:
            raise EOFError
        found += part
    return bytes(found)


def _short(printed: bytes) -> str:
    """Return the beginning of what a process printed, in one line; of a crash it is what says why."""
    text = shown(" ".join(printed.decode(errors="replace").split()))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


DRAWING: Final = DrawingProcess()
"""The one of this process."""
atexit.register(DRAWING.end)
