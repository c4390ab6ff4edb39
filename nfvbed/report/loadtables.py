"""What the tables of tests at given loads say beside the numbers, the same in the terminal and on the page."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.latency import FRAMES_ABOVE, LatencySummary
from nfvbed.compare.rows.testresults import MeasuredLoad, MeasuredTest
from nfvbed.records import Status
from nfvbed.records.results import Reference, ResultKind
from nfvbed.report import wording
from nfvbed.search.result import SearchResult

LOWER_BOUND: Final = (
    "The load is a part of the lower bound of a search whose result is irregular; what was searched for may lie higher"
)

TAIL: Final = 99.9
"""The percentile of the tables that takes most frames."""


def listed(test: MeasuredTest) -> tuple[MeasuredLoad, ...]:
    """Return the loads that the terminal lists: all, but of a soak's intervals only the worst one."""
    return (worst_interval(test),) if test.result.kind is ResultKind.SOAK and test.loads else test.loads


def worst_interval(test: MeasuredTest) -> MeasuredLoad:
    """Return the interval of a soak that lost most; of equal ones the first."""
    return max(test.loads, key=lambda load: load.missing_ratio)


def soak_lines(tests: Iterable[MeasuredTest]) -> tuple[str, ...]:
    """Return for every soak which of its intervals stands for it, and in how many frames were lost."""
    found = []
    for test in tests:
        if test.result.kind is not ResultKind.SOAK or test.result.status is not Status.OK or not test.loads:
            continue
        lossy = sum(load.missing_ratio > 0 for load in test.loads)
        named = f"{test.variant}, {wording.row_point(test)}, {test.result.test}"
        shown = "the first is listed" if not lossy else f"the worst is listed, from {start(worst_interval(test))} s"
        found.append(f"{named}: frames missing in {lossy} of {len(test.loads)} intervals; {shown}.")
    return tuple(found)


def apart_lines(tests: Iterable[MeasuredTest]) -> tuple[str, ...]:
    """Return which tests have results in other placement classes than the one that is shown, and in no shown one."""
    shown: set[tuple[str, str, str]] = set()
    classes: dict[tuple[str, str, str], set[str]] = {}
    names: dict[tuple[str, str, str], str] = {}
    for test in tests:
        key = test.run, test.cell, test.result.test
        names[key] = f"{test.variant}  {wording.row_point(test)}  {test.result.test}"
        if test.shown:
            shown.add(key)
        else:
            classes.setdefault(key, set()).add(test.placement_class)
    return tuple(
        f"{names[key]}: placement: results in class {', '.join(sorted(found))} only"
        for key, found in classes.items()
        if key not in shown
    )


def reason_lines(tests: Iterable[MeasuredTest]) -> tuple[str, ...]:
    """Return what was found wrong with the results of tests that ended well: a path that is not accepted."""
    return tuple(
        f"{test.variant}, {wording.row_point(test)}, {test.result.test}: {test.result.reason}."
        for test in tests
        if test.result.status is Status.OK and test.result.reason
    )


def start(load: MeasuredLoad) -> str:
    """Return when an interval of a soak began, in s since the soak did; a dash for what is no interval."""
    return wording.NOTHING if load.from_s is None else f"{load.from_s:.10g}"


def part(test: MeasuredTest, load: MeasuredLoad) -> str:
    """Return what a load is a part of: `50% PDR`, or `≤ 50% PDR` of a PDR of which only a lower bound is known.

    Empty where the load was given in frames/s.
    """
    base = test.base_of(load)
    return f"{'' if base.regular else '≤ '}{load.point.fraction:.0%} {base.of}" if base else ""


def bound_lines(comparison: Comparison, tests: Iterable[MeasuredTest]) -> tuple[str, ...]:
    """Return in one line which references are lower bounds, and why; nothing where none is."""
    found = _bounds(comparison, tests)
    return (f"≤: at most that part. {LOWER_BOUND}: {found}.",) if found else ()


