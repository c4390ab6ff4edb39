"""The searches of one row taken apart: a line for each goal of each search, with what became of it."""

from collections.abc import Iterable, Sequence
from typing import Final

from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import Record, Status
from nfvbed.report import throughput, wording
from nfvbed.report.relative import rounds_ratios
from nfvbed.search.result import GoalResult, SearchResult
from nfvbed.spec.conformance import conformance

HEADINGS: Final = (
    "Round", "Search", "Goal", "Class", "Throughput, Mpps", "Bounds, Mpps", "Of testpmd", "Trials", "Void", "Used",
    "Why",
)  # fmt: skip


class SearchLine(Record):
    """One goal of one search, as text."""

    round: int
    search: str
    goal: str
    placement: str
    throughput: str
    """Throughput of a regular result; else empty."""
    bounds: str
    relative: str
    """Ratio to the search of testpmd in the switch's place in the same round."""
    trials: str
    void: str
    used: bool
    why: str

    @property
    def texts(self) -> tuple[str, ...]:
        """In the order of `HEADINGS`."""
        named = (str(self.round), self.search, self.goal, self.placement)
        found = (self.throughput, self.bounds, self.relative, self.trials, self.void)
        return (*named, *found, "yes" if self.used else "no", self.why)


def search_lines(searches: Sequence[MeasuredTest], cell: str) -> tuple[SearchLine, ...]:
    """Return the lines of a cell, in the order in which its searches ended.

    Args:
        searches: those of the cell, and those that they are relative to.
    """
    ratios = {
        (one.test, one.round, one.goal): one.ratio for one in rounds_ratios(entry.result for entry in searches)
        if one.cell == cell
    }  # fmt: skip
    lines: list[SearchLine] = []
    for entry in searches:
        if entry.cell != cell:
            continue
        if entry.result.status is not Status.OK or not entry.result.payload:
            lines.append(_without(entry))
            continue
        found = SearchResult.model_validate(entry.result.payload)
        for goal in found.goals:
            ratio = ratios.get((entry.result.test, entry.result.round, goal.goal.name))
            lines.append(_line(entry, found, goal, ratio))
    return tuple(lines)


def exclusions_of(searches: Iterable[MeasuredTest], cell: str) -> tuple[str, ...]:
    """Return what the searches of a cell leave out, each kind once."""
    found = (
        SearchResult.model_validate(entry.result.payload)
        for entry in searches
        if entry.cell == cell and entry.result.payload
    )
    return tuple(dict.fromkeys(throughput.exclusion(one.search.label, one.left_out) for one in found))


def conformity_of(searches: Iterable[MeasuredTest], cell: str) -> tuple[str, ...]:
    """Return what the searches of a cell may claim of the standards, and what deviates from them, each kind once."""
    found = [
        SearchResult.model_validate(entry.result.payload)
        for entry in searches
        if entry.cell == cell and entry.result.payload
    ]
    claims = (
        throughput.claim(one.search.label, goal.name, conformance(one.search, goal))
        for one in found
        for goal in one.search.goals
    )
    deviating = (throughput.deviating(one.search.label, one.deviations) for one in found)
    return tuple(dict.fromkeys((*claims, *deviating)))


def _line(entry: MeasuredTest, found: SearchResult, goal: GoalResult, ratio: float | None) -> SearchLine:
    rate = goal.conditional_throughput_pps if goal.regular else None
    low, high = (
        wording.NOTHING if bound is None else wording.mpps(bound.load_pps)
        for bound in (goal.lower_bound, goal.upper_bound)
    )
    return SearchLine(
        round=entry.result.round,
        search=found.search.label,
        goal=goal.goal.name,
        placement=entry.placement_class,
        throughput=wording.NOTHING if rate is None else wording.mpps(rate),
        bounds=f"{low} .. {high}",
        relative=wording.NOTHING if ratio is None else f"{ratio:.3f}",
        trials=str(found.trials),
        void=wording.NOTHING if found.void is None else f"{found.void.void_trials} of {found.void.trials}",
        used=entry.shown and goal.regular,
        why=_why(entry, found, goal, ratio),
    )


def _why(entry: MeasuredTest, found: SearchResult, goal: GoalResult, ratio: float | None) -> str:
    if not entry.shown:
        return f"in class {entry.placement_class}, which is not the one that is shown"
    if goal.irregularity is not None:
        return f"irregular, {goal.irregularity.value}: {goal.explanation}"
    said = "in the median of its goal"
    if found.relative_to is None:
        return said
    return f"{said}; {'paired with' if ratio is not None else 'no pair: no regular result in one class of'} " + (
        found.relative_to
    )


def _without(entry: MeasuredTest) -> SearchLine:
    nothing = wording.NOTHING
    return SearchLine(
        round=entry.result.round,
        search=entry.result.test,
        goal=nothing,
        placement=entry.placement_class or nothing,
        throughput=nothing,
        bounds=nothing,
        relative=nothing,
        trials=nothing,
        void=nothing,
        used=False,
        why=f"{entry.result.status.value}: {entry.result.reason}",
    )
