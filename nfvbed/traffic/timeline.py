"""The fate of frames over the time of a trial: where some are missing, and for how long none came."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Bin(NamedTuple):
    """A stretch of time in which frames were missing. Frames count in the bin in which they were sent, or due."""

    number: int
    sent: int
    refused: int
    """Due, and given up: the port did not take them. What the generator was too late to offer is not counted."""
    received: int
    """Frames that were sent in this bin and came, whenever that was."""

    @property
    def missing(self) -> int:
        """Frames that were due and did not come: lost or refused."""
        return max(0, self.sent + self.refused - self.received)


@dataclass(frozen=True)
class Gap:
    """A time in which no frame came."""

    from_ns: int
    """When the last one came before."""
    to_ns: int | None
    """When the next one came; None: none did."""


@dataclass(frozen=True)
class Timeline:
    """Frames of one direction in time. Times are from the start of sending."""

    bin_ns: int
    bins: tuple[Bin, ...]
    """Those in which frames were missing, in order; every other frame that was offered came."""
    gap: Gap | None = None
    """The longest time in which none came although some were missing; None: there was none."""

    def missing(self, from_ns: int = 0, to_ns: int | None = None) -> int:
        """Return the number of missing frames in bins that begin within a stretch of time."""
        return sum(seen.missing for seen in self._within(from_ns, to_ns))

    def last_missing_ns(self, from_ns: int = 0) -> tuple[int, int] | None:
        """Return begin and end of the last bin with a missing frame after a time; None: there is none."""
        found = [seen.number for seen in self._within(from_ns, None) if seen.missing]
        return (found[-1] * self.bin_ns, (found[-1] + 1) * self.bin_ns) if found else None

    def quiet_from_ns(self, from_ns: int, until_ns: int, length_ns: int) -> int | None:
        """Return the start of the first stretch of a length without a missing frame; None: there is none.

        Args:
            from_ns: start of the search, which is the answer where nothing is missing from there on.
            until_ns: end of the trial.
        """
        begin_ns = from_ns
        for seen in self._within(from_ns, None):
            if not seen.missing:
                continue
            if seen.number * self.bin_ns - begin_ns >= length_ns:
                return begin_ns
            begin_ns = (seen.number + 1) * self.bin_ns
        return begin_ns if until_ns - begin_ns >= length_ns else None

    def _within(self, from_ns: int, to_ns: int | None) -> list[Bin]:
        return [
            seen
            for seen in self.bins
            if seen.number * self.bin_ns >= from_ns and (to_ns is None or seen.number * self.bin_ns < to_ns)
        ]


def binned(bin_ns: int, total_ns: int, count: Callable[[int, int], Sequence[int]]) -> tuple[Bin, ...]:
    """Return bins of what a function counts between two times: sent, refused, received."""
    made = []
    for number in range(-(-total_ns // bin_ns)):
        sent, refused, received = count(number * bin_ns, min(total_ns, (number + 1) * bin_ns))
        if refused or sent != received:
            made.append(Bin(number, sent, refused, received))
    return tuple(made)
