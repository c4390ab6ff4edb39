"""The tables, figures and CSV of tests beside the MRR, byte by byte."""

import json

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.verdict import Rules
from nfvbed.records import QualityWarning
from nfvbed.report.csv.export import to_json
from nfvbed.report.csv.tests import tests_to_csv as csv_of
from nfvbed.report.figures.catalogue import figures
from nfvbed.report.page.page import render
from nfvbed.report.page.tests import tests_section as values_of
from tests.golden.kept import check
from tests.golden.test_report_golden import FOLDER, table
from tests.sample_records import BRIDGE, CEILINGS, OVS, Scenario, build
from tests.sample_results import with_tests

FIGURES = ("loss-by-load", "latency-by-load", "soak")


def section_of(comparison: Comparison) -> str:
    return render("tests", values=values_of(comparison))


@pytest.fixture(scope="module", name="comparison")
def _comparison() -> Comparison:
    scenario = Scenario(systems=(BRIDGE, OVS, *CEILINGS), rounds=4, far_rounds=(2,), changing=())
    return compare([with_tests(build(scenario))], ComparisonOptions(baseline="linux-bridge", rules=Rules(needed=3)))


@pytest.mark.parametrize("width", [80, 120, 150])
def test_tables_of_tests_in_the_terminal(comparison: Comparison, width: int):
    text = table(comparison, width)
    assert max(len(line) for line in text.splitlines()) <= width
    check(FOLDER / f"tests-{width}.txt", text[text.index("throughput searches") :])


def test_tables_of_tests_on_the_page(comparison: Comparison):
    # A line for each row of a table, so that a difference can be read.
    check(
        FOLDER / "tests-section.html", section_of(comparison).replace("<tr>", "\n<tr>").replace("<div", "\n<div") + "\n"
    )


def test_csv_of_tests(comparison: Comparison):
    check(FOLDER / "tests.csv", csv_of(comparison))


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_loads(comparison: Comparison, name: str):
    text = json.dumps(figures(comparison)[name], indent=1, ensure_ascii=False, sort_keys=True)
    check(FOLDER / f"tests-{name}.vl.json", text + "\n")


@pytest.mark.parametrize(
    "kind",
    [
        QualityWarning.CPU_STOLEN,
        QualityWarning.REORDERED,
        QualityWarning.UNSTABLE,
        QualityWarning.PLACEMENT_CHANGED,
        QualityWarning.TOO_FEW_REPETITIONS,
    ],
)
def test_a_warning_about_a_test_is_in_every_output(comparison: Comparison, kind: QualityWarning):
    """Stored with trials, or derived from all repetitions: beside the number, and with its advice."""
    remedy = comparison.advice[kind].remedy
    assert kind.value in csv_of(comparison)
    assert remedy in section_of(comparison).replace("&#39;", "'") or kind in {
        warning.kind for row in comparison.rows for warning in row.warnings
    }
    assert kind.value in table(comparison, 150)
    assert json.loads(to_json(comparison))["advice"][kind.value]["remedy"] == remedy
