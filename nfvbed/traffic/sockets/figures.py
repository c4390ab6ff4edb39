"""The figures of one run of a tool, whatever the tool."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from nfvbed.errors import GeneratorError
from nfvbed.records import DirectionCounts, Engine
from nfvbed.records.results import Quantity

THROUGHPUT = "throughput"
RETRANSMITS = "retransmits"
LOSS = "loss"


@dataclass(frozen=True)
class Figure:
    """One figure of one run; `value` None: the tool did not give it."""

    name: str
    value: float | None
    unit: str


@dataclass(frozen=True)
class SocketFigures:
    """One run of a tool."""

    engine: Engine
    duration_ns: int
    """For how long it sent, by its own clock."""
    figures: tuple[Figure, ...]
    directions: tuple[DirectionCounts, ...] = ()
    """Messages, where each can be followed; empty for streams of bytes."""
    latency_hdr: tuple[str | None, ...] = ()
    """Round trips in ns, where each was reported: HdrHistogram V2 compressed, base64."""
    raw: dict[str, Any] = field(default_factory=dict)
    """What else the tool reported, stored with the trial."""

    def value(self, name: str) -> float | None:
        """Return a figure by its name; None where there is none."""
        return next((figure.value for figure in self.figures if figure.name == name), None)


def over_runs(runs: Sequence[SocketFigures]) -> tuple[Quantity, ...]:
    """Return each figure's median over runs, with minimum and maximum; None where no run has it."""
    names = dict.fromkeys((figure.name, figure.unit) for run in runs for figure in run.figures)
    return tuple(_over_runs(name, unit, runs) for name, unit in names)


def _over_runs(name: str, unit: str, runs: Sequence[SocketFigures]) -> Quantity:
    values = [value for run in runs if (value := run.value(name)) is not None]
    if not values:
        return Quantity(name=name, value=None, unit=unit)
    return Quantity(name=name, value=median(values), unit=unit, low=min(values), high=max(values))


def datagram_figures(counts: DirectionCounts, seconds: float, message_bytes: int) -> tuple[Figure, ...]:
    """Return the figures of datagrams: rates at both ends, goodput and loss; bounds where there is a surplus."""
    return (
        Figure("sent", counts.sent / seconds, "messages/s"),
        Figure("received", counts.received / seconds, "messages/s"),
        Figure(THROUGHPUT, counts.received * message_bytes * 8 / seconds, "bit/s"),
        Figure(LOSS, 100 * counts.lost / counts.sent if counts.sent else None, "%"),
    )


def datagram_counts(sent: int, received: int, message_bytes: int) -> DirectionCounts:
    """Return the counts of datagrams at both ends.

    Raises:
        GeneratorError: they cannot have been counted so.
    """
    sent_bytes, received_bytes = sent * message_bytes, min(sent, received) * message_bytes
    try:
        return DirectionCounts.counted(sent, received, sent_bytes=sent_bytes, received_bytes=received_bytes)
    except ValueError as failure:
        raise GeneratorError("a tool counted messages that cannot be", observed=str(failure)) from failure
