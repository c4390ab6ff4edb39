"""The interface of a reader of a switch's or a VNF's own counters around a trial."""

from typing import Protocol

from nfvbed.records.results import MeasuredRow


class CounterReader(Protocol):
    """Reads the own counters of a switch, or of a VNF, around a trial."""

    def start(self) -> None:
        """Take the first reading."""

    def stop(self) -> None:
        """Take the second reading."""

    def rows(self) -> tuple[MeasuredRow, ...]:
        """Return what was counted between the two readings."""
