"""`nfvbed trend`: the settings of a store, and one of them run by run."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nfvbed.cli.trend import command
from nfvbed.errors import UnknownNameError
from nfvbed.records.acknowledgements import Acknowledgement
from nfvbed.store import Store
from tests.dashboard_runs import SERIES, STEP_AT, STEPPED, with_series


@pytest.fixture(scope="module", name="measured")
def _measured(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("series") / "nfvbed.sqlite"
    with_series(path)
    return path


def said(path: Path, *arguments: str) -> str:
    found = CliRunner(env={"COLUMNS": "200"}).invoke(
        command, ["--store", str(path), *arguments], catch_exceptions=False
    )
    assert found.exit_code == 0
    return found.output


def test_settings_are_listed_with_what_they_did(measured: Path):
    text = said(measured, "--simulated")
    assert "simulated (simulated)" in text and "A confirmed step: ▼ ×0.69" in " ".join(text.split())
    assert "No setting was measured" in said(measured, "--simulated", "--variant", "vpp")
    plain = said(measured)
    assert "No setting was measured" in plain and f"Not looked at: {len(SERIES)} simulated runs." in plain


def test_one_setting_is_shown_run_by_run(measured: Path):
    text = said(measured, "--setting", STEPPED)
    assert "SIMULATED - NOT A MEASUREMENT" in text and "kernel: 6.18.0 -> 6.18.1" in text
    assert "step ▼ ×0.69" in text and "; open" in text and "confirms the step" in text
    assert text.count("2025-10-") == len(SERIES) + 1


def test_the_same_as_json(measured: Path):
    (found,) = json.loads(said(measured, "--simulated", "--json"))
    assert found["name"] == STEPPED and found["steps"][0]["step"]["run"] == SERIES[STEP_AT]


def test_an_unknown_setting_is_refused(measured: Path):
    with pytest.raises(UnknownNameError, match="no series of setting"):
        said(measured, "--setting", "none")


def test_an_acknowledged_step_is_not_open(measured: Path, tmp_path: Path):
    path = tmp_path / "nfvbed.sqlite"
    with_series(path)
    with Store.open(path, read_only=True) as store:
        store.acknowledge(
            Acknowledgement(setting=STEPPED, run=SERIES[STEP_AT], reason="known", by="ann",
                            at="2026-01-01T00:00:00.000+00:00", expires_at="2999-01-01T00:00:00.000+00:00")
        )  # fmt: skip
    assert "acknowledged until 2999-01-01" in said(path, "--simulated", "--setting", STEPPED)
    assert "A confirmed step" not in said(path, "--simulated")
