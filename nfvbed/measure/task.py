"""What the run asks of a measurement: one trial, at its place in the plan."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from nfvbed.records import RenewedPart, TrialPreset
from nfvbed.traffic.generator import TrafficRequest, TrafficResult


@dataclass(frozen=True)
class TrialTask:
    """All that a measurement has to know of the next trial."""

    run: str
    """The run's id."""
    cell: str
    """The cell's id."""
    sequence: int
    """Place in the plan; unique within the run."""
    round: int
    preset: TrialPreset
    request: TrafficRequest
    renewed: RenewedPart | None = None
    """What its visit set up again; None: not reported."""
    counters: bool = True
    """Read the switch's counters around the trial; a search does without, as its trials are many and short."""
    meanwhile: Callable[[], None] | None = None
    """Done while frames are sent, in the calling thread; it takes a shorter time than the trial. None: nothing is."""
    look: Callable[[TrafficResult], None] | None = None
    """Takes what the generator counted, its timelines among it, which the record has no place for."""
    around: Callable[[], AbstractContextManager[object]] = nullcontext
    """Gives what is entered right before the traffic and left right after it: further readings."""
