"""The wheel without extras, installed by pip as users do it: what it brings, and how large that is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.functional.lab_host import ROOT

pytestmark = pytest.mark.slow
MOST_BYTES = 400 * 10**6
BLOCK = 512
"""Bytes in which a file system counts what a file takes."""


def test_the_viewer_takes_at_most_400_mb_as_pip_installs_it(tmp_path: Path, record_property):
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["/usr/bin/python3", "-m", "venv", tmp_path / "viewer"], check=True)
    # Compiled, whatever the environment of the tests says.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    argv = [tmp_path / "viewer/bin/pip", "install", "--quiet", "--disable-pip-version-check", *tmp_path.glob("*.whl")]
    subprocess.run(argv, check=True, env=environment, cwd=tmp_path)
    taken = {path: path.lstat().st_blocks * BLOCK for path in (tmp_path / "viewer").rglob("*")}
    print(f"the viewer's environment: {sum(taken.values()) / 1e6:.0f} MB, {len(taken)} files")
    record_property("viewer_mb", round(sum(taken.values()) / 1e6))
    assert any(path.suffix == ".pyc" and "sqlalchemy" in path.parts for path in taken)
    assert sum(taken.values()) <= MOST_BYTES
    shown = subprocess.run(
        [tmp_path / "viewer/bin/nfvbed", "runs", "--help"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert shown.returncode == 0, shown.stderr
