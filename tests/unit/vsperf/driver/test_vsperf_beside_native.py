"""A test run natively and the same one by VSPERF itself: both stand in one comparison, and neither for the other."""

from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.compare.comparison import compare
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.testresults import place_results
from nfvbed.records import RunRecord
from nfvbed.records.results import ResultKind
from nfvbed.report.measured import measured_tables
from nfvbed.store import Store
from tests.unit.vsperf.driver.test_vsperf_driver import Bed

ROOT = Path(__file__).parents[4]
SETTINGS = "TRAFFICGEN_PKT_SIZES=(64,); TRAFFICGEN_DURATION=1"
TEST = "phy2phy_cont"


def read(store: Store, run: RunRecord) -> RunData:
    cells, trials = tuple(store.cells(run.id)), tuple(store.trials(run.id))
    rigs = {cell.rig_hash: store.get_blob(cell.rig_hash) for cell in cells}
    return RunData(run, cells, trials, rigs, store.get_blob(run.host_hash), tuple(store.results(run.id)))


@pytest.mark.parametrize("driven_first", [True, False])
def test_both_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driven_first: bool):
    monkeypatch.setenv("NFVBED_STORE", str(tmp_path / "native.sqlite"))
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    assert (
        main(["run", "--vsperf", TEST, "--variant", "simulated", "--repetitions", "2", "--test-params", SETTINGS]) == 0
    )
    with Store.open(tmp_path / "native.sqlite", read_only=True) as store:
        native = read(store, store.run("latest"))
    bed = Bed(tmp_path, monkeypatch)
    driven = bed.data(bed.run(TEST, "NfvGen", SETTINGS))
    # The double's switch is simulated as well.
    driven = replace(
        driven,
        cells=tuple(cell.model_copy(update={"simulated": True}) for cell in driven.cells),
        trials=tuple(trial.model_copy(update={"simulated": True}) for trial in driven.trials),
        results=tuple(result.model_copy(update={"simulated": True}) for result in driven.results),
    )
    comparison = compare([driven, native] if driven_first else [native, driven])
    (row,) = [row for row in comparison.rows if row.mrr]
    assert (row.variant, comparison.baseline) == ("simulated", "simulated"), "nothing is judged against VSPERF's"
    (table,) = [table for table in measured_tables(comparison) if table.kind is ResultKind.VSPERF]
    (line,) = table.lines
    (placed,) = place_results(driven, {(driven.run.id, 1): "mixed"}, "near")
    assert placed.shown, "whatever class the cores were in meanwhile: VSPERF measures once"
    assert (line.test, line.reason) == (TEST, "")
    assert line.quantities["received"].endswith("pps")
