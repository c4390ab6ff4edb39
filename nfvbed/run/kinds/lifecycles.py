"""Executes the tests of a VNF's life under traffic: it is killed and comes back, or is scaled, while frames pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from nfvbed.errors import UnsupportedError
from nfvbed.records import Accelerator, Status, TrialRecord
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.celltest import CellTest, Outcome, PlacementClassFilter
from nfvbed.run.kinds.resets import AROUND_S, gap_s, watch
from nfvbed.sites.disruption import Disruption, DisruptionReport
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation, LifeCycleTest
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.traffic.timeline import Timeline
from nfvbed.units import NS_PER_S

_NOTES = (
    "Times are spans, each from the moment before it: killed, detected, decided, acted, booted, first frame, loss-free."
    " First frame: the end of the longest gap, of the direction where it came last; it is negative where frames came"
    " before the VNF said that it forwards. Lost frames count from half a second before the operation to the trial's"
    " end; those that the generator was too late to offer are not among them, so offered load stands beside them.",
    "The first row of an operation has medians; low and high are the least and the greatest of n repetitions, an"
    " interval that has the median in it with a probability of 1 - 2^(1-n): 75 % of 3, 97 % of 6.",
    "Settings of a monitor decide the times of a respawn, so respawns by different ones are different tests.",
)
_EMULATED = "emulated: this guest's boot takes many times as long as on a host with KVM, and is compared with nothing"
_SPAN_UNIT = "s"


@dataclass(frozen=True)
class _Trial:
    """One operation, and what the frames showed of it."""

    record: TrialRecord
    report: DisruptionReport
    quantities: tuple[Quantity, ...]
    reason: str


def life_cycle(cell_test: CellTest, spec: LifeCycleTest) -> Outcome[TablePayload]:
    """Do each operation as often as asked for, each time in a trial of its own.

    Raises:
        OnboardError, VnfDiedError: a VNF did not come up again.
        SwitchDiedError, GeneratorError: as `Measurement.measure`.
    """
    if not cell_test.setup.deployment.vnfs:
        return Outcome(None, Status.NOT_APPLICABLE, "there is no VNF on this path")
    rows = tuple(row for operation in spec.operations for row in _rows(cell_test, spec, operation))
    if all(row.status is Status.UNSUPPORTED for row in rows):
        return Outcome(None, Status.UNSUPPORTED, "; ".join(dict.fromkeys(row.reason for row in rows)))
    return Outcome(TablePayload(rows=rows, notes=_NOTES))


def _rows(cell_test: CellTest, spec: LifeCycleTest, operation: LifeCycleOperation) -> Iterator[MeasuredRow]:
    """Yield the row of an operation with its medians, then one for each repetition."""
    one_class = PlacementClassFilter(cell_test, again=spec.repetitions)
    wanted = Disruption(operation, spec.before_s, spec.monitor)
    site, deployment = cell_test.setup.site, cell_test.setup.deployment
    try:
        site.require_disruptable(deployment, wanted)
        try:
            trials = [one_class.take(partial(_once, cell_test, spec, wanted)) for _ in range(spec.repetitions)]
        finally:
            site.settle_disruption(deployment)
    except UnsupportedError as failure:
        yield MeasuredRow(label=operation.value, status=Status.UNSUPPORTED, reason=str(failure))
        return
    yield MeasuredRow(
        label=operation.value,
        parameters=_parameters(trials[0].report, operation, spec),
        quantities=_medians([trial.quantities for trial in trials]),
        reason="; ".join(dict.fromkeys(filter(None, (*(trial.reason for trial in trials), _emulated(trials[0]))))),
    )
    for number, trial in enumerate(trials, 1):
        yield MeasuredRow(
            label=f"{operation.value}, repetition {number}",
            parameters={"operation": operation.value, "vnf": trial.report.vnf, "repetition": number},
            quantities=trial.quantities,
            sequence=trial.record.sequence,
            reason=trial.reason,
        )


def _once(cell_test: CellTest, spec: LifeCycleTest, wanted: Disruption) -> _Trial:
    shares = cell_test.setup.site.prepare_disruption(cell_test.setup.deployment, wanted)

    def shape(request: TrafficRequest) -> TrafficRequest:
        paced = replace(
            request,
            rate_pps=request.share_of(spec.load_pps),
            duration_ns=round(spec.duration_s * NS_PER_S),
            timeline_ns=round(spec.resolution_s * NS_PER_S),
        )
        if shares is None:
            return paced
        return replace(paced, flows=shares.flows, addressing=shares.addressing, learning_frames=0)

    reports: list[DisruptionReport] = []
    do = partial(cell_test.setup.site.disrupt, cell_test.setup.deployment, wanted)
    record, timelines = watch(cell_test, shape, lambda: reports.append(do()))
    quantities, reason = measured(spec, reports[0], timelines)
    offered = Quantity(name="offered load", value=record.offered_load_pps, unit="frames/s")
    return _Trial(record, reports[0], (*quantities, offered), reason)


def measured(
    spec: LifeCycleTest, report: DisruptionReport, timelines: Sequence[Timeline]
) -> tuple[tuple[Quantity, ...], str]:
    """Return what one trial showed, and why something is missing of it; empty: nothing is."""
    gaps = [line.gap for line in timelines if line.gap is not None]
    ends = [gap.to_ns for gap in gaps if gap.to_ns is not None]
    came_ns = max(ends) if gaps and len(ends) == len(gaps) else None
    quiet_ns = None if came_ns is None and gaps else _quiet_ns(spec, timelines, came_ns or report.end_ns)
    longest = [gap_s(line) for line in timelines]
    known = [gap for gap in longest if gap is not None]
    lost = sum(line.missing(max(0, round((spec.before_s - AROUND_S) * NS_PER_S))) for line in timelines)
    first_s = None if came_ns is None else (came_ns - report.end_ns) / NS_PER_S
    free_s = None if quiet_ns is None else (quiet_ns - (came_ns or report.end_ns)) / NS_PER_S
    quantities = (
        *(_span(mark.value, length_ns / NS_PER_S) for mark, length_ns in report.spans),
        _span("first frame", first_s),
        _span(f"loss-free for {spec.loss_free_s:g} s", free_s),
        _span("longest gap", max(known) if len(known) == len(longest) else None),
        Quantity(name="lost frames", value=lost, unit="frames"),
    )
    return quantities, _reason(spec, (bool(gaps), came_ns, quiet_ns))


def _quiet_ns(spec: LifeCycleTest, timelines: Sequence[Timeline], from_ns: int) -> int | None:
    """Return when the first stretch without loss begins in every direction; None: one has none."""
    total_ns, length_ns = round(spec.duration_s * NS_PER_S), round(spec.loss_free_s * NS_PER_S)
    found = [line.quiet_from_ns(from_ns, total_ns, length_ns) for line in timelines]
    known = [at for at in found if at is not None]
    return max(known) if len(known) == len(found) else None


def _reason(spec: LifeCycleTest, seen: tuple[bool, int | None, int | None]) -> str:
    had_gap, came_ns, quiet_ns = seen
    if had_gap and came_ns is None:
        return f"no frame came again within {spec.duration_s:g} s"
    if quiet_ns is None:
        return f"frames went missing to the end: never {spec.loss_free_s:g} s without loss"
    return "" if had_gap else "no frame was missing"


def _span(name: str, value: float | None) -> Quantity:
    return Quantity(name=name, value=value, unit=_SPAN_UNIT)


def _medians(each: Sequence[tuple[Quantity, ...]]) -> tuple[Quantity, ...]:
    """Return the medians of quantities over repetitions; None where a repetition has none."""
    found = []
    for alike in zip(*each, strict=True):
        known = [one.value for one in alike if one.value is not None]
        whole = len(known) == len(alike)
        found.append(
            Quantity(
                name=alike[0].name,
                value=median(known) if whole else None,
                unit=alike[0].unit,
                low=min(known) if whole else None,
                high=max(known) if whole else None,
            )
        )
    return tuple(found)


def _emulated(trial: _Trial) -> str:
    return _EMULATED if trial.report.accelerator is Accelerator.TCG else ""


def _parameters(
    report: DisruptionReport, operation: LifeCycleOperation, spec: LifeCycleTest
) -> dict[str, str | int | float]:
    """Return what an operation's times depend on, the settings of its monitor among it."""
    return {
        "operation": operation.value,
        "vnf": report.vnf,
        "load_pps": spec.load_pps,
        "accelerator": report.accelerator.value,
        **dict(report.settings),
    }
