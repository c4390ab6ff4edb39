"""The export in VSPERF's columns, byte by byte."""

import dataclasses
from pathlib import Path

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.records import Status
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from nfvbed.vsperf.export.rows import to_vsperf_csv
from tests.golden.kept import check
from tests.sample_records import BRIDGE, CEILINGS, CHAIN, OVS, PVP, RUN, Scenario, build
from tests.sample_results import OVS as CELL
from tests.sample_results import with_tests

FOLDER = Path(__file__).parent / "report"
FIGURES = (
    (ResultKind.BACK_TO_BACK, "longest burst"),
    (ResultKind.BURST, "sent"),
    (ResultKind.ADDRESS_CACHING, "addresses held"),
    (ResultKind.ADDRESS_LEARNING, "learning rate"),
    (ResultKind.RESET, "outage"),
)
"""VSPERF has no columns for the last one."""


def test_export_in_vsperfs_columns():
    scenario = Scenario(
        systems=(BRIDGE, OVS, *CEILINGS, *PVP, *CHAIN),
        rounds=6,
        far_rounds=(1, 2),
        changing=(),
        blocked=(("linux-bridge/p2p/1518", Status.FAILED, "=the switch ended early"),),
    )
    data = [build(scenario)]
    text = to_vsperf_csv(compare(data, ComparisonOptions(baseline="linux-bridge")), data)
    check(FOLDER / "comparison-vsperf.csv", text)


def test_tests_in_vsperfs_columns():
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS, *CEILINGS), rounds=4, far_rounds=(2,), changing=())))
    tables = tuple(_table(kind, name) for kind, name in FIGURES)
    data = dataclasses.replace(data, results=(*data.results, *tables))
    check(
        FOLDER / "tests-vsperf.csv", to_vsperf_csv(compare([data], ComparisonOptions(baseline="linux-bridge")), [data])
    )


def _table(kind: ResultKind, figure: str) -> ResultRecord:
    row = MeasuredRow(label="first", quantities=(Quantity(name=figure, value=12_288, unit=""),), reason="=a bound")
    return ResultRecord(
        run=RUN,
        cell=CELL,
        round=1,
        test=kind.value,
        kind=kind,
        started_at="2026-01-02T03:10:00Z",
        ended_at="2026-01-02T03:11:40Z",
        payload=TablePayload(rows=(row,)).model_dump(mode="json"),
    )
