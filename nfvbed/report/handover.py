"""A comparison for continuous integration: a case of JUnit's for each row, and Markdown for a summary or a comment."""

from collections.abc import Iterator
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.verdict import Verdict
from nfvbed.records import Status
from nfvbed.report import wording
from nfvbed.report.answer import answer
from nfvbed.report.junit import Outcome, TestCase, junit_xml
from nfvbed.report.markdown import escaped, table

HEADING: Final = ("traffic", "variant", "rate", "interval, Mpps", "ratio", "verdict", "pairs", "limits and warnings")
_DECIDED: Final = (Verdict.HIGHER, Verdict.LOWER, Verdict.SAME)
_LOST: Final = (Status.FAILED, Status.INTERRUPTED)


def to_junit(comparison: Comparison) -> str:
    """Return a case for each row. A comparison judges data planes, not whether something is good enough.

    So *lower* is no failure: a case passes where there is a verdict, and where the row is the baseline or of a survey.
    It fails where the measurement did, is an error where it cannot be compared, and is skipped without a verdict.
    """
    cases = [_case(comparison, row) for row in comparison.rows]
    title = "nfvbed compare" + (f", {wording.SIMULATED_MARK}" if comparison.simulated else "")
    return junit_xml(title, ".".join(comparison.experiments) or "nfvbed", cases, 0.0)


def to_markdown(comparison: Comparison) -> str:
    """Return the answer, and a table with a line for each row; what limits a number stands beside it."""
    head = [wording.SIMULATED_MARK] if comparison.simulated else []
    parts = [f"**{escaped(text)}**" for text in (*head, answer(comparison).headline)]
    notes = [f"- {escaped(note)}" for note in comparison.notes]
    end = escaped(f"Run {', '.join(comparison.runs)}. Baseline: {comparison.baseline}.")
    lines = table(HEADING, [_fields(comparison, row) for row in comparison.rows])
    return "\n\n".join([*parts, lines.rstrip("\n"), *(["\n".join(notes)] if notes else []), end]) + "\n"


def _case(comparison: Comparison, row: CellSummary) -> TestCase:
    outcome, message = _outcome(comparison, row)
    shown = zip(HEADING, _fields(comparison, row), strict=True)
    return TestCase(row.cell, outcome, message, "\n".join(f"{name}: {value}" for name, value in shown if value))


def _outcome(comparison: Comparison, row: CellSummary) -> tuple[Outcome, str]:
    if row.status is not Status.OK or row.mrr is None:
        kind = Outcome.FAILED if row.status in _LOST else Outcome.SKIPPED
        return kind, f"{row.status.value}: {row.reason}" if row.reason else row.status.value
    found = comparison.difference(row)
    if found is None or comparison.purpose == "survey":
        return Outcome.PASSED, ""
    judged = found.judgement
    if judged.verdict is Verdict.NOT_COMPARABLE:
        return Outcome.ERROR, judged.reason
    if judged.verdict in _DECIDED:
        return Outcome.PASSED, ""
    return Outcome.SKIPPED, f"{judged.verdict.value}: {judged.reason}"


def _fields(comparison: Comparison, row: CellSummary) -> tuple[str, ...]:
    found = comparison.difference(row)
    rate = row.mrr
    return (
        wording.row_point(row),
        row.variant,
        f"{wording.mpps(rate.median_pps)} Mpps" if rate else wording.status(row),
        wording.mpps_interval(rate.interval) if rate else "",
        f"{wording.ratio(found.judgement)} {wording.ratio_interval(found.judgement)}".strip() if found else "",
        wording.verdict(found),
        str(found.judgement.pairs) if found else "",
        ", ".join(_marks(row)),
    )


def _marks(row: CellSummary) -> Iterator[str]:
    kinds = [*(limit.kind for limit in row.limits), *(warning.kind for warning in row.warnings)]
    yield from dict.fromkeys(kind.value for kind in kinds)
