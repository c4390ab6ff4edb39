"""Fields of CSV files in which several words are: each is there once, whichever trials carry it."""

import csv
import dataclasses
import io
from functools import cache

import pytest

from nfvbed.compare.comparison import Comparison, compare
from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import QualityWarning
from nfvbed.report.csv import tests as csv_of_tests
from nfvbed.report.csv.export import to_csv
from nfvbed.vsperf.export.rows import to_vsperf_csv
from tests.sample_records import BRIDGE, CEILINGS, OVS, Scenario, build
from tests.sample_results import with_tests

CARRIED = (QualityWarning.CPU_STOLEN, QualityWarning.UNSENT)


@cache
def marked() -> RunData:
    """Return a run in which trials of every kind, and every result, carry the same two warnings."""
    carried = tuple(("", kind) for kind in CARRIED)
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS, *CEILINGS), common_load=True, warnings=carried)))
    results = tuple(result.model_copy(update={"warnings": (*CARRIED, *CARRIED)}) for result in data.results)
    return dataclasses.replace(data, results=results)


def rows_of(comparison: Comparison) -> dict[str, str]:
    return {
        "rows": to_csv(comparison),
        "tests": csv_of_tests.tests_to_csv(comparison),
        "VSPERF": to_vsperf_csv(comparison, [marked()]),
    }


@pytest.mark.parametrize("form", ["rows", "tests", "VSPERF"])
def test_no_field_says_a_warning_or_a_limit_twice(form: str):
    lines = list(csv.DictReader(io.StringIO(rows_of(compare([marked()]))[form])))
    fields = [name for name in lines[0] if name.removeprefix("nfvbed_") in ("warnings", "limits", "possible_limits")]
    assert len(fields) > 0 and len(lines) > 0
    for line in lines:
        for field in fields:
            words = line[field].split()
            assert len(words) == len(set(words)), (field, line[field])
    said = {word for line in lines for field in fields for word in line[field].split()}
    assert said >= {kind.value for kind in CARRIED}
