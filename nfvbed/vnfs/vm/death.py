"""The report on a QEMU that has ended: how, and the last lines of its log."""

import signal
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import VnfDiedError

_ITSELF = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
"""Signals by which a program ends at a fault of its own."""


@dataclass(frozen=True)
class Death:
    """The death of one guest."""

    who: str
    """The VNF's name and what it is: `vnf1 (vm, bridge)`."""
    status: int | None
    """Exit status; below 0 a signal's number, negative; None: not known."""
    said: str
    """QEMU's last lines."""
    printed: str
    """The last lines of the guest's console."""
    log: Path
    """What QEMU says."""

    @property
    def how(self) -> str:
        """In what way it ended."""
        if self.status is None:
            return "ended"
        if self.status >= 0:
            return f"exit status {self.status}"
        try:
            return f"signal {-self.status}, {signal.Signals(-self.status).name}"
        except ValueError:
            return f"signal {-self.status}"

    def error(self) -> VnfDiedError:
        """Return the error, whose first line says how QEMU ended and the last line that it printed."""
        last = self.said.splitlines()[-1] if self.said else ""
        words = [self.how, *([f"QEMU's last lines:\n{self.said}"] if self.said else [])]
        words += [f"its console's last lines:\n{self.printed}"] if self.printed else []
        return VnfDiedError(
            f"{self.who} has died ({self.how})" + (f": {last}" if last else ""),
            where=str(self.log),
            observed="; ".join(words),
            fix=self._fix(),
        )

    def _fix(self) -> str:
        if self.status is not None and -self.status in _ITSELF:
            return "a fault of QEMU itself (docs/limits.md): try again, or bring a newer QEMU (NFVBED_QEMU_DIR)"
        return "see its console in the run directory"
