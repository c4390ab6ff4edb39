"""The records of tests that are more than single trials: a search, a curve of loads, a soak.

A test's trials are ordinary trial records; its result names the first and the last of them, and says what came of it.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from nfvbed.records.missing import missing_ratio
from nfvbed.records.quality import QualityWarning
from nfvbed.records.trial import Reason, Record, RunId
from nfvbed.records.words import ResultKind as ResultKind  # Others import it from here.
from nfvbed.records.words import Status

RESULT_FORMAT = 1
HZ_PER_PPS = "hz_per_pps"
"""Parameter of a row of cost: the clock over the forwarded rate, cycles of a packet as some papers have them."""
MIXED = "mixed"
"""The placement class of what ran in several."""
SINGLE = "single"
"""The placement class where a host shows one, or where nothing tells."""
PlacementClass = Annotated[str, BeforeValidator(lambda name: SINGLE if name == "only" else name)]
"""Name of a placement class; in results of earlier versions the one of a host that shows no other is called `only`."""


def placement_of(kind: ResultKind, stored: str, labels: Sequence[str]) -> str:
    """Return a test's placement class, as it is known now.

    Args:
        kind: a search used the trials of its own class alone; any other test has to be in one with all its points.
        stored: its class as it was known when it ended.
        labels: the classes of its trials or points, as they are known now.
    """
    if kind is not ResultKind.SEARCH:
        return label_of(labels)
    real = set(labels) - {MIXED, SINGLE}
    if not real:
        # Of what was taken for a class of its own one state may be left, now that all trials are known.
        return SINGLE if SINGLE in labels else stored
    return stored if stored in real else max(sorted(real), key=list(labels).count)


def label_of(labels: Sequence[str]) -> str:
    """Return the placement class that trials share; `mixed` where they share none, `single` where they have none."""
    real = set(labels) - {MIXED, SINGLE}
    return MIXED if MIXED in labels or len(real) > 1 else next(iter(real), SINGLE)


class ResultRecord(Record):
    """One test of one cell in one round, written when it ended and never edited."""

    format: int = RESULT_FORMAT
    run: RunId
    cell: str
    round: int
    test: str
    """Label of the test in the experiment; unique there."""
    kind: ResultKind
    placement_class: PlacementClass = ""
    """Placement class of its trials, as it was known when it ended; empty without trials. Readers derive it again."""
    status: Status = Status.OK
    reason: Reason = ""
    """Reason why it has no result, or why its result is irregular."""
    warnings: tuple[QualityWarning, ...] = ()
    """Warnings of its trials."""
    first_sequence: int | None = None
    last_sequence: int | None = None
    """Sequence number of its last trial; None where none was run."""
    started_at: str
    """UTC, ISO 8601."""
    ended_at: str
    simulated: bool = False
    payload: dict[str, Any] = Field(default_factory=dict)
    """Result in the form of its kind; empty where there is none."""

    @property
    def key(self) -> tuple[int, str, str]:
        """What identifies it in its run: round, cell, label."""
        return (self.round, self.cell, self.test)

    def holds(self, sequence: int) -> bool:
        """Return whether a trial of its run is one of its trials."""
        if self.first_sequence is None or self.last_sequence is None:
            return False
        return self.first_sequence <= sequence <= self.last_sequence

    def placed_by(self, sequence: int) -> bool:
        """Return whether a trial decides the placement class: one of its points, or any of a search's trials."""
        points = self.payload.get("points", self.payload.get("rows"))
        if points is None:
            return self.holds(sequence)
        return any(sequence in (point["sequence"], *point.get("sequences", ())) for point in points)


class Reference(Record):
    """The load that fractions are fractions of, frames/s over all directions."""

    of: str
    """`mrr`, or the name of a search's goal."""
    load_pps: int
    regular: bool
    """Regularity of the result that it was taken from; an MRR always is regular."""
    placement_class: PlacementClass
    """Placement class of the trials that it was taken from."""


