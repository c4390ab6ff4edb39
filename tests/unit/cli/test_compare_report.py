"""`compare` and `report` on a store: what they print, what they write, and how they refuse."""

import csv
import io
import json
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, SIMULATED, Scenario, build
from tests.stored_runs import put

SECOND_RUN = "01940000-0000-7000-8000-000000000002"


@pytest.fixture(name="results")
def _results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "results.sqlite"
    monkeypatch.setenv("NFVBED_STORE", str(path))
    with Store.open(path) as store:
        put(store, build(Scenario(systems=(BRIDGE, OVS))))
        put(store, build(Scenario(run=SECOND_RUN, systems=(SIMULATED,), rounds=6, far_rounds=(), changing=())))
    return path


FIRST = "01940000-0000-7000-8000-000000000001"


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize("details", [(), ("--details",)])
def test_the_table_is_printed(capsys: pytest.CaptureFixture[str], details: tuple[str, ...]):
    assert main(["compare", FIRST, "--baseline", "linux-bridge", *details]) == 0
    out = capsys.readouterr().out
    assert "ovs-dpdk forwards most" in out
    assert "▲ higher" in out
    assert (f"Details: nfvbed compare {FIRST} --details" in out) is not bool(details)


@pytest.mark.usefixtures("results")
def test_the_screen_names_the_page_that_was_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for folder in ("deploy", "deploy/variants", "vsperf-conf"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["compare", FIRST]) == 0
    assert f"Page: nfvbed report {FIRST}" in capsys.readouterr().out
    assert main(["report", FIRST, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["compare", FIRST]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"Page: results/reports/{FIRST}/index.html" in lines[-1]
    assert len(lines) <= 40 and max(len(line) for line in lines) <= 100


@pytest.mark.usefixtures("results")
def test_json_and_csv_hold_the_same_rows(capsys: pytest.CaptureFixture[str]):
    assert main(["compare", FIRST, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert main(["compare", FIRST, "--csv"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["cell"] for row in rows] == [line["cell"] for line in lines]
    assert float(lines[0]["mrr_pps"]) == rows[0]["mrr"]["median_pps"]


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["compare", FIRST, SECOND_RUN, "--baseline", "simulated"], 40, "simulated"),
        (["compare", SECOND_RUN, "--class", "far"], 40, "no trial ran in placement class far"),
        (["compare", FIRST, "--baseline", "vpp"], 10, "none of these runs"),
        (["compare", "0000"], 10, "there is no run"),
        (["compare", FIRST, "--json", "--csv"], 2, "exclude each other"),
        (["compare", FIRST, "--needed", "0"], 2, "needed"),
        (["report", FIRST, "--output", "/proc/none/here"], 30, "could not be written"),
    ],
)
def test_refusals_have_a_message_and_a_code(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
):
    assert main(arguments) == code
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_without_results_the_next_step_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compare", "--store", str(tmp_path / "none.sqlite")]) == 30
    assert capsys.readouterr().err


@pytest.mark.usefixtures("results")
def test_a_report_is_written_and_a_simulation_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "report"
    assert main(["report", SECOND_RUN, "--output", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("SIMULATED")
    assert (folder / "index.html").stat().st_size > 500_000
    assert {path.suffix for path in (folder / "figures").iterdir()} == {".svg", ".png"}


@pytest.mark.usefixtures("results")
def test_the_answer_of_a_report_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", FIRST, "--output", str(tmp_path / "report"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "ovs-dpdk" in found["answer"]
    assert all(Path(path).is_file() for path in found["files"])


@pytest.mark.usefixtures("results")
def test_export_in_vsperfs_columns(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["export", FIRST, "--format", "vsperf-csv"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {line["id"] for line in lines} == {"phy2phy_cont"}
    assert {line["nfvbed_run"] for line in lines} == {FIRST}
    assert main(["export", SECOND_RUN, "--format", "vsperf-csv", "--output", str(tmp_path / "out.csv")]) == 0
    assert "simulated" in (tmp_path / "out.csv").read_text()
