"""What a test builds on: the loads that others of the same run have found."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from nfvbed.plan.ceilings import PORT_TO_PORT
from nfvbed.plan.cells import CellPlan, cell_id
from nfvbed.plan.completeness import MIXED, SINGLE, Classify
from nfvbed.records import CellRole, Preset, Status, TrialRecord
from nfvbed.records.results import Reference, ResultKind, ResultRecord
from nfvbed.search.result import LoadRange, SearchResult
from nfvbed.search.stop import Irregularity
from nfvbed.spec.search import Search
from nfvbed.spec.testkinds.base import MRR


class MissingReference(Exception):
    """What a test builds on is missing; the test is blocked, and the others go on."""


@dataclass(frozen=True)
class TestReferences:
    """What a run knows when a test begins."""

    trials: Sequence[TrialRecord]
    """All that ended well, in order."""
    results: Sequence[ResultRecord]
    classify: Classify
    wanted: str | None
    """The placement class to measure in; None: the host has shown none."""

    def mrr(self, cell: str) -> tuple[list[int], str]:
        """Return the maximum receive rates of a cell in the class of its newest one, and that class.

        Where the newest one is in none, all count.
        """
        labels = self.classify([trial.core_distance_ns for trial in self.trials])
        mine = [
            (trial.forwarded_rate_pps, label)
            for trial, label in zip(self.trials, labels, strict=True)
            if (trial.cell, trial.preset) == (cell, Preset.MRR)
        ]
        newest = mine[-1][1] if mine else MIXED
        return [rate for rate, label in mine if newest in (label, MIXED)], newest


def reference(of: str, cell: CellPlan, known: TestReferences) -> Reference:
    """Return the load that fractions are fractions of: the MRR, or the lower bound that a search found.

    Of several results those in the wanted class come first, then regular ones, then the newest.

    Args:
        of: `mrr`, or the name of a goal.

    Raises:
        MissingReference: there is no such load.
    """
    if of == MRR:
        rates, label = known.mrr(cell.id)
        if not any(rates):
            raise MissingReference(f"no frame came through {cell.id} at maximum load")
        return Reference(of=of, load_pps=int(median(rates)), regular=True, placement_class=label)
    found: list[tuple[bool, bool, int, Reference]] = []
    for record in known.results:
        if (record.cell, record.kind, record.status) != (cell.id, ResultKind.SEARCH, Status.OK):
            continue
        for goal in SearchResult.model_validate(record.payload).goals:
            if goal.goal.name == of and goal.lower_bound is not None:
                load = Reference(
                    of=of,
                    load_pps=goal.lower_bound.load_pps,
                    regular=goal.regular,
                    placement_class=record.placement_class,
                )
                found.append((record.placement_class == known.wanted, goal.regular, len(found), load))
    if not found:
        raise MissingReference(f"no search of {cell.id} has a lower bound for {of} in this run")
    return max(found, key=lambda entry: entry[:3])[3]


def load_range(what: Search, cell: CellPlan, known: TestReferences) -> LoadRange:
    """Return the loads of a search: up to what was asked for, else up to the generator's ceiling.

    The ceiling is the median rate of the generator looped back. Where one core serves both its ends, that can be less
    than what came through the system under test. This was then the most that the generator has shown.

    Raises:
        MissingReference: the ceiling was not measured.
    """
    if what.max_load_pps is not None:
        return LoadRange(min_load_pps=what.min_load_pps, max_load_pps=what.max_load_pps)
    looped = cell_id(CellRole.LOOPBACK, cell.ports, (PORT_TO_PORT, ""), cell.frame_size)
    labels = known.classify([trial.core_distance_ns for trial in known.trials])
    every = [
        (trial.forwarded_rate_pps, label)
        for trial, label in zip(known.trials, labels, strict=True)
        if (trial.cell, trial.preset) == (looped, Preset.MRR)
    ]
    rates = [rate for rate, label in every if label in (known.wanted, SINGLE)] or [rate for rate, _ in every]
    if not rates:
        raise MissingReference(f"{looped} has no trial that ended well, so the largest load is not known: max_load_pps")
    own, _ = known.mrr(cell.id)
    ceiling = max(int(median(rates)), int(median(own)) if own else 0)
    return LoadRange(min_load_pps=what.min_load_pps, max_load_pps=max(ceiling, 2), limit=Irregularity.GENERATOR_LIMITED)