class LoadPoint(Record):
    """One trial at one load. Loads, rates and frames are sums over the directions."""

    sequence: int
    """Sequence number of its trial, which has histograms, CPU times and counters."""
    fraction: float | None = None
    """Part of the reference; None: the load was given in frames/s."""
    intended_load_pps: int
    offered_load_pps: int
    forwarded_rate_pps: int
    intended_frames: int
    """Late ones are not among them."""
    lost_frames: int
    """Sent and not received."""
    unsent_frames: int
    late_frames: int = 0
    """Left out by a generator that was kept from its core: the system was not asked for them."""
    duration_ns: int
    surplus_frames: int = Field(default=0, exclude_if=lambda value: not value)
    """Counted back beyond what was sent: with any, what is missing is at least what was counted."""

    @property
    def missing_ratio(self) -> float:
        """Missing over intended frames, as searches count; late ones are in none of the counts. 0: nothing intended."""
        return missing_ratio(self.lost_frames, self.unsent_frames, 0, self.intended_frames) or 0.0


class LoadsPayload(Record):
    """The result of a test at given loads: continuous, loss curve, latency, soak."""

    reference: Reference | None = None
    """Reference of the loads; None: all loads were given in frames/s."""
    points: tuple[LoadPoint, ...]
    """Loads in the order in which they were measured."""

    @property
    def sequences(self) -> tuple[int, ...]:
        """Numbers of the trials that the points are from."""
        return tuple(point.sequence for point in self.points)

    @property
    def missing_ratio(self) -> float:
        """The ratio of missing frames over all points."""
        lost, unsent, intended = (
            sum(getattr(point, count) for point in self.points)
            for count in ("lost_frames", "unsent_frames", "intended_frames")
        )
        return missing_ratio(lost, unsent, 0, intended) or 0.0


class Quantity(Record):
    """A figure of a row, with its name and unit."""

    name: str
    """Name of it in the field's words: `throughput`, `outage`."""
    value: float | None
    """Value; None: not available, the row's reason says why."""
    unit: str
    """`frames/s`, `bit/s`, `s`, `frames`, `%`; empty: a ratio or a number of things."""
    low: float | None = None
    """Least of several measurements, or the lower bound."""
    high: float | None = None


class MeasuredRow(Record):
    """The quantities measured under one condition."""

    label: str
    """Difference from the other rows: `1,000 flows`."""
    parameters: dict[str, str | int | float] = Field(default_factory=dict)
    """Same difference for programs: `{"flows": 1000}`."""
    quantities: tuple[Quantity, ...] = ()
    sequence: int | None = None
    """Sequence number of its trial; None: it is of several, or of none."""
    sequences: tuple[int, ...] = ()
    """Sequence numbers of all its trials where it is of several (socket traffic); else of those that count beside the
    one above."""
    status: Status = Status.OK
    reason: str = ""


class Series(Record):
    """A quantity over time, from the start of what it was measured in."""

    label: str
    """Label of the row that it belongs to."""
    name: str
    unit: str
    step_s: float
    """Length of an interval; there is one value for each."""
    values: tuple[float | None, ...]
    """Values in order; None: nothing was there to measure."""


class TablePayload(Record):
    """The result of a test that measures quantities under one or several conditions."""

    reference: Reference | None = None
    """Reference of the loads; None: no load was a part of another one."""
    rows: tuple[MeasuredRow, ...]
    notes: tuple[str, ...] = ()
    """Sentences that the figures need to be read rightly."""
    series: tuple[Series, ...] = Field(default=(), exclude_if=lambda value: not value)
    """What was read over time beside the rows' quantities."""

    @property
    def sequences(self) -> tuple[int, ...]:
        """Numbers of the trials that the rows are from."""
        return tuple(found for row in self.rows for found in (row.sequence, *row.sequences) if found is not None)
