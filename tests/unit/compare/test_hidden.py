"""What part of a row's, a search's and a latency test's trials hide a change: from all trials of the host."""

from pathlib import Path

from nfvbed.cli.main import main
from nfvbed.cli.results import load_runs
from nfvbed.compare.comparison import Comparison, compare
from nfvbed.report.hiddenlines import hidden_lines

ROOT = Path(__file__).resolve().parents[3]
TESTS = "tests=[{kind: mrr}, {kind: search, preset: csit, max_load_pps: 9000000}, {kind: latency, duration_s: 1}]"


def compared(tmp_path: Path, name: str, *options: str) -> Comparison:
    store = str(tmp_path / f"{name}.sqlite")
    asked = ("--frame-size", "64", "--repetitions", "2", "--set", TESTS, *options)
    assert main(["run", "simulated", *asked, "--root", str(ROOT), "--store", store]) == 0
    return compare(load_runs(ROOT, store, ("latest",), simulated=True).data)


def test_rows_searches_and_latency_have_their_share(tmp_path: Path) -> None:
    found = compared(tmp_path, "moving")
    tests = {share.test for share in found.hidden if share.cell == "simulated/p2p/64"}
    assert tests >= {"mrr", "search", "latency"}
    for share in found.hidden:
        assert share.trials > 0
        assert 0 <= share.estimated <= share.at_most <= 1
    assert any(share.at_most > 0 for share in found.hidden), "its host has two states"


def test_only_what_is_worth_telling_is_said(tmp_path: Path) -> None:
    found = compared(tmp_path, "said")
    quiet = tuple(share.model_copy(update={"estimated": 0.0, "at_most": 0.04}) for share in found.hidden)
    assert hidden_lines(found.model_copy(update={"hidden": quiet})) == ()
    worst = quiet[0].model_copy(update={"estimated": 0.02, "at_most": 0.2})
    (line,) = hidden_lines(found.model_copy(update={"hidden": (*quiet[1:], worst)}))
    assert f"{worst.cell}, {worst.test}: 2 %, at most 20 %" in line
    assert line.count("at most") == 1
    (line,) = hidden_lines(found.model_copy(update={"hidden": (worst,) * 8}))
    assert line.endswith(": 2 %, at most 20 % of each of 8 rows and tests.")
    other = worst.model_copy(update={"at_most": 0.3})
    (line,) = hidden_lines(found.model_copy(update={"hidden": (*(worst,) * 7, other)}))
    assert line.endswith("and 2 more.") and line.index("30 %") < line.index("20 %")
