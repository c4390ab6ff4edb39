"""Each benchmark that needs the machine, as short as it can be: it measures every side, and what it writes is read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMOKE = {
    "generator": ("--loop", "virtio-user"),
    "overhead": ("--variant", "ovs-dpdk"),
    "switching_overhead": (),
    "gateway": (),
}
"""That of switching is shorter than `test_switching.py`, which runs it whole."""


def smoke(name, raw, *arguments):
    """Run a benchmark's smoke; give its exit status with what it printed, and its raw figures."""
    argv = [sys.executable, ROOT / "bench" / f"{name}.py", "--smoke", "--json", raw, *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=200, env=environment)
    return done.returncode, done.stdout + done.stderr, json.loads(raw.read_text()) if raw.exists() else None


SLOW = ("generator", "overhead", "switching_overhead")


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.slow) for name in SLOW), "gateway"])
def test_benchmark_measures_every_side_once(before, name, tmp_path):
    status, printed, found = smoke(name, tmp_path / "raw.json", *SMOKE[name])
    assert status == 0, printed
    rates = {
        "generator": lambda: [trial["rate_mpps"] for loop in found for trial in loop["trials"]],
        "overhead": lambda: [trial["rate_mpps"] for trial in found["ovs-dpdk"]["trials"]],
        "switching_overhead": lambda: [trial["rate_mpps"] for pair in found["pairs"] for trial in pair],
        "gateway": lambda: [trial["rate_kpps"] for trial in found["trials"]],
    }[name]()
    # Two programs with two bursts each; off, stamps, telemetry, both; two switches; two gateways, two others.
    assert len(rates) == {"generator": 4, "overhead": 4, "switching_overhead": 2, "gateway": 4}[name]
    assert min(rates) > 0, rates
