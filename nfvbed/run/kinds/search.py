"""Executes a throughput search."""

from nfvbed.measure.searching import DeploymentMeasurer, SearchedSystem
from nfvbed.records import Status
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.references import load_range
from nfvbed.search.engine import Setting, search
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import SearchResult
from nfvbed.spec.testkinds.search import SearchTest


def execute(bench: TestBench, spec: SearchTest) -> Outcome:
    """Search within one placement class, up to the generator's ceiling where no largest load is given.

    Raises:
        NothingToGoBy: the ceiling was not measured.
    """
    known = bench.known()
    what = bench.plan.experiment.search_of(spec)
    system = SearchedSystem(bench.setup.site, bench.setup.deployment, bench.setup.measures)
    history = tuple(trial.core_distance_ns for trial in known.trials)
    setting = Setting(
        loads=load_range(what, bench.cell, known),
        directions=2 if bench.cell.bidirectional else 1,
        placement=PlacementRule(known.classify, history, known.wanted),
    )
    measurer = DeploymentMeasurer(system, bench.bare_task, bench.keep)
    result = search(what, measurer, setting)
    status = Status.OK if result.trials else Status.BLOCKED
    return Outcome(result, status, irregularities(result), result.placement.label)


def irregularities(result: SearchResult) -> str:
    """Say of every goal without a regular result why; empty where all have one."""
    return "; ".join(
        f"{goal.goal.name} {goal.irregularity.value}: {goal.explanation}"
        for goal in result.goals
        if goal.irregularity is not None
    )
