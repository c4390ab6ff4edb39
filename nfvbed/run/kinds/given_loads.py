"""Executes the tests at given loads: continuous, loss curve, latency, soak."""

from nfvbed.errors import InternalError
from nfvbed.measure.loads import Load
from nfvbed.records import CellRole
from nfvbed.results import LoadsPayload, Reference
from nfvbed.run.kinds.bench import Outcome, TestBench, part_of
from nfvbed.spec.testkinds.continuous import ContinuousTest
from nfvbed.spec.testkinds.latency import LatencyTest
from nfvbed.spec.testkinds.loss_curve import LossCurveTest
from nfvbed.spec.testkinds.soak import SoakTest


def continuous(bench: TestBench, spec: ContinuousTest) -> Outcome:
    """Measure one trial at a given load."""
    base, load = _one_load(bench, spec, spec.duration_s)
    return Outcome(LoadsPayload(reference=base, points=tuple(bench.points([load]))))


def soak(bench: TestBench, spec: SoakTest) -> Outcome:
    """Measure interval after interval, whatever the placement does meanwhile."""
    base, load = _one_load(bench, spec, spec.interval_s)
    points = bench.points([load] * spec.intervals, tries=1)
    return Outcome(LoadsPayload(reference=base, points=tuple(points)))


def at_loads(bench: TestBench, spec: LossCurveTest | LatencyTest) -> Outcome:
    """Measure a trial at each load; of the generator looped back only at the fixed one, which is the same for all."""
    fractions = spec.fractions if bench.cell.role is CellRole.SUBJECT else ()
    base = bench.base(spec.of) if fractions else None
    loads = [Load(part_of(base, part), spec.duration_s, part) for part in fractions] if base else []
    if isinstance(spec, LatencyTest) and spec.fixed_load_pps is not None:
        loads.append(Load(spec.fixed_load_pps, spec.duration_s))
    return Outcome(LoadsPayload(reference=base, points=tuple(bench.points(loads))))


def _one_load(bench: TestBench, spec: ContinuousTest | SoakTest, duration_s: float) -> tuple[Reference | None, Load]:
    base, load_pps = bench.given_load(spec)
    if load_pps is None:
        raise InternalError(f"test {spec.kind} has no load", where=bench.cell.id)
    return base, Load(load_pps, duration_s, spec.fraction)
