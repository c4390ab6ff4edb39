"""The user's VSPERF is found, or what is wrong with it is reported."""

import sys
from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.vsperf.driver.installation import find_vsperf
from tests.refusals import refusal
from tests.unit.vsperf.driver.vsperf_double import make_double


def refused(environment: dict[str, str], *parts: str) -> None:
    refusal(lambda: find_vsperf(environment), PrerequisiteError, *parts)


def test_a_vsperf_that_starts_is_found(tmp_path: Path):
    folder = make_double(tmp_path / "vsperf-double")
    found = find_vsperf({"VSPERF_DIR": str(folder), "VSPERF_PYTHON": sys.executable})
    assert (found.directory, found.version) == (folder, "0.2")
    assert found.argv("phy2phy_cont")[-2:] == [str(folder / "vsperf"), "phy2phy_cont"]
    assert found.argv()[0] == sys.executable


def test_what_is_missing_is_reported(tmp_path: Path):
    refused({}, "VSPERF_DIR", "the variable is not set", "git clone")
    refused({"VSPERF_DIR": str(tmp_path / "none")}, "no folder of VSPERF", "no vsperf")
    (tmp_path / "vsperf").write_text("")
    refused({"VSPERF_DIR": str(tmp_path)}, "no conf/00_common.conf")


def test_a_python_that_cannot_run_it_is_reported(tmp_path: Path):
    folder = make_double(tmp_path / "double", "import a_module_that_vsperf_needs\n")
    environment = {"VSPERF_DIR": str(folder), "VSPERF_PYTHON": sys.executable}
    refused(environment, "VSPERF does not start", "No module named 'a_module_that_vsperf_needs'", "requirements.txt")
    refused({**environment, "VSPERF_PYTHON": "/nowhere/python"}, "VSPERF_PYTHON", "cannot be executed")
