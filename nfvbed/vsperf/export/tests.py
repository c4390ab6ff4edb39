"""Tests that VSPERF has too, in the columns of its result files: streams, bursts, tables of addresses, searches."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import TrialRecord
from nfvbed.records.results import LoadsPayload, ResultKind, ResultRecord
from nfvbed.report.csv.export import Value, written_once
from nfvbed.spec.testkinds.base import MRR
from nfvbed.vsperf.conf.columns import COUNTS, burst_counts
from nfvbed.vsperf.conf.testids import TestKind
from nfvbed.vsperf.export.fields import frame_loss, own_of_test, rates, span_of_test, times
from nfvbed.vsperf.export.searches import search_lines

Line = tuple[TestKind, dict[str, Value]]
"""What VSPERF calls the test, and its columns beside those of the conditions."""
KIND_OF_RESULT: Final[Mapping[ResultKind, TestKind]] = {
    ResultKind.SEARCH: TestKind.THROUGHPUT,
    ResultKind.CONTINUOUS: TestKind.GIVEN_LOAD,
    ResultKind.BACK_TO_BACK: TestKind.BACK_TO_BACK,
    ResultKind.BURST: TestKind.BURST,
    ResultKind.ADDRESS_CACHING: TestKind.ADDRESS_CACHING,
    ResultKind.ADDRESS_LEARNING: TestKind.ADDRESS_LEARNING,
}
"""Other tests have no columns of VSPERF's."""
FORWARDING_RATE: Final = "forwarding_rate_fps"
BURST_LOSS: Final = "b2b_frame_loss_percent"
FIGURES: Final[Mapping[ResultKind, Mapping[str, str]]] = {
    ResultKind.BACK_TO_BACK: {"b2b_frames": "longest burst"},
    ResultKind.ADDRESS_CACHING: {"caching_capacity_addrs": "addresses held"},
    ResultKind.ADDRESS_LEARNING: {"optimal_learning_rate_fps": "learning rate"},
}
"""VSPERF's column: the quantity of the result's first row."""
_USED: Final = {
    *(column for columns in FIGURES.values() for column in columns),
    BURST_LOSS,
    FORWARDING_RATE,
    *burst_counts((), 64),
}
COUNT_COLUMNS: Final = tuple(column for column in COUNTS if column in _USED)


def kind_of(result: ResultRecord) -> TestKind | None:
    """Return what VSPERF calls the test of a result; None: it has none.

    A loss curve is a test of the forwarding rate only where it was made as one.
    """
    if result.kind is ResultKind.LOSS_CURVE and result.test == TestKind.FORWARDING_RATE.value:
        return TestKind.FORWARDING_RATE
    return KIND_OF_RESULT.get(result.kind)


def lines_of_tests(row: CellSummary, tests: Sequence[MeasuredTest], entry: RunData) -> Iterable[Line]:
    """Yield the lines of a cell's tests, in the order in which the first of each name ended.

    A search has one for each goal. Streams of one test share one, as trials at maximum load do. Any other result, and
    each that came to nothing, has its own.

    Args:
        tests: in the class that is shown.
        entry: the run, for its trials.
    """
    for name in dict.fromkeys(test.result.test for test in tests):
        mine = [test for test in tests if test.result.test == name]
        kind = kind_of(mine[0].result)
        if kind is None:
            continue
        good = [test for test in mine if test.result.payload]
        if kind is TestKind.GIVEN_LOAD and good:
            yield kind, _stream(row, good, entry)
        elif kind is TestKind.THROUGHPUT:
            yield from ((kind, line) for line in search_lines(row, good))
        elif kind is TestKind.FORWARDING_RATE:
            yield from ((kind, _forwarding(row, test, entry)) for test in good if test.loads)
        elif kind is TestKind.BURST:
            yield from ((kind, _burst(row, test, entry)) for test in good)
        else:
            yield from ((kind, _figures(row, test, entry)) for test in good)
        for test in mine:
            if test not in good:
                yield kind, times([span_of_test(test)]) | own_of_test(row, test, len(_trials(test, entry)))


def _trials(test: MeasuredTest, entry: RunData) -> list[TrialRecord]:
    return [trial for trial in entry.trials if test.result.holds(trial.sequence) and trial.cell == test.cell]


def _stream(row: CellSummary, tests: Sequence[MeasuredTest], entry: RunData) -> dict[str, Value]:
    points = {load.point.sequence for test in tests for load in test.loads}
    trials = [trial for trial in entry.trials if trial.sequence in points]
    own = own_of_test(
        row, tests[0], len(trials), warnings=written_once(warning for test in tests for warning in test.warnings)
    )
    return rates(row, trials) | times(map(span_of_test, tests)) | own


def _forwarding(row: CellSummary, test: MeasuredTest, entry: RunData) -> dict[str, Value]:
    """Return the highest forwarded rate at any load, the maximum one among them; rates and loss are the best part's."""
    at_most = LoadsPayload.model_validate(test.result.payload).reference
    best = max((load.point for load in test.loads), key=lambda point: point.forwarded_rate_pps)
    trials = [trial for trial in _trials(test, entry) if trial.sequence == best.sequence]
    # The reference is what arrived at maximum load.
    highest = max(best.forwarded_rate_pps, at_most.load_pps if at_most and at_most.of == MRR else 0)
    fields: dict[str, Value] = {FORWARDING_RATE: float(highest)}
    return rates(row, trials) | fields | times([span_of_test(test)]) | _own(row, test, entry)


def _burst(row: CellSummary, test: MeasuredTest, entry: RunData) -> dict[str, Value]:
    """Return the counts of the single trial behind the result."""
    reported = test.table.sequences if test.table else ()
    directions = [way for trial in entry.trials if trial.sequence in reported for way in trial.directions]
    fields: dict[str, Value] = {**burst_counts(directions, row.frame_size)} if directions else {}
    return fields | frame_loss(directions) | times([span_of_test(test)]) | _own(row, test, entry)


def _figures(row: CellSummary, test: MeasuredTest, entry: RunData) -> dict[str, Value]:
    """Return the figures of a test's first row; a burst counts only when it came whole, so its loss is 0."""
    reported = test.table.rows[0] if test.table and test.table.rows else None
    known = {quantity.name: quantity.value for quantity in reported.quantities} if reported else {}
    fields: dict[str, Value] = {column: known.get(name) for column, name in FIGURES[test.result.kind].items()}
    if fields.get("b2b_frames"):
        fields[BURST_LOSS] = 0.0
    return fields | times([span_of_test(test)]) | _own(row, test, entry)


def _own(row: CellSummary, test: MeasuredTest, entry: RunData) -> dict[str, Value]:
    reasons = (test.result.reason, *(reported.reason for reported in (test.table.rows[:1] if test.table else ())))
    reason = "; ".join(text for text in reasons if text)
    return own_of_test(row, test, len(_trials(test, entry)), reason=reason)
