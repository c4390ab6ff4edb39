"""The warnings about tests beside the MRR that only show when their results are read together.

Of a search's payload (`nfvbed/search/result.py`, a sibling) the stored form is read, and of that four keys alone.
"""

from collections.abc import Collection, Iterable, Sequence

from nfvbed.compare.rows.rowwarnings import spread
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.compare.verdict import Rules
from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import MIXED, ResultKind

RATES = ("frames/s", "bit/s")
"""Units of quantities whose scatter counts; times have tails by nature."""


def with_derived(
    tests: Sequence[MeasuredTest], rules: Rules, subjects: Collection[tuple[str, str]]
) -> tuple[MeasuredTest, ...]:
    """Return the tests, in order, each with the warnings that it shares with its repetitions.

    Args:
        tests: those of all runs.
        subjects: (run, cell) of those that need so many; a ceiling is measured less often.
    """
    groups: dict[tuple[str, str, str], list[MeasuredTest]] = {}
    for test in tests:
        if test.shown and test.result.status is Status.OK:
            groups.setdefault(_group(test), []).append(test)
    shared = {key: tuple(_of_group(group, rules, key[:2] in subjects)) for key, group in groups.items()}
    return tuple(_with(test, shared.get(_group(test), ())) for test in tests)


def _group(test: MeasuredTest) -> tuple[str, str, str]:
    return test.run, test.cell, test.result.test


def _with(test: MeasuredTest, shared: Sequence[QualityWarning]) -> MeasuredTest:
    used = test.shown and test.result.status is Status.OK
    found = [QualityWarning.PLACEMENT_CHANGED] if _placement_changed(test) else []
    derived = (*found, *(shared if used else ()))
    return test.model_copy(update={"derived": derived}) if derived else test


def _placement_changed(test: MeasuredTest) -> bool:
    """Return whether the class changed within the test, or within a trial of a search (which threw that one away)."""
    if test.result.kind is ResultKind.SEARCH and test.result.payload:
        return bool(test.result.payload["placement"]["changed_trials"])
    return test.placement_class == MIXED


def _of_group(tests: Sequence[MeasuredTest], rules: Rules, is_subject: bool) -> Iterable[QualityWarning]:
    """Yield the warnings that the repetitions of one test of one cell show together."""
    if any((scatter := spread(values)) is not None and scatter > rules.max_spread for values in _rates(tests)):
        yield QualityWarning.UNSTABLE
    if is_subject and len(tests) < rules.needed:
        yield QualityWarning.TOO_FEW_REPETITIONS


def _rates(tests: Sequence[MeasuredTest]) -> list[list[float]]:
    """Return the rates that should be the same in all repetitions: by goal of a search, by condition of a table."""
    found: dict[tuple[str, str], list[float]] = {}
    for test in tests:
        if test.result.kind is ResultKind.SEARCH and test.result.payload:
            for goal in test.result.payload["goals"]:
                if goal["irregularity"] is None and goal["conditional_throughput_pps"] is not None:
                    found.setdefault((goal["goal"]["name"], ""), []).append(float(goal["conditional_throughput_pps"]))
        for row in test.table.rows if test.table else ():
            for quantity in row.quantities:
                if quantity.unit in RATES and quantity.value is not None:
                    found.setdefault((row.label, quantity.name), []).append(quantity.value)
    return list(found.values())
