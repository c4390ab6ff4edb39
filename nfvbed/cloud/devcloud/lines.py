"""Lines for the stages of a start, on standard error."""

import sys
import threading
import time

from nfvbed.cloud.devcloud.stages import Stage


class StageLines:
    """A line for each stage; on a terminal its seconds are counted while it runs.

    Args:
        skipped: whether stages that are already done get a line too.
    """

    def __init__(self, *, skipped: bool = False) -> None:
        self._skipped = skipped
        self._ended = threading.Event()
        self._counter: threading.Thread | None = None
        self._line = ""

    def begin(self, number: int, total: int, stage: Stage) -> None:
        """Write which stage begins."""
        self._line = f"[{number:2}/{total}] {stage.name:15} {stage.summary} ... "
        print(self._line, end="", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            self._ended.clear()
            self._counter = threading.Thread(target=self._count, args=(time.monotonic(),), daemon=True)
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

    def _close(self, text: str) -> None:
        if self._counter is not None:
            self._ended.set()
            self._counter.join()
            self._counter = None
            self._write_again(text)
            text = ""
        print(text, file=sys.stderr, flush=True)

    def _write_again(self, text: str) -> None:
        print("\r", end="", file=sys.stderr)  # for itself: within a text it would be shown as an escape
        print(f"{self._line}{text}", end="", file=sys.stderr, flush=True)
