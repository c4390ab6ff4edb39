"""Results of tests beside the MRR as CSV, for other programs: a line for each goal, load and quantity, unrounded."""

import csv
import io
from collections.abc import Iterable, Sequence

from nfvbed.characters import guarded
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.latency import DueLatency, LatencySummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records.results import Reference, ResultKind, TablePayload
from nfvbed.report.csv.export import Value, written_once
from nfvbed.report.relative import rounds_ratios
from nfvbed.search.result import SearchResult

COLUMNS = (
    "run", "cell", "round", "test", "kind", "placement_class", "shown", "simulated", "status", "reason", "warnings",
    "preset", "goal", "loss_ratio_allowed", "regular", "irregularity", "conditional_throughput_pps", "lower_bound_pps",
    "upper_bound_pps", "sequence", "fraction", "of", "intended_load_pps", "forwarded_rate_pps", "missing_ratio",
    *(
        f"latency_{of}{name}_ns" for of in ("", "0_to_1_", "1_to_0_")
        for name in ("min", "p50", "p90", "p99", "p99_9", "max", "delay_variation_p99")
    ),
    "condition", "condition_status", "condition_reason", "quantity", "value", "unit", "low", "high",
    "interval_from_s", "reference_regular", "due_frames", "due_p50_ns", "due_p99_ns",
    "excludes", "void_ratio", "relative_to", "relative_ratio", "headline", "conformance", "deviations",
)  # fmt: skip
"""Latency first of both directions together, then of each. New columns come last: readers by place go on working."""


NOTHING_EXCLUDED = "nothing"
"""What a search excludes by whose rule every frame and every trial counts; empty where there is no search."""

Ratios = dict[tuple[str, str, str, int, str], float | None]


def tests_to_csv(comparison: Comparison) -> str:
    """Return the lines; a missing value is an empty field, never 0."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    ratios = _ratios(comparison)
    for test in comparison.tests:
        first = _first(test)
        for fields in list(_details(test, ratios)) or [{}]:
            writer.writerow({name: guarded(value) for name, value in (first | fields).items()})
    return text.getvalue()


def _ratios(comparison: Comparison) -> Ratios:
    """Return what was found relative to testpmd, by run, cell, test, round and goal."""
    found: Ratios = {}
    for run in dict.fromkeys(test.run for test in comparison.tests):
        for one in rounds_ratios(test.result for test in comparison.tests if test.run == run):
            found[run, one.cell, one.test, one.round, one.goal] = one.ratio
    return found


def _details(test: MeasuredTest, ratios: Ratios) -> Iterable[dict[str, Value]]:
    if test.result.kind is ResultKind.SEARCH:
        return _goals(test, ratios)
    return _quantities(test.table, test.headline) if test.table else _loads(test)


def _regular(base: Reference | None) -> Value:
    """Return whether what a load is a part of is a regular result: else it is a lower bound."""
    return int(base.regular) if base else None


def _quantities(table: TablePayload, headline: Sequence[str]) -> Iterable[dict[str, Value]]:
    for row in table.rows:
        first: dict[str, Value] = {
            "condition": row.label,
            "condition_status": row.status.value,
            "condition_reason": row.reason,
            "sequence": row.sequence,
            "reference_regular": _regular(table.reference),
        }
        for found in row.quantities:
            yield first | {
                "quantity": found.name,
                "value": found.value,
                "unit": found.unit,
                "low": found.low,
                "high": found.high,
                "headline": int(found.name in headline),
            }
        if not row.quantities:
            yield first


def _first(test: MeasuredTest) -> dict[str, Value]:
    result = test.result
    return {
        "run": test.run,
        "cell": test.cell,
        "round": result.round,
        "test": result.test,
        "kind": result.kind.value,
        "placement_class": test.placement_class,
        "shown": int(test.shown),
        "simulated": int(result.simulated),
        "status": result.status.value,
        "reason": result.reason,
        "warnings": written_once(test.warnings),
    }


def _goals(test: MeasuredTest, ratios: Ratios) -> Iterable[dict[str, Value]]:
    if not test.result.payload:
        return
    found = SearchResult.model_validate(test.result.payload)
    for goal in found.goals:
        yield {
            "preset": found.label,
            "goal": goal.goal.name,
            "loss_ratio_allowed": goal.goal.loss_ratio,
            "regular": int(goal.regular),
            "irregularity": goal.irregularity.value if goal.irregularity else None,
            # Of an irregular result it is no throughput.
            "conditional_throughput_pps": goal.conditional_throughput_pps if goal.regular else None,
            "lower_bound_pps": goal.lower_bound.load_pps if goal.lower_bound else None,
            "upper_bound_pps": goal.upper_bound.load_pps if goal.upper_bound else None,
            "excludes": "; ".join(found.left_out) or NOTHING_EXCLUDED,
            "void_ratio": found.void.share if found.void else None,
            "relative_to": found.relative_to,
            "relative_ratio": ratios.get((test.run, test.cell, test.result.test, test.result.round, goal.goal.name)),
            "conformance": "; ".join(f"{one.standard.value}: {one.level.value}" for one in goal.conformance),
            "deviations": "; ".join(found.deviations),
        }


def _loads(test: MeasuredTest) -> Iterable[dict[str, Value]]:
    for load in test.loads:
        base = test.base_of(load)
        of_directions = zip(("0_to_1_", "1_to_0_"), load.latency_directions, strict=False)
        yield {
            "warnings": written_once(test.warnings_at(load)),
            "sequence": load.point.sequence,
            "fraction": load.point.fraction,
            "of": base.of if base else None,
            "reference_regular": _regular(base),
            "intended_load_pps": load.point.intended_load_pps,
            "forwarded_rate_pps": load.point.forwarded_rate_pps,
            "missing_ratio": load.missing_ratio,
            "interval_from_s": load.from_s,
            **_due(load.due),
            **_latency("", load.latency),
            **{name: value for of, found in of_directions for name, value in _latency(of, found).items()},
        }


def _due(found: DueLatency | None) -> dict[str, Value]:
    """Return the percentiles over due frames; `inf` where so many never came."""
    if found is None:
        return {}
    p50, p99 = ("inf" if value is None else value for value in (found.p50_ns, found.p99_ns))
    return {"due_frames": found.frames, "due_p50_ns": p50, "due_p99_ns": p99}


def _latency(of: str, found: LatencySummary | None) -> dict[str, Value]:
    if found is None:
        return {}
    values: dict[str, Value] = {
        "min": found.min_ns,
        "p50": found.p50_ns,
        "p90": found.at(90.0),
        "p99": found.p99_ns,
        "p99_9": found.at(99.9),
        "max": found.max_ns,
        "delay_variation_p99": found.delay_variation_ns,
    }
    return {f"latency_{of}{name}_ns": value for name, value in values.items()}
