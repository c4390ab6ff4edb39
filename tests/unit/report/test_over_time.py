"""The figure of series over time: a panel for each condition, the variants' lines in it, gaps left open."""

import csv
import io

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.verdict import Rules
from nfvbed.records.results import Series
from nfvbed.report.csv.figure import figure_to_csv
from nfvbed.report.figures.overtime import over_time_figure
from tests.sample_records import BRIDGE, CEILINGS, OVS, Scenario, build
from tests.sample_results import with_tests


def test_series_are_drawn_and_without_any_there_is_no_figure():
    stored = with_tests(build(Scenario(systems=(BRIDGE, OVS, *CEILINGS), rounds=4)))
    comparison = compare([stored], ComparisonOptions(baseline="linux-bridge", rules=Rules(needed=3)))
    assert over_time_figure(comparison) is None
    series = Series(label="4 queues", name="imbalance", unit="", step_s=0.2, values=(4.0, None, 1.0))
    tests = tuple(
        test
        if test.table is None
        else test.model_copy(update={"table": test.table.model_copy(update={"series": (series,)})})
        for test in comparison.tests
    )
    drawing = over_time_figure(comparison.model_copy(update={"tests": tests}))
    assert drawing is not None
    assert "imbalance 1 to 4, median 2.5" in drawing.description
    rows = list(csv.DictReader(io.StringIO(figure_to_csv(drawing.make(checked=True)))))
    of_one = [row for row in rows if (row["variant"], row["panel"]) == (rows[0]["variant"], rows[0]["panel"])]
    assert [(row["from_s"], row["value"]) for row in of_one] == [("0.0", "4.0"), ("0.2", ""), ("0.4", "1.0")]
