"""What the command line prints to: names that others chose, and what other programs print, control no terminal.

And its reader may go away (`| head`): that ends output, not the work.
"""

import io
import os
import sys
from typing import IO, TYPE_CHECKING, Final, cast

from nfvbed.characters import shown

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Pipe(io.FileIO):
    """A pipe whose writer goes on when the reader has gone: what it writes from then on is thrown away."""

    def write(self, content: "ReadableBuffer", /) -> int:
        """Write some of it; return how many bytes were taken."""
        try:
            return super().write(content)
        except BrokenPipeError:
            _throw_away(self.fileno())
            return memoryview(content).nbytes


def _throw_away(file: int) -> None:
    """Have what is written to a file from now on go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(nowhere, file)
    os.close(nowhere)


BEGINNING: Final = "\r"
"""Written for itself it leads to the beginning of a line that is written again."""


class EscapedStream(io.TextIOWrapper):
    """Writes escapes for what would control a terminal, to files too, which are shown on one later.

    The escapes are JSON's, and such characters are in texts alone there: what JSON says stays the same.
    """

    def write(self, text: str, /) -> int:
        """Write a text; return its length."""
        super().write(text if text == BEGINNING else shown(text))
        return len(text)

    @property
    def styled(self) -> IO[str]:
        """The same stream for who has looked at the text and adds styles."""
        return cast("IO[str]", _StyledStream(self))


class _StyledStream:
    """A stream of which only writing differs."""

    def __init__(self, stream: EscapedStream) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str, /) -> int:
        """Write a text as it is."""
        return io.TextIOWrapper.write(self._stream, text)


def guard_output() -> None:
    """Let standard output and error of this process show escapes, and go on when their reader has gone.

    Without this the first line after `| head` has ended raises an error in the middle of a run: rich ends the program
    then, and click does.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not getattr(sys, f"__{name}__") or not isinstance(stream, io.TextIOWrapper):
            continue  # a test's, or none at all
        stream.flush()
        raw = io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False))
        pipe = EscapedStream(
            raw,
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering or name == "stderr",
            write_through=stream.write_through,
        )
        setattr(sys, name, pipe)


def drop_unwritten() -> None:
    """Throw away what standard output holds and cannot write: else Python tries it at its end, and exits with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        _throw_away(sys.stdout.fileno())
