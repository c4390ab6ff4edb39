"""Names of rows, tests, classes and chains, the same on the page, in figures and in a terminal."""

import re
from typing import Any, Final

from nfvbed.compare.chains import Chain
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.compare.verdict import Judgement
from nfvbed.report import wording

FIGURE: Final = re.compile(r"(?<=\d) (?=(?:B|Mpps|µs|ns|s|%|GiB)\b|%)")
NO_BREAK: Final = "\u00a0"


def run_label(variant: str, run: str, *, several: bool) -> str:
    """Return the name of a row; the run is added where there are several."""
    return f"{variant} ({wording.short_run(run)})" if several else variant


def row_labels(comparison: Comparison) -> list[str]:
    """Return the names of all rows, in their order: every figure gives them the same colours."""
    several = len(comparison.runs) > 1
    return [run_label(row.variant, row.run, several=several) for row in comparison.rows]


def labels_of(test: MeasuredTest, *, several: bool) -> dict[str, Any]:
    """Return the names of a test: its variant (as `run_label`), its traffic point, and what it is called."""
    return {
        "variant": run_label(test.variant, test.run, several=several),
        "point": wording.row_point(test),
        "test": test.result.test,
    }


def judged_as(comparison: Comparison, row: CellSummary) -> str:
    """Return what is said of a row: its verdict; in a survey, which makes none, how it stands to the highest rate."""
    if comparison.purpose == "survey":
        return wording.standing(comparison.standing(row))
    return wording.verdict(comparison.difference(row), wording.own_verdict(comparison.baseline, row))


def judged_against(comparison: Comparison) -> str:
    """Return what rows are judged against; in a survey that they are in order."""
    return "in order of the rates" if comparison.purpose == "survey" else wording.baseline(comparison.baseline)


def class_ratios(judged: Judgement) -> str:
    """Return the ratio of each class in which rounds were matched."""
    return ", ".join(
        f"{entry.name} ×{wording.factor(entry.ratio)} ({entry.pairs} pairs{', the other way' if entry.opposes else ''})"
        for entry in judged.by_class
    )


def holds_up_to(chain: Chain) -> str:
    """Return the longest chain that holds the share that is asked for, and of which longer ones it is not decided."""
    undecided = f" ({', '.join(str(length) for length in chain.undecided)}?)" if chain.undecided else ""
    return f"{chain.longest}{undecided}" if chain.undecided or chain.exhausted else f"{chain.longest} or more"


def unbroken(text: str) -> str:
    """Tie each figure to its unit, `64 B`, so that no line ends between them."""
    return FIGURE.sub(NO_BREAK, text)