def bound_lines_of_tables(comparison: Comparison, tests: Iterable[MeasuredTest]) -> tuple[str, ...]:
    """Return the same for tests that measure quantities at such a load."""
    found = _bounds(comparison, tests)
    return (f"{LOWER_BOUND}: {found}.",) if found else ()


def _bounds(comparison: Comparison, tests: Iterable[MeasuredTest]) -> str:
    found = ((test, _irregular(test)) for test in tests)
    return "; ".join(dict.fromkeys(_bound(comparison, test, base) for test, base in found if base is not None))


def _irregular(test: MeasuredTest) -> Reference | None:
    """Return the reference that a test's loads are parts of, where it is a lower bound only."""
    bases = (test.table.reference,) if test.table else (test.base_of(load) for load in test.loads)
    return next((base for base in bases if base is not None and not base.regular), None)


def _bound(comparison: Comparison, test: MeasuredTest, base: Reference) -> str:
    """Return a reference with the reasons of the search that found it, where the run still has that."""
    named = f"{test.variant}, {wording.row_point(test)}, {base.of}"
    results = (
        SearchResult.model_validate(search.result.payload)
        for search in comparison.tests
        if (search.run, search.cell, search.result.kind) == (test.run, test.cell, ResultKind.SEARCH)
        and search.result.payload
    )
    reasons = dict.fromkeys(
        goal.irregularity.value
        for result in results
        for goal in result.goals
        if goal.goal.name == base.of
        and goal.irregularity is not None
        and goal.lower_bound is not None
        and goal.lower_bound.load_pps == base.load_pps
    )
    return f"{named}: {', '.join(reasons)}" if reasons else named


def due_lines(tests: Iterable[MeasuredTest]) -> tuple[str, ...]:
    """Return where a percentile over the frames that were due is another one than over those that came."""
    found = [words for test in tests if (words := _due_of(test))]
    if not found:
        return ()
    return (f"P99 over all frames that were due, one that never came being infinitely late: {'; '.join(found)}.",)


def _due_of(test: MeasuredTest) -> str:
    """Return the percentiles of one test; of loads after each other that have the same one, the first and the last."""
    late = [
        (part(test, load) or wording.mpps(load.point.intended_load_pps), _late(load.due.p99_ns))
        for load in listed(test)
        if load.due is not None and load.latency is not None and load.due.p99_ns != load.latency.p99_ns
    ]
    groups = [(text, [load for load, _ in same]) for text, same in groupby(late, key=lambda entry: entry[1])]
    said = [f"{loads[0]}{f' to {loads[-1]}' if len(loads) > 1 else ''}: {text}" for text, loads in groups]
    return f"{test.variant}, {wording.row_point(test)}, {', '.join(said)}" if said else ""


def _late(latency_ns: int | None) -> str:
    return "infinite" if latency_ns is None else f"{latency_ns / 1000:.4g} us"


def tail_lines(shown: Iterable[tuple[MeasuredTest, Sequence[MeasuredLoad]]]) -> tuple[str, ...]:
    """Return a line on why tables have a dash in place of a latency percentile; none where no table has one.

    Args:
        shown: tests, each with those of its loads that are listed.
    """
    found = [summary for test, loads in shown for load in loads for summary in _latencies(test, load)]
    if all(summary is None or summary.at(TAIL) is not None for summary in found):
        return ()
    needed = round(FRAMES_ABOVE * 100 / (100 - TAIL))
    return (
        f"P{TAIL:g} is {wording.NOTHING} where fewer than {FRAMES_ABOVE} frames lie above it: chance would decide it."
        f" It takes {needed:,} frames with time stamps; longer trials and higher loads have more of them.",
    )


def _latencies(test: MeasuredTest, load: MeasuredLoad) -> tuple[LatencySummary | None, ...]:
    """Return what a load's rows show: both directions together, and of a test of latency each on its own."""
    return (load.latency, *(load.latency_directions if test.result.kind is ResultKind.LATENCY else ()))
