"""Shows the deployment of a rack: on a terminal where it is now, elsewhere a line a stage and one each half minute."""

import threading
import time

from rich.markup import escape
from rich.status import Status

from nfvbed.cli.console import Console
from nfvbed.sites.stages import Observer, Position

SILENCE_S = 30.0
"""Without a terminal: after so long without a line, one says where it is."""
_TICK_S = 0.5


class RackProgress(Observer):
    """Lines on standard error.

    Args:
        silence_s: the longest time without a line.
    """

    def __init__(self, console: Console, silence_s: float = SILENCE_S) -> None:
        self._console = console
        self._silence_s = silence_s
        self._stage = ""
        self._position = Position()
        self._started = self._said = 0.0
        self._status: Status | None = None
        self._ended = threading.Event()
        self._ticker: threading.Thread | None = None

    def say(self, line: str) -> None:
        """Show a line that stays."""
        self._said = time.monotonic()
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def begin(self, number: int, total: int, name: str, summary: str) -> None:
        """Say which stage begins, and show from now on where it is."""
        self._stage, self._position = f"[{number}/{total}] {name}", Position()
        self._started = time.monotonic()
        self.say(f"{self._stage}: {summary}")
        if self._console.is_terminal:
            self._status = self._console.status(escape(self._where()))
            self._status.start()
        self._ended.clear()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()

    def at(self, position: Position) -> None:
        """Remember where the stage is."""
        self._position = position

    def end(self, outcome: str, seconds: float) -> None:
        """Say how the stage went."""
        if self._ticker is not None:
            self._ended.set()
            self._ticker.join()
            self._ticker = None
        if self._status is not None:
            self._status.stop()
            self._status = None
        self.say(f"{self._stage}: {outcome} after {seconds:.0f} s")

    def _tick(self) -> None:
        while not self._ended.wait(_TICK_S):
            if self._status is not None:
                self._status.update(escape(self._where()))
            elif time.monotonic() - self._said >= self._silence_s:
                self.say(self._where())

    def _where(self) -> str:
        return f"{self._stage}, {time.monotonic() - self._started:.0f} s: {self._position or 'starting'}"
