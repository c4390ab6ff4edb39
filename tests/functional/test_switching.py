"""From variant to variant, twice, as `make switch-all` does it: frames through each, the same results, nothing left."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAST = ("linux-bridge", "ovs-dpdk")


def test_switching_leaves_nothing_and_the_doctor_is_right(tmp_path):
    chosen = [argument for name in FAST for argument in ("--variant", name)]
    argv = [sys.executable, ROOT / "bench" / "switching.py", *chosen, "--json", tmp_path / "found.json"]
    argv += ["--manifest", ROOT / "tests" / "support.yml"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=180, env=environment)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["problems"] == []
    assert done.returncode == 0, done.stderr
    visits = found["visits"]
    assert [visit["variant"] for visit in visits] == [*FAST, *reversed(FAST)]
    assert all(visit["worked"] and visit["complete"] for visit in visits)
    assert all(visit["switch_ns"] for visit in visits[1:])
