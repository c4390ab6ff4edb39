"""What failed is never a sample and never a number: in trends, comparisons, recommendations, and what pages count."""

import csv
import dataclasses
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from nfvbed.cli.trend import command
from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.explain import TrialUse, explain
from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.recommendation import RecommendationRequest, recommend, unchecked
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.series import ExcludedRun
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.records import Status
from nfvbed.records.quality import QualityWarning
from nfvbed.report.answer import answer
from nfvbed.report.context import ReportContext
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.figures.trend import trend_figure
from nfvbed.report.history import History
from nfvbed.report.page.sections import page_values
from nfvbed.report.recommendation import missing, reasons
from nfvbed.report.terminal.screen import ScreenContext, screen
from nfvbed.report.trend import headline, trend_of
from nfvbed.store import Store
from tests.golden.test_report_golden import table
from tests.sample_records import BRIDGE, HOST, OVS, Scenario, build
from tests.sample_results import with_tests
from tests.sample_runs import examined, plane, run_of
from tests.stored_runs import put

NOW = "2026-02-01T00:00:00.000+00:00"
SMALL = dataclasses.replace(OVS, capacity={64: (5.0e6, 5.0e6)})
PLACES = 10
"""Runs of a series; the last ones are slower by half."""
SLOW_FROM = 8


def series_store(path: Path, ended: Sequence[Status], of_cell: Status | None = None) -> Path:
    """Write a series of runs of one setting whose slow runs ended so."""
    with Store.open(path) as store:
        for place in range(PLACES):
            slow = place >= SLOW_FROM
            system = dataclasses.replace(SMALL, capacity={64: (2.5e6, 2.5e6)}) if slow else SMALL
            run = f"01970000-0000-7000-8000-{place:012x}"
            marked = (("ovs", QualityWarning.CPU_STOLEN),)
            data = build(Scenario(run=run, systems=(system,), rounds=3, far_rounds=(), seed=place, warnings=marked))
            record = data.run.model_copy(update={"started_at": f"2025-10-{place + 1:02d}T03:04:05.000+00:00"})
            status = ended[place - SLOW_FROM] if slow else Status.OK
            put(store, dataclasses.replace(data, run=record), ended=None)
            if of_cell is not None and slow:
                store.set_cell_status(run, data.cells[0].id, of_cell, "the switch <died>")
            store.finish_run(run, status, "" if status is Status.OK else f"it ended {status.value} <here>")
    return path


@pytest.fixture(name="opened")
def _opened(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "nfvbed.sqlite"


@pytest.mark.parametrize("status", [Status.FAILED, Status.INTERRUPTED, Status.UNSUPPORTED])
def test_a_run_that_did_not_come_to_its_end_is_no_sample_and_has_its_state(opened: Path, status: Status) -> None:
    series_store(opened, (status, status))
    with Store.open(opened, read_only=True, migrated=False) as store:
        (series,) = History(store).series()
        trend = trend_of(series, {}, (), NOW)
        assert not trend.steps and series.finding.suspected is None
        assert len(series.measured) == len(series.finding.figures) == SLOW_FROM
        assert [(entry.status, entry.reason) for entry in series.left_out] == [
            (status, f"it ended {status.value} <here>")
        ] * 2
        assert f"2 more runs of it are no samples: 2 {status.value}. The newest run is one of them." in headline(trend)
        drawing = trend_figure(trend)
        assert f"{status.value}, no sample" in json.dumps(drawing.make(checked=True))
        assert "Crosses at the foot" in drawing.caption
        client = TestClient(make_app(store, Access(hosts=("localhost",)), lambda: datetime(2026, 2, 1, tzinfo=UTC)))
        client.base_url = "http://localhost"
        query = urlencode({"setting": series.setting.name})
        page = client.get(f"/trend?{query}").text
        assert page.count(f"{status.value}, no sample: it ended {status.value} &lt;here&gt;") >= 2
        assert "None is confirmed" in page
        told = client.get(f"/api/trend/series?{query}").json()["trend"]["series"]
        assert [entry["status"] for entry in told["left_out"]] == [status.value] * 2
        assert all("value" not in entry for entry in told["left_out"])
        (line,) = client.get("/api/trend").json()["settings"]
        assert (line["runs"], line["left_out"], line["last"]) == (SLOW_FROM, 2, None)
        rows = list(csv.DictReader(io.StringIO(client.get(f"/trend/rows.csv?{query}").text)))
    assert [(row["value"] == "", row["state"], row["status"]) for row in rows[SLOW_FROM:]] == [
        (True, "no sample", status.value)
    ] * 2
    assert {row["warnings"] for row in rows[:SLOW_FROM]} == {"cpu-stolen"}
    said = CliRunner(env={"COLUMNS": "200"}).invoke(
        command, ["--store", str(opened), "--setting", series.setting.name], catch_exceptions=False
    )
    assert said.output.count(f"{status.value}, no sample") == 2 and "cpu-stolen" in said.output


def test_runs_that_ended_well_are_a_step(opened: Path) -> None:
    """As those above would be, were they samples."""
    series_store(opened, (Status.OK, Status.OK))
    with Store.open(opened, read_only=True, migrated=False) as store:
        (series,) = History(store).series()
    assert [step.place for step in series.finding.steps] == [SLOW_FROM]
    assert series.left_out == ()


def test_a_blocked_run_lacks_repetitions_and_is_a_sample_with_its_state(opened: Path) -> None:
    series_store(opened, (Status.BLOCKED, Status.BLOCKED))
    with Store.open(opened, read_only=True, migrated=False) as store:
        (series,) = History(store).series()
    assert [step.place for step in series.finding.steps] == [SLOW_FROM]
    assert [entry.status for entry in series.measured[SLOW_FROM:]] == [Status.BLOCKED] * 2


def test_a_cell_that_failed_is_no_sample_in_whatever_run(opened: Path) -> None:
    series_store(opened, (Status.BLOCKED, Status.OK), of_cell=Status.FAILED)
    with Store.open(opened, read_only=True, migrated=False) as store:
        (series,) = History(store).series()
    assert [(entry.status, entry.reason) for entry in series.left_out] == [(Status.FAILED, "the switch <died>")] * 2
    assert isinstance(series.all_runs[-1], ExcludedRun) and not series.finding.steps


def failed(data: RunData, cell: str, run: Status = Status.FAILED) -> RunData:
    """Return a run of which a cell failed after it was measured."""
    cells = tuple(
        entry.model_copy(update={"status": Status.FAILED, "reason": "the switch died"}) if entry.id == cell else entry
        for entry in data.cells
    )
    ended = data.run.model_copy(update={"status": run, "reason": f"{cell} was given up"})
    return dataclasses.replace(data, cells=cells, run=ended)


def two() -> Comparison:
    """Compare a run of two data planes with tests, of which one failed in the end."""
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS), far_rounds=(), changing=())))
    return compare([failed(data, "ovs-dpdk/p2p/64")], ComparisonOptions(baseline="linux-bridge"))


