"""From variant to variant, twice, as `make switch-all` does it: frames through each, the same results, nothing left."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.functional.disturbed import retried

ROOT = Path(__file__).resolve().parents[2]
FAST = ("linux-bridge", "ovs-dpdk")


def of_frames(problem):
    """Whether a problem is one of frames that did not come, or not in every pass."""
    return "frames were lost" in problem or "the passes differ" in problem


def test_switching_leaves_nothing_and_the_doctor_is_right(tmp_path):
    chosen = [argument for name in FAST for argument in ("--variant", name)]
    argv = [sys.executable, ROOT / "bench" / "switching.py", *chosen, "--json", tmp_path / "found.json"]
    argv += ["--manifest", ROOT / "tests" / "support.yml"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def switched():
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300, env=environment)
        found = json.loads((tmp_path / "found.json").read_text())
        # What is left behind, and what the doctor had wrong, fails at once: a host that is disturbed may lose frames.
        assert [problem for problem in found["problems"] if not of_frames(problem)] == []
        assert done.returncode == (1 if found["problems"] else 0), done.stderr
        return found

    found = retried(switched, lambda found: not found["problems"])
    assert found["problems"] == []
    visits = found["visits"]
    assert [visit["variant"] for visit in visits] == [*FAST, *reversed(FAST)]
    assert all(visit["worked"] and visit["complete"] for visit in visits)
    assert all(visit["switch_ns"] for visit in visits[1:])
