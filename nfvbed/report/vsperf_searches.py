"""The goals of searches in the columns of VSPERF's result files; an irregular result has no rate, and says why."""

from collections.abc import Iterable

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.summary import CellSummary
from nfvbed.compare.testresults import MeasuredTest
from nfvbed.report.export import Value
from nfvbed.results import ResultKind
from nfvbed.search.result import GoalResult, SearchResult
from nfvbed.spec.vsperf.columns import OWN_PREFIX
from nfvbed.units import layer2_bits_per_s

TRAFFIC_TYPE = "rfc2544_throughput"


def search_lines(row: CellSummary, comparison: Comparison) -> Iterable[dict[str, Value]]:
    """Give one line for each goal of each search of a row's cell, in the class that is shown."""
    for test in comparison.tests:
        mine = (test.run, test.cell, test.result.kind) == (row.run, row.cell, ResultKind.SEARCH)
        if mine and test.shown and test.result.payload:
            found = SearchResult.model_validate(test.result.payload)
            for goal in found.goals:
                yield _rates(row, goal) | _own(row, test, found, goal)


def _rates(row: CellSummary, goal: GoalResult) -> dict[str, Value]:
    fields: dict[str, Value] = {"type": TRAFFIC_TYPE, "frame_loss_percent": None}
    if goal.regular and goal.lower_bound is not None and goal.conditional_throughput_pps is not None:
        sent, received = float(goal.lower_bound.load_pps), float(goal.conditional_throughput_pps)
        fields |= {
            "tx_rate_fps": sent,
            "throughput_rx_fps": received,
            "tx_rate_mbps": layer2_bits_per_s(sent, row.frame_size) / 1e6,
            "throughput_rx_mbps": layer2_bits_per_s(received, row.frame_size) / 1e6,
            "frame_loss_percent": 100 * goal.lower_bound.lost_frames / max(1, goal.lower_bound.intended_frames),
        }
    return fields


def _own(row: CellSummary, test: MeasuredTest, found: SearchResult, goal: GoalResult) -> dict[str, Value]:
    reason = f"{goal.irregularity.value}: {goal.explanation}" if goal.irregularity else ""
    values: dict[str, Value] = {
        "run": row.run,
        "cell": row.cell,
        "variant": row.variant,
        "preset": f"{found.label} {goal.goal.name}",
        "simulated": int(test.result.simulated),
        "status": test.result.status.value,
        "reason": reason,
        "trials": found.trials,
        "rx_low_fps": goal.lower_bound.load_pps if goal.lower_bound else None,
        "rx_high_fps": goal.upper_bound.load_pps if goal.upper_bound else None,
        "placement_class": test.placement_class,
        "limits": goal.irregularity.value if goal.irregularity else "",
        "warnings": " ".join(warning.value for warning in test.doubts),
    }
    return {OWN_PREFIX + name: value for name, value in values.items()}
