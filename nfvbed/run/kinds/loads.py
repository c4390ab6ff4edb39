"""Executes the tests at loads: given ones (continuous, loss curve, latency, soak), and the search for the highest."""

from collections.abc import Sequence

from nfvbed.errors import InternalError
from nfvbed.measure.loads import Load
from nfvbed.measure.searching import DeploymentMeasurer, SearchedSystem
from nfvbed.records import CellRole, Status
from nfvbed.records.results import LoadPoint, LoadsPayload, Reference
from nfvbed.run.kinds.celltest import CellTest, Outcome, part_of
from nfvbed.run.references import load_range
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import SearchResult
from nfvbed.spec.testkinds.loads import ContinuousTest, LatencyTest, LossCurveTest, SearchTest, SoakTest


def continuous(cell_test: CellTest, spec: ContinuousTest) -> Outcome[LoadsPayload]:
    """Measure one trial at a given load."""
    base, load = _one_load(cell_test, spec, spec.duration_s)
    points = tuple(cell_test.points([load]))
    return Outcome(LoadsPayload(reference=base, points=points), reason=not_accepted(points, spec.lost_at_most))


def not_accepted(points: Sequence[LoadPoint], lost_at_most: int | None) -> str:
    """Return why a path is not accepted; empty: it is, or nothing is judged."""
    if lost_at_most is None:
        return ""
    surplus = sum(point.surplus_frames for point in points)
    if surplus:
        return f"not accepted: {surplus} frames came back beyond those that were sent, so what is lost is not known"
    lost = sum(point.lost_frames for point in points)
    sent = sum(point.intended_frames - point.unsent_frames for point in points)
    if sent and lost <= lost_at_most:
        return ""
    return f"not accepted: {lost} of {sent} frames that were sent are lost, and at most {lost_at_most} may be"


def soak(cell_test: CellTest, spec: SoakTest) -> Outcome[LoadsPayload]:
    """Measure interval after interval, whatever the placement does meanwhile."""
    base, load = _one_load(cell_test, spec, spec.interval_s)
    points = cell_test.points([load] * spec.intervals, tries=1)
    return Outcome(LoadsPayload(reference=base, points=tuple(points)))


def at_loads(cell_test: CellTest, spec: LossCurveTest | LatencyTest) -> Outcome[LoadsPayload]:
    """Measure a trial at each load; of the generator looped back only at the fixed one, which is the same for all."""
    fractions = spec.fractions if cell_test.cell.role is CellRole.SUBJECT else ()
    base = cell_test.base(spec.of) if fractions else None
    loads = [Load(part_of(base, part), spec.duration_s, part) for part in fractions] if base else []
    if isinstance(spec, LatencyTest) and spec.fixed_load_pps is not None:
        loads.append(Load(spec.fixed_load_pps, spec.duration_s))
    return Outcome(LoadsPayload(reference=base, points=tuple(cell_test.points(loads))))


def _one_load(cell_test: CellTest, spec: ContinuousTest | SoakTest, duration_s: float) -> tuple[Reference | None, Load]:
    base, load_pps = cell_test.given_load(spec)
    if load_pps is None:
        raise InternalError(f"test {spec.kind} has no load", where=cell_test.cell.id)
    return base, Load(load_pps, duration_s, spec.fraction)


def search(cell_test: CellTest, spec: SearchTest) -> Outcome[SearchResult]:
    """Search within one placement class, up to the generator's ceiling where no largest load is given.

    Raises:
        MissingReference: the ceiling was not measured.
    """
    # The search's library takes half a second to import, which runs without a search are spared.
    from nfvbed.search import engine

    known = cell_test.known()
    what = cell_test.plan.experiment.search_of(spec)
    system = SearchedSystem(cell_test.setup.site, cell_test.setup.deployment, cell_test.setup.measures)
    history = tuple(trial.core_distance_ns for trial in known.trials)
    setting = engine.Setting(
        loads=load_range(what, cell_test.cell, known),
        directions=2 if cell_test.cell.bidirectional else 1,
        placement=PlacementRule(known.classify, history, known.wanted),
        generator_place=cell_test.setup.site.generator_place,
    )
    measurer = DeploymentMeasurer(system, cell_test.bare_task, cell_test.keep, drain_s=what.drain_s)
    result = engine.search(what, measurer, setting)
    if spec.relative:
        result = result.model_copy(update={"relative_to": cell_test.plan.references.get(cell_test.cell.id)})
    status = Status.OK if result.trials else Status.BLOCKED
    return Outcome(result, status, irregularities(result), result.placement.label, nothing=result.nothing_came)


def irregularities(result: SearchResult) -> str:
    """Return for every goal without a regular result why; empty where all have one."""
    return "; ".join(
        f"{goal.goal.name} {goal.irregularity.value}: {goal.explanation}"
        for goal in result.goals
        if goal.irregularity is not None
    )
