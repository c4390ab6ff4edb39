"""The goals of searches in VSPERF's columns; an irregular result has no rate, but the reason."""

from collections.abc import Iterable, Sequence

from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.report.csv.export import Value
from nfvbed.report.csv.tests import NOTHING_EXCLUDED
from nfvbed.search.result import GoalResult, SearchResult
from nfvbed.vsperf.export.fields import own_of_test, sent_and_received, span_of_test, times


def search_lines(row: CellSummary, searches: Sequence[MeasuredTest]) -> Iterable[dict[str, Value]]:
    """Yield one line for each goal of each search.

    Args:
        searches: those with a result, in the class that is shown.
    """
    for test in searches:
        found = SearchResult.model_validate(test.result.payload)
        for goal in found.goals:
            yield _rates(row, goal) | times([span_of_test(test)]) | _own(row, test, found, goal)


def _rates(row: CellSummary, goal: GoalResult) -> dict[str, Value]:
    low = goal.lower_bound
    if not goal.regular or low is None or goal.conditional_throughput_pps is None:
        return {}
    loss = 100 * low.lost_frames / max(1, low.intended_frames)
    found = sent_and_received(row, float(low.load_pps), float(goal.conditional_throughput_pps))
    return found | {"frame_loss_percent": loss}


def _own(row: CellSummary, test: MeasuredTest, found: SearchResult, goal: GoalResult) -> dict[str, Value]:
    return own_of_test(
        row,
        test,
        found.trials,
        preset=f"{found.label} {goal.goal.name}",
        reason=f"{goal.irregularity.value}: {goal.explanation}" if goal.irregularity else "",
        rx_low_fps=goal.lower_bound.load_pps if goal.lower_bound else None,
        rx_high_fps=goal.upper_bound.load_pps if goal.upper_bound else None,
        limits=goal.irregularity.value if goal.irregularity else "",
        excludes="; ".join(found.left_out) or NOTHING_EXCLUDED,
        conformance="; ".join(f"{one.standard.value}: {one.level.value}" for one in goal.conformance),
        deviations="; ".join(found.deviations),
    )
