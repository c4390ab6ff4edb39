"""Executes the tests with bursts: one of a given length, and the longest without loss (RFC 9004)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean, median, stdev

from nfvbed.records import TrialRecord
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.celltest import AGAIN, CellTest, Outcome, PlacementClassFilter
from nfvbed.run.references import MissingReference
from nfvbed.search.burst import BurstFound, BurstRange, longest_burst
from nfvbed.spec.testkinds.bursts import BackToBackTest, BurstTest
from nfvbed.units import NS_PER_S

BURST_TIMEOUT_NS = 10 * NS_PER_S
"""Bounds a burst that a port takes too slowly."""
SAME_RATE = 0.95
"""Forwarding over burst rate from which on the switch keeps up with bursts, so that they fill nothing."""
TRIES = 5
"""Bursts of one length, at most, until one was not torn."""
BEGINNINGS = 2
"""The most beginnings of the whole test: where the placement class of the first is gone, the next is in the one that is
there.
"""
STRAYS = 5
"""Bursts of one search that are sent again, at most, because they were in another placement class."""
TORN = 1.25
"""A burst that lasted more than so many times as long as its frames take to be forwarded was torn."""
PREEMPTED_NS = 50_000
"""By at least this much longer: short bursts last longer than their frames take."""

_BACK_TO_BACK_NOTES = (
    "Bursts are sent one way at the port's full speed, as virtual ports have no line rate. A burst passes when the port"
    " took every frame at the first try and every frame came.",
    "Corrected: less the frames that are forwarded while the burst arrives (RFC 9004 section 6.4), by the rates that"
    " were measured here.",
)


@dataclass(frozen=True)
class _Search:
    """A repetition of the search for the longest burst, with the bursts that it went by."""

    found: BurstFound
    longest: TrialRecord | None
    """The longest burst that passed."""
    bursts: tuple[int, ...]
    """Sequences of those that it went by."""


def back_to_back(cell_test: CellTest, spec: BackToBackTest) -> Outcome[TablePayload]:
    """Measure the forwarding rate one way, then search as often as asked for, all in one placement class.

    A burst in another class is sent again. A search is made again where one that counts was in another class. Where
    that costs more than to restart, the test restarts.

    Raises:
        MissingReference: no frame came through at maximum load.
        SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
    """
    for left in reversed(range(BEGINNINGS)):
        one_class = PlacementClassFilter(cell_test, again=AGAIN * (1 + spec.repetitions), restart=left > 0)
        forwarding = one_class.take(partial(_forwarding_rate, cell_test, spec))
        search = partial(_one_search, cell_test, spec, forwarding.forwarded_rate_pps)
        searches: list[_Search] = []
        while len(searches) < spec.repetitions and (one_class.fits or left == 0):
            searches.append(one_class.take(search, lambda found: found.bursts))
        if one_class.fits:
            break
    rows = (_summary(searches, forwarding), *(_search_row(search) for search in searches))
    return Outcome(TablePayload(rows=rows, notes=_BACK_TO_BACK_NOTES))


def _forwarding_rate(cell_test: CellTest, spec: BackToBackTest) -> TrialRecord:
    task = cell_test.task()
    request = replace(task.request, bidirectional=False, duration_ns=round(spec.rate_duration_s * NS_PER_S))
    record = cell_test.measure(replace(task, request=request))
    if not record.forwarded_rate_pps:
        raise MissingReference(f"no frame came through {cell_test.cell.id} one way at maximum load")
    return record


def _one_search(cell_test: CellTest, spec: BackToBackTest, forwarded_pps: int) -> _Search:
    longest: list[TrialRecord] = []
    bursts: list[int] = []
    one_class = PlacementClassFilter(cell_test, again=STRAYS)

    def send(frames: int) -> TrialRecord:
        task = cell_test.bare_task()
        request = replace(task.request, bidirectional=False, frames=frames, duration_ns=BURST_TIMEOUT_NS)
        return cell_test.measure(replace(task, request=request))

    def passes(frames: int) -> bool:
        for _ in range(TRIES):
            record = one_class.take(partial(send, frames))
            bursts.append(record.sequence)
            if not is_torn(record, forwarded_pps):
                break
        passed = passed_whole(record, frames)
        if passed and (not longest or record.directions[0].sent >= longest[0].directions[0].sent):
            longest[:] = [record]
        return passed

    within = BurstRange(spec.min_frames, spec.max_frames, spec.resolution_frames, spec.verifications)
    return _Search(longest_burst(passes, within), longest[0] if longest else None, tuple(bursts))


def passed_whole(record: TrialRecord, frames: int) -> bool:
    """Return whether a burst passed: all of its frames were taken at the first try, and came, and none came twice.

    Of a count that is above what was sent it is not known whether all came.
    """
    way = record.directions[0]
    return way.sent == frames and not way.lost and not way.refused and not way.unsent and not way.surplus


def is_torn(record: TrialRecord, forwarded_pps: int) -> bool:
    """Return whether the generator was kept from its core in the middle of a burst, which then was none.

    A switch that holds it back still takes frames as fast as it forwards them.
    """
    at_rate_ns = record.directions[0].sent * NS_PER_S // forwarded_pps
    return record.duration_ns > TORN * at_rate_ns and record.duration_ns - at_rate_ns > PREEMPTED_NS


def _search_row(search: _Search) -> MeasuredRow:
    burst = _length([search])
    rate = search.longest.offered_load_pps if search.longest else None
    return MeasuredRow(
        label="single searches",
        quantities=(burst, Quantity(name="burst rate", value=rate, unit="frames/s")),
        sequence=search.longest.sequence if search.longest else None,
        reason=_why([search]),
    )


def _summary(searches: Sequence[_Search], forwarding: TrialRecord) -> MeasuredRow:
    rates = [search.longest.offered_load_pps for search in searches if search.longest]
    lengths = [search.found.longest for search in searches]
    rate, forwarded = (median(rates) if rates else None), forwarding.forwarded_rate_pps
    implied = mean(lengths) / rate if rate else None
    keeps_up = rate is not None and forwarded >= SAME_RATE * rate
    share = None if rate is None or keeps_up or _unbounded(searches) else 1 - forwarded / rate
    reason = _why(searches)
    if keeps_up and not reason:
        reason = "the switch forwards about as fast as bursts are sent: its buffer cannot be distinguished from them"
    return MeasuredRow(
        label=f"mean of {len(searches)}",
        parameters={"repetitions": len(searches)},
        quantities=(
            _length(searches),
            Quantity(name="standard deviation", value=stdev(lengths) if len(lengths) > 1 else None, unit="frames"),
            Quantity(name="burst duration", value=implied, unit="s"),
            Quantity(name="burst rate", value=rate, unit="frames/s"),
            Quantity(name="forwarding rate", value=forwarded, unit="frames/s"),
            Quantity(name="corrected burst", value=None if share is None else mean(lengths) * share, unit="frames"),
            Quantity(
                name="corrected buffer time",
                value=None if share is None or implied is None else implied * share,
                unit="s",
            ),
        ),
        sequence=forwarding.sequence,
        reason=reason,
    )


def _length(searches: Sequence[_Search]) -> Quantity:
    lengths = [search.found.longest for search in searches]
    return Quantity(name="longest burst", value=mean(lengths), unit="frames", low=min(lengths), high=max(lengths))


def _unbounded(searches: Sequence[_Search]) -> bool:
    return any(search.found.failed is None for search in searches)


def _why(searches: Sequence[_Search]) -> str:
    if _unbounded(searches):
        return "a lower bound: the longest burst that was tried (max_frames) passed"
    if any(not search.longest for search in searches):
        return "not even the shortest burst (min_frames) passed in every search"
    return ""


LEAST_TIMEOUT_NS = 10 * NS_PER_S
SLOWEST_PPS = 100_000
"""A port that takes fewer frames/s does not get the whole burst; the result says so."""
_BURST_NOTES = (
    "The burst is sent at the port's full speed, as virtual ports have no line rate; frames that the port did not take"
    " at the first try are sent as soon as it does.",
)


def burst(cell_test: CellTest, spec: BurstTest) -> Outcome[TablePayload]:
    """Send the burst once; it is sent again, a few times, only where its placement class is another one than the run's.

    Raises:
        SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
    """

    def send() -> TrialRecord:
        task = cell_test.bare_task()
        timeout_ns = max(LEAST_TIMEOUT_NS, spec.frames * NS_PER_S // SLOWEST_PPS)
        return cell_test.measure(
            replace(task, request=replace(task.request, frames=spec.frames, duration_ns=timeout_ns))
        )

    record = PlacementClassFilter(cell_test).take(send)
    return Outcome(TablePayload(rows=(row_of_burst(record, spec.frames),), notes=_BURST_NOTES))


def row_of_burst(record: TrialRecord, frames: int) -> MeasuredRow:
    """Return the figures of a burst, both directions together.

    Args:
        frames: number of frames that were to be sent in each direction.
    """
    ways = record.directions
    sent, received, lost = (sum(getattr(way, name) for way in ways) for name in ("sent", "received", "lost"))
    missing = frames * len(ways) - sent
    figures = {"sent": sent, "received": received, "lost": lost, "not sent": missing}
    figures |= {"refused at the first try": sum(way.refused for way in ways)}
    return MeasuredRow(
        label=f"burst of {frames:,}" + (" each way" if len(ways) > 1 else ""),
        parameters={"frames": frames},
        quantities=(
            *(Quantity(name=name, value=value, unit="frames") for name, value in figures.items()),
            Quantity(name="loss", value=100 * lost / sent if sent else None, unit="%"),
            Quantity(name="burst duration", value=record.duration_ns / NS_PER_S, unit="s"),
            Quantity(name="burst rate", value=record.offered_load_pps, unit="frames/s"),
        ),
        sequence=record.sequence,
        reason=f"{missing:,} frames of it could not be sent" if missing else "",
    )
