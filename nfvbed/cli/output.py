"""What the command line prints to, where its reader may go away (`| head`): that ends output, not the work."""

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Pipe(io.FileIO):
    """A pipe whose writer goes on when the reader has gone: what it writes from then on is thrown away."""

    def write(self, content: "ReadableBuffer", /) -> int:
        """Write some of it; return how many bytes were taken."""
        try:
            return super().write(content)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(content).nbytes


def outlive_readers() -> None:
    """Let standard output and error of this process go on when their reader has gone.

    Without this the first line after `| head` has ended raises an error in the middle of a run: rich ends the program
    then, and click does.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not getattr(sys, f"__{name}__") or not isinstance(stream, io.TextIOWrapper):
            continue  # a test's, or none at all
        stream.flush()
        raw = io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False))
        pipe = io.TextIOWrapper(
            raw,
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering or name == "stderr",
            write_through=stream.write_through,
        )
        setattr(sys, name, pipe)
