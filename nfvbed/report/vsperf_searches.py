"""The goals of searches in the columns of VSPERF's result files; an irregular result has no rate, and says why."""

from collections.abc import Iterable, Sequence

from nfvbed.compare.summary import CellSummary
from nfvbed.compare.testresults import MeasuredTest
from nfvbed.report.export import Value
from nfvbed.report.vsperf_fields import own_of_test, span_of_test, times
from nfvbed.search.result import GoalResult, SearchResult
from nfvbed.units import layer2_bits_per_s


def search_lines(row: CellSummary, searches: Sequence[MeasuredTest]) -> Iterable[dict[str, Value]]:
    """Give one line for each goal of each search.

    Args:
        row: of their cell.
        searches: those that came to something, in the class that is shown.
    """
    for test in searches:
        found = SearchResult.model_validate(test.result.payload)
        for goal in found.goals:
            yield _rates(row, goal) | times([span_of_test(test)]) | _own(row, test, found, goal)


def _rates(row: CellSummary, goal: GoalResult) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if goal.regular and goal.lower_bound is not None and goal.conditional_throughput_pps is not None:
        sent, received = float(goal.lower_bound.load_pps), float(goal.conditional_throughput_pps)
        fields = {
            "tx_rate_fps": sent,
            "throughput_rx_fps": received,
            "tx_rate_mbps": layer2_bits_per_s(sent, row.frame_size) / 1e6,
            "throughput_rx_mbps": layer2_bits_per_s(received, row.frame_size) / 1e6,
            "frame_loss_percent": 100 * goal.lower_bound.lost_frames / max(1, goal.lower_bound.intended_frames),
        }
    return fields


def _own(row: CellSummary, test: MeasuredTest, found: SearchResult, goal: GoalResult) -> dict[str, Value]:
    reason = f"{goal.irregularity.value}: {goal.explanation}" if goal.irregularity else ""
    return own_of_test(row, test, found.trials) | {
        "nfvbed_preset": f"{found.label} {goal.goal.name}",
        "nfvbed_reason": reason,
        "nfvbed_rx_low_fps": goal.lower_bound.load_pps if goal.lower_bound else None,
        "nfvbed_rx_high_fps": goal.upper_bound.load_pps if goal.upper_bound else None,
        "nfvbed_limits": goal.irregularity.value if goal.irregularity else "",
    }
