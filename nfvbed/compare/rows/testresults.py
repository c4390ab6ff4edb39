"""Results of tests beside the MRR, each in the placement class that its trials are in as it is known now."""

from collections import Counter
from collections.abc import Iterable, Mapping

from pydantic import Field

from nfvbed.compare.rows.latency import DueLatency, LatencySummary, by_direction, due_latency, merge_latency
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.soak import interval_starts_s
from nfvbed.compare.rows.summary import Census
from nfvbed.records import CellRecord, CellRole, QualityWarning, Record, Status, TrialRecord
from nfvbed.records.headlines import HEADLINES
from nfvbed.records.results import (
    MIXED,
    SINGLE,
    LoadPoint,
    LoadsPayload,
    Reference,
    ResultKind,
    ResultRecord,
    TablePayload,
    placement_of,
)
from nfvbed.spec.conformance import stated
from nfvbed.units import FrameSize


class MeasuredLoad(Record):
    """One load of a test, with the latency of its trial."""

    point: LoadPoint
    missing_ratio: float
    """Lost and refused over intended frames; frames that the generator was too late for count on neither side."""
    latency: LatencySummary | None
    """Both directions together; None where no frame was stamped, or none came back."""
    latency_directions: tuple[LatencySummary | None, ...]
    due: DueLatency | None = None
    """Percentiles over the frames that were due, in which one that never came is infinitely late."""
    warnings: tuple[QualityWarning, ...] = ()
    """Warnings of its trial."""
    at_least: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether its trial counted more frames back than were sent: the ratio above may be more."""
    from_s: float | None = None
    """Start of an interval of a soak, in s since the first one began; else None."""


class MeasuredTest(Record):
    """A test's result with its placement class."""

    run: str
    cell: str
    variant: str
    """Its name; `loopback vhost-user` of the generator alone on such ports, whose latency is the floor of others.

    Ports that few have set so are named so: `loopback veth-no-offloads`.
    """
    topology: str
    vnf: str
    frame_size: FrameSize
    placement_class: str
    """Placement class, as it is known now."""
    shown: bool
    """Whether it is of the class that is shown; others are kept, and never used. A soak outlasts classes; VSPERF
    measures once, and knows none."""
    result: ResultRecord
    headline: tuple[str, ...] = ()
    """What is read first of its kind, best first, by the names that its quantities, loads or goals are shown under."""
    reference: Reference | None = None
    """What fractions are of, in a test at given loads."""
    loads: tuple[MeasuredLoad, ...] = ()
    """Loads of a test at given loads; a search's trials are many, and its bounds tell them."""
    table: TablePayload | None = None
    """Table of a test that measures quantities under several conditions."""
    derived: tuple[QualityWarning, ...] = ()
    """Warnings that only show when results are read together: a class that changed, scatter, too few repetitions."""

    @property
    def warnings(self) -> tuple[QualityWarning, ...]:
        """All there are: those of its trials, and the derived ones."""
        return tuple(dict.fromkeys((*self.result.warnings, *self.derived)))

    def base_of(self, load: MeasuredLoad) -> Reference | None:
        """Return what one of its loads is a part of; None where it was given in frames/s."""
        return None if load.point.fraction is None else self.reference

    def warnings_at(self, load: MeasuredLoad) -> tuple[QualityWarning, ...]:
        """Return those about one of its loads: of that load's trial, and what all its repetitions show."""
        return tuple(dict.fromkeys((*load.warnings, *self.derived)))


def place_results(data: RunData, labels: Mapping[tuple[str, int], str], shown: str) -> Iterable[MeasuredTest]:
    """Yield the results of one run with their places, in the order in which they ended.

    Args:
        labels: the placement class of every trial, by run and sequence.
        shown: the class that rows are shown in.
    """
    cells = {cell.id: cell for cell in data.cells}
    for stored in data.results:
        result = _as_its_cell_ended(stored, cells[stored.cell])
        trials = [trial for trial in data.trials if result.holds(trial.sequence) and trial.status is Status.OK]
        own = [labels[data.run.id, trial.sequence] for trial in trials if result.placed_by(trial.sequence)]
        label = placement_of(result.kind, result.placement_class, own)
        always = not trials or result.kind in (ResultKind.SOAK, ResultKind.VSPERF)
        yield _placed(data, cells[result.cell], result, trials, (label, always or label in (shown, SINGLE)))


def _as_its_cell_ended(result: ResultRecord, cell: CellRecord) -> ResultRecord:
    """Return a result without its figures where its cell failed later: that is never a number."""
    if cell.status is not Status.FAILED or result.status is not Status.OK:
        return result
    reason = f"its cell failed: {cell.reason}" if cell.reason else "its cell failed"
    return result.model_copy(update={"status": Status.FAILED, "reason": reason, "payload": {}})


def take_census_of_tests(tests: Iterable[MeasuredTest], cell: str) -> Census:
    """Return by class the fewest results that any test of a cell has.

    Tests that count in every class (a soak, one that failed) decide nothing.

    Args:
        tests: those of the cell's run, placed.
    """
    found: dict[str, Counter[str]] = {}
    for test in tests:
        decides = test.result.kind is not ResultKind.SOAK and test.result.status is Status.OK
        if test.cell == cell and decides:
            found.setdefault(test.result.test, Counter())[test.placement_class] += 1
    classes = sorted({name for counter in found.values() for name in counter} - {MIXED})
    return Census(
        by_class={name: min(counter[name] for counter in found.values()) for name in classes},
        mixed=sum(counter[MIXED] for counter in found.values()),
        not_ok=0,
    )


def _placed(
    data: RunData, cell: CellRecord, result: ResultRecord, trials: list[TrialRecord], placed: tuple[str, bool]
) -> MeasuredTest:
    label, shown = placed
    if result.kind is ResultKind.SEARCH and result.payload:
        result = result.model_copy(update={"payload": stated(result.payload)})
    loads: tuple[MeasuredLoad, ...] = ()
    reference = None
    table = TablePayload.model_validate(result.payload) if result.kind.is_table and result.payload else None
    if result.kind.has_loads and result.payload:
        payload = LoadsPayload.model_validate(result.payload)
        by_sequence = {trial.sequence: trial for trial in trials}
        reference = payload.reference
        loads = tuple(_measured(point, by_sequence.get(point.sequence)) for point in payload.points)
        if result.kind is ResultKind.SOAK:
            starts = interval_starts_s(payload.points, by_sequence)
            timed = zip(loads, starts, strict=True)
            loads = tuple(load.model_copy(update={"from_s": start}) for load, start in timed)
    return MeasuredTest(
        run=result.run,
        cell=cell.id,
        variant=cell.variant if cell.role is CellRole.SUBJECT else f"{cell.role.value} {data.ports_of(cell)}",
        topology=cell.topology,
        vnf=cell.vnf,
        frame_size=cell.frame_size,
        placement_class=label,
        shown=shown,
        result=result,
        headline=HEADLINES[result.kind],
        reference=reference,
        loads=loads,
        table=table,
    )


def _measured(point: LoadPoint, trial: TrialRecord | None) -> MeasuredLoad:
    encoded = trial.latency_hdr if trial else ()
    return MeasuredLoad(
        point=point,
        missing_ratio=point.missing_ratio,
        latency=merge_latency(text for text in encoded if text),
        latency_directions=by_direction([encoded]),
        due=due_latency((text for text in encoded if text), point.intended_frames),
        warnings=trial.warnings if trial else (),
        at_least=bool(point.surplus_frames) or (trial is not None and trial.has_surplus),
    )
