"""The interface of what reads a switch's own counters around a trial."""

from typing import Protocol

from nfvbed.results import MeasuredRow


class SwitchReader(Protocol):
    """Reads a switch's own counters around a trial."""

    def start(self) -> None:
        """Take the first reading."""

    def stop(self) -> None:
        """Take the second one."""

    def rows(self) -> tuple[MeasuredRow, ...]:
        """Return what was counted in between."""
