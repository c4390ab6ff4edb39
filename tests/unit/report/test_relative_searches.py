"""Searches relative to testpmd in the switch's place: planned beside it, paired by round, and the headline."""

import csv
import io
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.cli.results import load_runs
from nfvbed.compare.comparison import Comparison, compare
from nfvbed.compare.explain import explain
from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import CellRole, Status
from nfvbed.records.results import ResultKind, ResultRecord
from nfvbed.records.selection import SIMULATED
from nfvbed.report import wording
from nfvbed.report.csv.tests import tests_to_csv as csv_of
from nfvbed.report.figures.searches import relative_figure
from nfvbed.report.history import History
from nfvbed.report.relative import relative_throughputs
from nfvbed.report.searchlines import exclusions_of, search_lines
from nfvbed.report.throughput import exclusion, headline, throughput_rows
from nfvbed.search.result import SearchResult
from nfvbed.store import Store

pytestmark = pytest.mark.xdist_group("relative_searches")  # One worker makes what they share.

ROOT = Path(__file__).resolve().parents[3]
SEARCH = "tests=[{kind: mrr}, {kind: search, preset: csit-quick, relative: true}]"
TRUTH = 1 / 1.4
"""What the simulated testpmd can do more."""


@pytest.fixture(scope="module", name="store_path")
def _store_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = str(tmp_path_factory.mktemp("relative") / "r.sqlite")
    options = ("--frame-size", "64", "--repetitions", "3", "--set", SEARCH, "--root", str(ROOT), "--store", store)
    for _ in range(2):
        assert main(["run", "simulated", *options]) == 0
    return store


@pytest.fixture(scope="module", name="loaded")
def _loaded(store_path: str) -> tuple[RunData, ...]:
    """The newest run, read once for all tests."""
    return tuple(load_runs(ROOT, store_path, ("latest",), simulated=True).data)


@pytest.fixture(scope="module", name="compared")
def _compared(loaded: tuple[RunData, ...]) -> Comparison:
    return compare(loaded)


def test_the_ratio_is_that_of_the_known_capacities_and_the_headline(compared: Comparison) -> None:
    rows = [row for row in throughput_rows(compared) if row.relative is not None]
    assert rows
    for row in rows:
        assert row.relative is not None
        assert row.relative.reference.startswith("reference:")
        assert len(row.relative.ratios) + row.relative.unpaired >= 3
        assert row.relative.ratio == pytest.approx(TRUTH, rel=0.03)
        assert headline(row).startswith(f"{row.relative.ratio:.3f} [")
        assert "of testpmd" in headline(row)


def test_the_ratios_are_drawn(compared: Comparison) -> None:
    drawing = relative_figure(compared)
    assert drawing is not None and "simulated, p2p, 64 B, search, NDR: 0.7" in drawing.description
    assert "of testpmd" in str(drawing.make(checked=True))


def test_both_searches_are_in_one_round_and_take_turns(loaded: tuple[RunData, ...]) -> None:
    (data, *_) = loaded
    order = [(entry.round, entry.cell.startswith("reference:")) for entry in data.results]
    first = {number: [is_reference for at, is_reference in order if at == number][0] for number, _ in order}
    assert {first[number] for number in (1, 3)} == {True}
    assert first[2] is False


def test_each_search_says_its_ratio_and_what_it_leaves_out(loaded: tuple[RunData, ...], compared: Comparison) -> None:
    found = [row for row in csv.DictReader(io.StringIO(csv_of(compared))) if row["kind"] == "search"]
    own = [row for row in found if row["relative_to"]]
    assert {row["relative_to"].split(":")[0] for row in own} == {"reference"}
    paired = [float(row["relative_ratio"]) for row in own if row["relative_ratio"]]
    (throughput, *_) = [row for row in throughput_rows(compared) if row.relative is not None]
    assert throughput.relative is not None and set(throughput.relative.ratios) <= set(paired)
    assert all(row["excludes"].startswith("trials in which") and row["void_ratio"] for row in found)
    explained = explain(loaded, own[0]["cell"])
    lines = search_lines(explained.searches, own[0]["cell"])
    assert [line.relative for line in lines if line.relative != wording.NOTHING]
    assert any("paired with reference:" in line.why for line in lines)
    (said,) = exclusions_of(explained.searches, own[0]["cell"])
    assert said.startswith("csit-quick (clean ") and "for more than 100 us, whatever they lost" in said


def test_as_the_document_says_nothing_is_left_out() -> None:
    assert exclusion("rfc2544", ()) == "rfc2544 leaves out: nothing."


def test_trends_have_the_ratio(store_path: str) -> None:
    with Store.open(store_path, read_only=True) as store:
        found = {entry.setting.test: entry for entry in History(store, SIMULATED).series()}
    (name,) = [name for name in found if name.startswith("search: NDR, csit-quick (clean ") and "relative" in name]
    ratio = found[name]
    assert name.removesuffix(", relative") in found, "the label tells searches apart that ask something else"
    assert [one.value for one in ratio.measured] == pytest.approx([TRUTH, TRUTH], rel=0.03)


def test_a_plan_pairs_what_passes_the_ports_in_the_same_way(loaded: tuple[RunData, ...]) -> None:
    (data, *_) = loaded
    roles = {cell.id: cell.role for cell in data.cells}
    for entry in data.results:
        if entry.kind is ResultKind.SEARCH:
            relative_to = SearchResult.model_validate(entry.payload).relative_to
            assert (relative_to is None) == (roles[entry.cell] is CellRole.REFERENCE)


def test_rounds_without_two_regular_results_in_one_class_are_no_pairs(loaded: tuple[RunData, ...]) -> None:
    (data, *_) = loaded
    moved = [_in_another_class(entry) for entry in data.results]
    before, after = relative_throughputs(data.results), relative_throughputs(moved)
    for key, found in after.items():
        assert before[key].ratios
        assert (found.ratios, found.ratio) == ((), None)
        assert found.unpaired == before[key].unpaired + len(before[key].ratios)
    gone = [entry.model_copy(update={"status": Status.BLOCKED}) for entry in data.results]
    assert relative_throughputs(gone) == {}


def _in_another_class(entry: ResultRecord) -> ResultRecord:
    return entry.model_copy(update={"placement_class": "elsewhere"}) if entry.cell.startswith("reference:") else entry


def test_without_ceilings_there_is_nothing_to_be_relative_to(capsys: pytest.CaptureFixture[str]) -> None:
    tests = "tests=[{kind: mrr}, {kind: search, relative: true, max_load_pps: 1000000}]"
    assert main(["plan", "simulated", "--set", tests, "--set", "ceilings=false", "--root", str(ROOT)]) == 10
    assert "relative to a ceiling" in capsys.readouterr().err
