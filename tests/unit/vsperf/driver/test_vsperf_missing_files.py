"""Files that VSPERF reads and a kernel lacks read as empty; all others are opened as usual."""

import subprocess
import sys
from pathlib import Path

import pytest

from nfvbed.vsperf.driver.installation import MISSING_FILES
from nfvbed.vsperf.driver.plugin.missing_files import READ, open_or_empty


@pytest.mark.parametrize("name", READ)
def test_a_file_that_is_missing_reads_as_empty(name: str):
    if Path(name).exists():
        with open_or_empty(name) as file, Path(name).open() as same:
            assert file.read() == same.read()
    else:
        assert open_or_empty(name, "r").read() == ""


def test_a_file_that_vsperf_does_not_need_is_missing_as_ever(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        open_or_empty(str(tmp_path / "none"))


def test_a_program_runs_as_by_itself(tmp_path: Path):
    (tmp_path / "beside.py").write_text("WORD = 'beside'\n")
    (tmp_path / "program").write_text("import sys, beside\nprint(beside.WORD, *sys.argv[1:], __name__)\n")
    argv = [sys.executable, str(MISSING_FILES), str(tmp_path / "program"), "--one"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["beside", "--one", "__main__"]
