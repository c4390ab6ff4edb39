"""Executes the tests of outages: a switch that is restarted, a system that recovers; frames are followed in time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from nfvbed.dataplanes.reset import ResetReport
from nfvbed.errors import GeneratorError
from nfvbed.records import TrialRecord
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.celltest import AGAIN, CellTest, Outcome, PlacementClassFilter
from nfvbed.spec.testkinds.resets import ResetTest, SystemRecoveryTest
from nfvbed.traffic.generator import LoadPhase, TrafficRequest, TrafficResult
from nfvbed.traffic.timeline import Timeline
from nfvbed.units import NS_PER_S

Watched = tuple[TrialRecord, tuple[Timeline, ...]]


def watch(
    cell_test: CellTest,
    shape: Callable[[TrafficRequest], TrafficRequest],
    meanwhile: Callable[[], None] | None = None,
) -> Watched:
    """Measure one trial with a timeline, keep its record, and return both.

    Args:
        shape: puts loads, durations and the width of the bins into the cell's traffic.
        meanwhile: runs while frames are sent.

    Raises:
        GeneratorError: the generator has no timelines, or as `Measurement.measure`.
        SwitchDiedError, VnfDiedError: as `Measurement.measure`.
    """
    seen: list[TrafficResult] = []
    task = cell_test.task()
    # The counters of a switch that is restarted begin again, so no difference of theirs means anything.
    watched = replace(task, request=shape(task.request), counters=False, look=seen.append, meanwhile=meanwhile)
    record = cell_test.measure(watched)
    timelines = seen[0].timelines if seen else ()
    if len(timelines) != len(record.directions):
        raise GeneratorError(
            "the generator gave no timeline",
            where=record.engine.name,
            observed=f"{len(timelines)} for {len(record.directions)} directions",
            fix="build the generator of this version of nfvbed: make native",
        )
    return record, timelines


QUIET_NS = 10_000_000
"""So long nothing may be missing for a system to be taken as recovered, whatever else disturbs it later."""

_RECOVERY_NOTES = (
    "Missing are frames that were lost, and frames that were due and that a full port did not take (not those that the"
    " generator was too late to offer). The time is from the change of the load to the last one that was sent or due"
    " and missing; it lies between its bounds. Rare losses that have nothing to do with the overload make it long: the"
    " first 10 ms without loss begin sooner then.",
)


def system_recovery(cell_test: CellTest, spec: SystemRecoveryTest) -> Outcome[TablePayload]:
    """Overload the cell and look, as often as asked for, in one placement class.

    Raises:
        MissingReference: what the loads are parts of was not measured.
        SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
    """
    base = cell_test.base(spec.of)

    def shape(request: TrafficRequest) -> TrafficRequest:
        rates = [request.share_of(base.load_pps * part) for part in (spec.overload, spec.relief)]
        return replace(
            request,
            rate_pps=rates[0],
            duration_ns=round(spec.overload_s * NS_PER_S),
            then=LoadPhase(rates[1], round(spec.relief_s * NS_PER_S)),
            timeline_ns=round(spec.resolution_s * NS_PER_S),
        )

    one_class = PlacementClassFilter(cell_test, again=AGAIN * spec.repetitions)
    rows = tuple(
        _recovery_row(spec, *one_class.take(partial(watch, cell_test, shape))) for _ in range(spec.repetitions)
    )
    return Outcome(TablePayload(reference=base, rows=rows, notes=_RECOVERY_NOTES))


def _recovery_row(spec: SystemRecoveryTest, record: TrialRecord, timelines: tuple[Timeline, ...]) -> MeasuredRow:
    change_ns = round(spec.overload_s * NS_PER_S)
    before = sum(line.missing(0, change_ns) for line in timelines)
    after = sum(line.missing(change_ns) for line in timelines)
    recovery, reason = recovery_of(spec, timelines)
    if not before:
        recovery, reason = Quantity(name="recovery time", value=None, unit="s"), "no frame was missing in the overload"
    return MeasuredRow(
        label=f"{spec.overload:.0%} to {spec.relief:.0%} of {spec.of}",
        parameters={"overload": spec.overload, "relief": spec.relief, "overload_s": spec.overload_s},
        quantities=(
            recovery,
            _first_quiet(spec, timelines),
            Quantity(name="missing in the overload", value=before, unit="frames"),
            Quantity(name="missing after it", value=after, unit="frames"),
        ),
        sequence=record.sequence,
        reason=reason,
    )


def _first_quiet(spec: SystemRecoveryTest, timelines: tuple[Timeline, ...]) -> Quantity:
    """Return the time until each direction was without loss for a moment, whatever was lost later."""
    change_ns, total_ns = round(spec.overload_s * NS_PER_S), round((spec.overload_s + spec.relief_s) * NS_PER_S)
    found = [line.quiet_from_ns(change_ns, total_ns, QUIET_NS) for line in timelines]
    known = [at for at in found if at is not None]
    time_s = (max(known) - change_ns) / NS_PER_S if len(known) == len(found) else None
    return Quantity(name="first 10 ms without loss", value=time_s, unit="s")


def recovery_of(spec: SystemRecoveryTest, timelines: tuple[Timeline, ...]) -> tuple[Quantity, str]:
    """Return the time from the change of the load to the last missing frame, of the direction where it is longest.

    A bin that reaches over the change counts as before it.

    Returns:
        The time, and why it is a lower bound where it is one.
    """
    change_ns, total_ns = round(spec.overload_s * NS_PER_S), round((spec.overload_s + spec.relief_s) * NS_PER_S)
    found = [ends for line in timelines if (ends := line.last_missing_ns(change_ns)) is not None]
    if not found:
        return Quantity(name="recovery time", value=0, unit="s", low=0, high=spec.resolution_s), ""
    begin_ns, end_ns = max(found)
    low, high = (begin_ns - change_ns) / NS_PER_S, (min(end_ns, total_ns) - change_ns) / NS_PER_S
    time = Quantity(name="recovery time", value=high, unit="s", low=low, high=high)
    late = end_ns >= total_ns
    return time, f"a lower bound: frames were still missing after {spec.relief_s:g} s" if late else ""


AROUND_S = 0.5
"""Before the reset, and after frames flow again: frames that are missing then are counted too."""

_RESET_NOTES = (
    "Outage by frame loss: missing frames (lost, or refused by a port without a peer) over the load of their"
    " direction. By time stamps: from the last frame received before to the first one after (RFC 6201 section 3). Of"
    " two directions the longer one; bounds are over the directions. Frames count from half a second before the reset"
    " to half a second after the first frame that came again.",
    "Configured again: until the switch's adapter found it as it was; frames may flow sooner or later.",
)


def reset(cell_test: CellTest, spec: ResetTest) -> Outcome[TablePayload]:
    """Reset the switch as often as asked for, each time in a trial of its own, all in one placement class.

    Raises:
        MissingReference: what the load is a part of was not measured.
        UnsupportedError: this data plane or site has no reset.
        DeployError, SwitchDiedError, VnfDiedError, GeneratorError: it did not return, or as `Measurement.measure`.
    """
    base, load_pps = cell_test.given_load(spec)
    one_class = PlacementClassFilter(cell_test, again=AGAIN * spec.repetitions)
    rows = tuple(one_class.take(partial(_reset_once, cell_test, spec, load_pps or 0)) for _ in range(spec.repetitions))
    return Outcome(TablePayload(reference=base, rows=rows, notes=_RESET_NOTES))


def _reset_once(cell_test: CellTest, spec: ResetTest, load_pps: int) -> MeasuredRow:
    def shape(request: TrafficRequest) -> TrafficRequest:
        return replace(
            request,
            rate_pps=request.share_of(load_pps),
            duration_ns=round(spec.duration_s * NS_PER_S),
            timeline_ns=round(spec.resolution_s * NS_PER_S),
        )

    reports: list[ResetReport] = []
    do_reset = partial(cell_test.setup.site.reset, cell_test.setup.deployment, spec.before_s)
    record, timelines = watch(cell_test, shape, lambda: reports.append(do_reset()))
    rate_pps = max(1, round(load_pps / len(record.directions)))
    lost = [missing(line, spec.before_s, reports[0]) for line in timelines]
    by_time = [gap_s(line) for line in timelines]
    return MeasuredRow(
        label=reports[0].kind,
        parameters={"load_pps": rate_pps * len(record.directions)},
        quantities=(
            _longest("outage by frame loss", [frames / rate_pps for frames in lost]),
            _longest("outage by time stamps", by_time),
            Quantity(name="missing frames", value=sum(lost), unit="frames"),
            Quantity(name="configured again", value=_configured_s(reports[0]), unit="s"),
        ),
        sequence=record.sequence,
        reason="" if None not in by_time else f"no frame came again within {spec.duration_s:g} s: the load is lost",
    )


def missing(line: Timeline, before_s: float, report: ResetReport) -> int:
    """Count the frames of a direction that were due and did not come, around the reset.

    In the rest of the trial frames are missing for other reasons: where the switch is kept from its core.
    """
    came_ns = (line.gap.to_ns or 0) if line.gap else 0
    again_ns = max(came_ns, round(before_s * NS_PER_S) + report.duration_ns)
    return line.missing(max(0, round((before_s - AROUND_S) * NS_PER_S)), again_ns + round(AROUND_S * NS_PER_S))


def gap_s(line: Timeline) -> float | None:
    """Return the longest time in which no frame came though some were due, seconds; None where none came again."""
    if line.gap is None:
        return 0.0
    return None if line.gap.to_ns is None else (line.gap.to_ns - line.gap.from_ns) / NS_PER_S


def _longest(name: str, times_s: Sequence[float | None]) -> Quantity:
    known = [time for time in times_s if time is not None]
    if len(known) < len(times_s):
        return Quantity(name=name, value=None, unit="s")
    return Quantity(name=name, value=max(known), unit="s", low=min(known), high=max(known))


def _configured_s(report: ResetReport) -> float | None:
    return report.duration_ns / NS_PER_S if report.steps else None
