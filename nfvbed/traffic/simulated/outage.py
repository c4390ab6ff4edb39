"""The course of a simulated trial: overload that leaves congestion behind, and an outage.

Both lengths are known, so that tests that find them from the frames alone can be checked. Directions are alike, and
frames pass at once; where a direction's capacity is exceeded the port refuses what is too much, evenly.
"""

from dataclasses import dataclass
from math import ceil

from nfvbed.traffic.generator import TrafficRequest
from nfvbed.traffic.timeline import Gap, Timeline, binned
from nfvbed.units import NS_PER_S

CONGESTION_LOSS = 2
"""In congestion one frame of so many is lost."""


@dataclass(frozen=True)
class TrialEvents:
    """The known events of one trial, in ns from its start."""

    capacity_pps: float
    """Capacity of one direction."""
    congestion_ns: int = 0
    """How long after an overload frames are still lost."""
    outage: tuple[int, int] | None = None
    """Begin and end of an outage."""


@dataclass(frozen=True)
class _FrameCounts:
    sent: int
    unsent: int
    lost: int


class SimulatedCourse:
    """One direction of one paced trial.

    Args:
        request: a request with a rate, and an optional second stretch.
    """

    def __init__(self, request: TrafficRequest, known: TrialEvents) -> None:
        rate = request.rate_pps or 1
        self._turn_ns = request.duration_ns
        self._rates = (rate, request.then.rate_pps if request.then else rate)
        self._total_ns = request.total_ns
        self._known = known
        self._congested_until = request.duration_ns + known.congestion_ns if rate > known.capacity_pps else 0

    @property
    def due(self) -> int:
        """Frames that are due in the trial."""
        first, second = self._rates
        return _due(first, 0, self._turn_ns) + _due(second, self._turn_ns, self._total_ns)

    @property
    def sent(self) -> int:
        """Frames that the system took."""
        return self._between(0, self._total_ns).sent

    @property
    def lost(self) -> int:
        """Frames that it took and lost."""
        return self._between(0, self._total_ns).lost

    def timeline(self, bin_ns: int) -> Timeline:
        """Return the trial's timeline."""

        def count(start_ns: int, end_ns: int) -> tuple[int, int, int]:
            fate = self._between(start_ns, end_ns)
            return fate.sent, fate.unsent, fate.sent - fate.lost

        bins = binned(bin_ns, self._total_ns, count)
        return Timeline(bin_ns=bin_ns, bins=bins, gap=self._gap())

    def _gap(self) -> Gap | None:
        rate = self._rates[0]
        if self._known.outage is None:
            return None
        begin, end = self._known.outage
        last, first = max(0, ceil(begin * rate / NS_PER_S) - 1), ceil(end * rate / NS_PER_S)
        came = first * NS_PER_S // rate
        return Gap(last * NS_PER_S // rate, came if came < self._total_ns else None)

    def _between(self, start_ns: int, end_ns: int) -> _FrameCounts:
        """Count the frames that are due in a stretch of time, piece by piece between the moments of change."""
        outage = self._known.outage or (0, 0)
        changes = {self._turn_ns, self._congested_until, *outage}
        marks = sorted({start_ns, end_ns} | {at for at in changes if start_ns < at < end_ns})
        fates = [self._piece(first, last, outage) for first, last in zip(marks, marks[1:], strict=False)]
        return _FrameCounts(sum(f.sent for f in fates), sum(f.unsent for f in fates), sum(f.lost for f in fates))

    def _piece(self, start_ns: int, end_ns: int, outage: tuple[int, int]) -> _FrameCounts:
        rate = self._rates[start_ns >= self._turn_ns]
        due = _due(rate, start_ns, end_ns)
        if outage[0] <= start_ns < outage[1]:
            return _FrameCounts(due, 0, due)
        sent = min(due, round(due * self._known.capacity_pps / rate)) if rate > self._known.capacity_pps else due
        congested = self._turn_ns <= start_ns < self._congested_until
        return _FrameCounts(sent, due - sent, sent // CONGESTION_LOSS if congested else 0)


def burst_losses(frames: int, rates_pps: tuple[float, float], buffer_frames: int) -> int:
    """Return the frames of a burst that exceed a buffer: the known answer of back-to-back tests.

    Args:
        rates_pps: rates of its arrival, and of forwarding meanwhile.
        buffer_frames: capacity in frames.
    """
    burst, forwarded = rates_pps
    excess = frames * max(0.0, 1 - forwarded / burst)
    return max(0, ceil(excess - buffer_frames))


def _due(rate_pps: int, start_ns: int, end_ns: int) -> int:
    """Count the frames n with start <= n / rate < end, from the trial's start."""
    return max(0, -(-end_ns * rate_pps // NS_PER_S) - -(-start_ns * rate_pps // NS_PER_S))