def test_a_failed_cell_is_a_state_and_no_number_anywhere() -> None:
    comparison = two()
    (row,) = [row for row in comparison.rows if row.cell == "ovs-dpdk/p2p/64"]
    assert (row.status, row.reason, row.mrr, row.paced, row.common) == (
        Status.FAILED, "the switch died", None, None, None,
    )  # fmt: skip
    assert row.cycles_per_packet is None and row.cpu.switch is None
    tests = [test for test in comparison.tests if test.cell == row.cell]
    assert {test.result.status for test in tests} <= {Status.FAILED, Status.BLOCKED}
    assert not any(test.loads or test.table or test.result.payload for test in tests)
    lines = [line.plain for line in screen(comparison, ScreenContext())]
    assert "  ovs-dpdk  failed: the switch died" in lines
    at = next(number for number, line in enumerate(lines) if line.startswith("p2p, 64 B"))
    assert "✕" not in lines[at + 1] and "ovs-dpdk" not in lines[at + 1]
    assert "its cell failed: the switch died" in " ".join(lines)
    assert "its cell failed" in " ".join(table(comparison, 150).split())
    (line,) = [line for line in csv.DictReader(io.StringIO(to_csv(comparison))) if line["cell"] == row.cell]
    assert (line["status"], line["mrr_pps"], line["latency_p50_ns"]) == ("failed", "", "")
    assert next(r for r in json.loads(to_json(comparison))["rows"] if r["cell"] == row.cell)["mrr"] is None
    assert all(placed.cell != row.cell for placed in comparison.order)
    assert "ahead at 1518 B" in answer(comparison).headline


def test_why_a_failed_cell_has_no_rate_is_explained() -> None:
    data = failed(build(Scenario(systems=(BRIDGE, OVS))), "ovs-dpdk/p2p/64")
    found = explain([data], "ovs-dpdk/p2p/64")
    assert {trial.use for trial in found.trials} == {TrialUse.UNUSED}
    assert {trial.why for trial in found.trials} == {"its cell failed"}


@pytest.mark.parametrize("status", [Status.FAILED, Status.INTERRUPTED, Status.BLOCKED, None])
def test_the_regular_rows_of_a_run_that_did_not_end_well_are_shown_with_its_state(status: Status | None) -> None:
    data = build(Scenario(systems=(BRIDGE, OVS), far_rounds=(), changing=()))
    ended = dataclasses.replace(data, run=data.run.model_copy(update={"status": status, "reason": "a VNF died"}))
    comparison = compare([ended], ComparisonOptions(baseline="linux-bridge"))
    assert all(row.mrr is not None for row in comparison.rows)
    said = f"ended {status.value}" if status else "has not ended"
    text = " ".join(line.plain for line in screen(comparison, ScreenContext()))
    assert f"Run {data.run.id} {said}" in text
    hosts = page_values(ReportContext(comparison, (ended.run,)), {}).first.hosts
    assert any(f"Run {data.run.id} {said}" in line for line in hosts)
    assert f"run {data.run.id} {said}" in " ".join(table(comparison, 150).split())


def test_a_recommendation_ranks_no_failed_cell_and_says_how_its_runs_ended() -> None:
    data = run_of(plane("fast", 9e6), plane("slow", 3e6), plane("fell", 12e6))
    found = recommend(
        [examined(failed(data, "fell/p2p/64"))], RecommendationRequest(need=Need.THROUGHPUT), HOST, unchecked
    )
    assert found.answer is not None
    assert [entry.variant for entry in found.answer.ranked] == ["fast", "slow"]
    assert any(line == "fell: failed: the switch died" for line in missing(found))
    assert found.runs[0].status is Status.FAILED
    assert any(
        "evidence: run 01940000-0000-7000-8000-000000000001 (demo; it ended failed)" in line for line in reasons(found)
    )
