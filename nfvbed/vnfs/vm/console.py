"""The guest's console: its output, and the wait for its mark."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import OnboardError
from nfvbed.vnfs.vm.startwait import StartWait

_LOOK_S = 0.05
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f]")
"""What a loader or a login sends to a terminal: colours, cursor, carriage returns."""


@dataclass(frozen=True)
class Console:
    """The log that QEMU keeps of the first serial port."""

    log: Path

    def text(self) -> str:
        """Return all output, without what only a terminal understands."""
        try:
            return _CONTROL.sub("", self.log.read_text(errors="replace"))
        except FileNotFoundError:
            return ""

    def last_written_ns(self) -> int:
        """When it last printed, in ns since the epoch: the mark is the last line of a boot.

        A guest may have been up for a while before it is looked at, as those of a chain are waited for in turn.
        """
        try:
            return self.log.stat().st_mtime_ns
        except FileNotFoundError:
            return time.time_ns()

    def tail(self, lines: int = 8) -> str:
        """Return the last lines that are not empty."""
        reported = [line.rstrip() for line in self.text().splitlines() if line.strip()]
        return "\n".join(reported[-lines:])

    def wait_for(self, marker: str, failed: str, wait: StartWait, alive: Callable[[], None]) -> str:
        """Wait until the guest has printed a line with the mark, and return that line.

        Args:
            marker: printed when the guest is up.
            failed: printed when it gives up; empty: it prints nothing then.
            alive: raises when QEMU has ended.

        Raises:
            OnboardError: it did not in time, or it gave up; with its last lines.
        """
        while True:
            for line in self.text().splitlines():
                if marker in line:
                    return line.strip()
                if failed and failed in line:
                    raise OnboardError("the guest gave up", where=str(self.log), observed=line.strip())
            alive()
            if wait.is_over:
                said, kept_s = self.tail(), wait.kept_s
                more = f", and {kept_s:.0f} s more in which it had no core" if kept_s >= 1 else ""
                raise OnboardError(
                    f"the guest did not boot within {wait.within_s:g} s{more}",
                    where=str(self.log),
                    observed=f"its last lines:\n{said}" if said else "not a byte on its console",
                    fix="see what else runs on the host, and on the guest's cores"
                    if kept_s > wait.within_s
                    else f"it must print {marker!r} on its first serial port; raise readiness.timeout_s if slow",
                )
            time.sleep(_LOOK_S)
