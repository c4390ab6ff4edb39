"""The native programs' own unit tests: meson compiles those that are not there yet, and runs all."""

import json
import subprocess

import pytest

from nfvbed.host.native import build_directory

BUILT_AND_RUN_WITHIN_S = 300


@pytest.mark.timeout(BUILT_AND_RUN_WITHIN_S + 60)
def test_every_native_test_passes(root):
    argv = ["meson", "test", "-C", str(build_directory(root)), "--print-errorlogs"]
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BUILT_AND_RUN_WITHIN_S, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    results = (build_directory(root) / "meson-logs" / "testlog.json").read_text(encoding="utf-8").splitlines()
    passed = {result["name"] for result in map(json.loads, results) if result["result"] == "OK"}
    # One file of C may be compiled for several machines; none may be left out.
    assert len(passed) >= len(list((root / "native" / "tests").glob("test_*.c")))
