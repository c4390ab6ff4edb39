"""What the tables of tests at given loads say beside the numbers, the same in the terminal and on the page."""

from collections.abc import Iterable

from nfvbed.compare.testresults import MeasuredLoad, MeasuredTest
from nfvbed.records import Status
from nfvbed.report import wording
from nfvbed.results import ResultKind


def worst_interval(test: MeasuredTest) -> MeasuredLoad:
    """Give the interval of a soak that lost most; of equal ones the first."""
    return max(test.loads, key=lambda load: load.loss_ratio)


def soak_lines(tests: Iterable[MeasuredTest]) -> tuple[str, ...]:
    """Say of every soak which of its intervals stands for it, and in how many frames were lost."""
    found = []
    for test in tests:
        if test.result.kind is not ResultKind.SOAK or test.result.status is not Status.OK or not test.loads:
            continue
        lossy = sum(load.loss_ratio > 0 for load in test.loads)
        named = f"{test.variant}, {wording.point(test.topology, test.vnf, test.frame_size)}, {test.result.test}"
        shown = "the first is listed" if not lossy else f"the worst is listed, from {start(worst_interval(test))} s"
        found.append(f"{named}: loss in {lossy} of {len(test.loads)} intervals; {shown}.")
    return tuple(found)


def start(load: MeasuredLoad) -> str:
    """Write when an interval of a soak began, in s since the soak did; a dash for what is no interval."""
    return wording.NOTHING if load.from_s is None else f"{load.from_s:.10g}"
