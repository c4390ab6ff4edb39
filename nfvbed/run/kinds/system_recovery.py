"""Executes the recovery test: overload, then less, and when the last frame was missing (RFC 2544 section 26.5)."""

from dataclasses import replace
from functools import partial

from nfvbed.records import TrialRecord
from nfvbed.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.bench import AGAIN, OneClass, Outcome, TestBench
from nfvbed.run.kinds.watched import watch
from nfvbed.spec.testkinds.system_recovery import SystemRecoveryTest
from nfvbed.traffic.generator import Stretch, TrafficRequest
from nfvbed.traffic.timeline import Timeline
from nfvbed.units import NS_PER_S

QUIET_NS = 10_000_000
"""So long nothing may be missing for a system to be taken as recovered, whatever else disturbs it later."""

NOTES = (
    "Missing are frames that were lost, and frames that were due and that a full port did not take (not those that the"
    " generator was too late to offer). The time is from the change of the load to the last one that was sent or due"
    " and missing; it lies between its bounds. Rare losses that have nothing to do with the overload make it long: the"
    " first 10 ms without loss begin sooner then.",
)


def execute(bench: TestBench, spec: SystemRecoveryTest) -> Outcome:
    """Overload the cell and look, as often as asked for, in one placement class.

    Raises:
        NothingToGoBy: what the loads are parts of was not measured.
        SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
    """
    base = bench.base(spec.of)

    def shape(request: TrafficRequest) -> TrafficRequest:
        rates = [request.share_of(base.load_pps * part) for part in (spec.overload, spec.relief)]
        return replace(
            request,
            rate_pps=rates[0],
            duration_ns=round(spec.overload_s * NS_PER_S),
            then=Stretch(rates[1], round(spec.relief_s * NS_PER_S)),
            timeline_ns=round(spec.resolution_s * NS_PER_S),
        )

    one_class = OneClass(bench, again=AGAIN * spec.repetitions)
    rows = tuple(_row(spec, *one_class.take(partial(watch, bench, shape))) for _ in range(spec.repetitions))
    return Outcome(TablePayload(reference=base, rows=rows, notes=NOTES))


def _row(spec: SystemRecoveryTest, record: TrialRecord, timelines: tuple[Timeline, ...]) -> MeasuredRow:
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
            _quiet(spec, timelines),
            Quantity(name="missing in the overload", value=before, unit="frames"),
            Quantity(name="missing after it", value=after, unit="frames"),
        ),
        sequence=record.sequence,
        reason=reason,
    )


def _quiet(spec: SystemRecoveryTest, timelines: tuple[Timeline, ...]) -> Quantity:
    """Give the time until each direction was without loss for a moment, whatever was lost later."""
    change_ns, total_ns = round(spec.overload_s * NS_PER_S), round((spec.overload_s + spec.relief_s) * NS_PER_S)
    found = [line.quiet_from_ns(change_ns, total_ns, QUIET_NS) for line in timelines]
    known = [at for at in found if at is not None]
    time_s = (max(known) - change_ns) / NS_PER_S if len(known) == len(found) else None
    return Quantity(name="first 10 ms without loss", value=time_s, unit="s")


def recovery_of(spec: SystemRecoveryTest, timelines: tuple[Timeline, ...]) -> tuple[Quantity, str]:
    """Give the time from the change of the load to the last missing frame, of the direction where it is longest.

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
