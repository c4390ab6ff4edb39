"""Executes the reset test: the switch is broken off under traffic, and its outage is told by frames and by time."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from nfvbed.dataplanes.reset import ResetReport
from nfvbed.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.bench import AGAIN, OneClass, Outcome, TestBench
from nfvbed.run.kinds.watched import watch
from nfvbed.spec.testkinds.reset import ResetTest
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.traffic.timeline import Timeline
from nfvbed.units import NS_PER_S

AROUND_S = 0.5
"""Before the reset, and after frames flow again: frames that are missing then are counted too."""

NOTES = (
    "Outage by frame loss: missing frames (lost, or refused by a port without a peer) over the load of their"
    " direction. By time stamps: from the last frame received before to the first one after (RFC 6201 section 3). Of"
    " two directions the longer one; bounds are over the directions. Frames count from half a second before the reset"
    " to half a second after the first frame that came again.",
    "Configured again: until the switch's adapter found it as it was; frames may flow sooner or later.",
)


def execute(bench: TestBench, spec: ResetTest) -> Outcome:
    """Reset the switch as often as asked for, each time in a trial of its own, all in one placement class.

    Raises:
        NothingToGoBy: what the load is a part of was not measured.
        UnsupportedError: this data plane or site has no reset.
        DeployError, SwitchDiedError, VnfDiedError, GeneratorError: it did not come back, or as `Measurement.measure`.
    """
    base, load_pps = bench.given_load(spec)
    one_class = OneClass(bench, again=AGAIN * spec.repetitions)
    rows = tuple(one_class.take(partial(_reset, bench, spec, load_pps or 0)) for _ in range(spec.repetitions))
    return Outcome(TablePayload(reference=base, rows=rows, notes=NOTES))


def _reset(bench: TestBench, spec: ResetTest, load_pps: int) -> MeasuredRow:
    def shape(request: TrafficRequest) -> TrafficRequest:
        return replace(
            request,
            rate_pps=request.share_of(load_pps),
            duration_ns=round(spec.duration_s * NS_PER_S),
            timeline_ns=round(spec.resolution_s * NS_PER_S),
        )

    reports: list[ResetReport] = []
    do_reset = partial(bench.setup.site.reset, bench.setup.deployment, spec.before_s)
    record, timelines = watch(bench, shape, lambda: reports.append(do_reset()))
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
    """Give the longest time in which no frame came though some were due, seconds; None where none came again."""
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
