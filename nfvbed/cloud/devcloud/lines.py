"""Lines for the stages of a start, on standard error."""

import sys
import threading
import time

from nfvbed.cloud.devcloud.stages import Stage

SILENCE_S = 30.0
"""Without a terminal: after so long the line of a stage gets its seconds once more."""


class StageLines:
    """A line for each stage, on which its seconds are counted while it runs: without a terminal each half minute.

    Args:
        skipped: whether stages that are already done get a line too.
        silence_s: the longest time without a word, where there is no terminal.
    """

    def __init__(self, *, skipped: bool = False, silence_s: float = SILENCE_S) -> None:
        self._skipped = skipped
        self._silence_s = silence_s
        self._ended = threading.Event()
        self._counter: threading.Thread | None = None
        self._line = ""

    def begin(self, number: int, total: int, stage: Stage) -> None:
        """Write which stage begins."""
        self._line = f"[{number:2}/{total}] {stage.name:15} {stage.summary} ... "
        print(self._line, end="", file=sys.stderr, flush=True)
        self._ended.clear()
        count = self._count if sys.stderr.isatty() else self._count_on
        self._counter = threading.Thread(target=count, args=(time.monotonic(),), daemon=True)
        self._counter.start()

    def end(self, stage: Stage, seconds: float, outcome: str) -> None:
        """Write how long it took."""
        self._close(f"{seconds:.0f} s" + (f" ({outcome})" if outcome else ""))

    def skip(self, number: int, total: int, stage: Stage) -> None:
        """Write, where that is wanted, that it is already done."""
        if self._skipped:
            print(f"[{number:2}/{total}] {stage.name:15} done already", file=sys.stderr, flush=True)

    def fail(self, stage: Stage, seconds: float) -> None:
        """Write that it failed; the error follows."""
        self._close(f"failed after {seconds:.0f} s")

    def _count(self, started: float) -> None:
        while not self._ended.wait(1.0):
            self._write_again(f"{time.monotonic() - started:.0f} s")

    def _count_on(self, started: float) -> None:
        while not self._ended.wait(self._silence_s):
            print(f"{time.monotonic() - started:.0f} s ... ", end="", file=sys.stderr, flush=True)

    def _close(self, text: str) -> None:
        if self._counter is not None:
            self._ended.set()
            self._counter.join()
            self._counter = None
        if sys.stderr.isatty():
            self._write_again(text)
            text = ""
        print(text, file=sys.stderr, flush=True)

    def _write_again(self, text: str) -> None:
        print("\r", end="", file=sys.stderr)  # for itself: within a text it would be shown as an escape
        print(f"{self._line}{text}", end="", file=sys.stderr, flush=True)
