# SPDX-License-Identifier: Apache-2.0
"""The core-distance probe on real cores."""

import json
import os
import pathlib
import subprocess
from pathlib import Path

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COREDISTANCE = os.environ.get("NFVBED_COREDISTANCE", str(ROOT / "native/build/coredistance/nfvbed-coredistance"))


def _run(*arguments):
    return subprocess.run([COREDISTANCE, *arguments], capture_output=True, text=True, timeout=10, check=False)


@pytest.fixture(name="cores")
def _cores():
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.fail("two cores are needed to measure the distance between them")
    return cores[:2]


def test_it_prints_one_plausible_line(cores):
    """One way is between 5 ns (two threads of a core) and 2 us (two sockets, virtual)."""
    result = _run("--cores", f"{cores[0]},{cores[1]}")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    document = json.loads(result.stdout)
    assert document["schema"] == "coredistance/1"
    assert document["cores"] == cores
    assert 5 < document["one_way_ns"] < 2000
    assert (document["batches"], document["round_trips"]) == (12, 200)
    assert 100_000_000 <= document["tsc_hz"] < 10_000_000_000
    assert document["tsc_source"]
    assert document["realtime"] is True or "SCHED_FIFO" in document["note"]


def test_a_known_rate_is_not_measured_again(cores):
    """Where the processor tells its rate, that is taken; the measured one took 20 ms of every call."""
    first = json.loads(_run("--cores", f"{cores[0]},{cores[1]}").stdout)
    document = json.loads(_run("--cores", f"{cores[0]},{cores[1]}", "--tsc-hz", str(first["tsc_hz"])).stdout)
    assert document["tsc_hz"] == first["tsc_hz"]
    assert document["tsc_source"] == ("given" if first["tsc_source"] == "calibrated" else first["tsc_source"])


@pytest.mark.parametrize("rate", ["x", "", "-5", "0", "1000", "2596117291x", "99999999999999999999"])
def test_a_rate_that_cannot_be_is_refused(cores, rate):
    """It would scale every distance."""
    result = _run("--cores", f"{cores[0]},{cores[1]}", "--tsc-hz", rate)
    assert result.returncode == 2
    assert "--tsc-hz" in result.stderr


def test_a_polling_thread_does_not_change_it(cores):
    """It runs above an ordinary poller, which would otherwise add whole time slices."""
    poller = subprocess.Popen(["taskset", "-c", str(cores[1]), "sh", "-c", "while :; do :; done"])
    schedstat = Path(f"/proc/{poller.pid}/schedstat")
    try:
        before = int(schedstat.read_text().split()[1])
        document = json.loads(_run("--cores", f"{cores[0]},{cores[1]}").stdout)
        waited_ns = int(schedstat.read_text().split()[1]) - before
    finally:
        poller.kill()
        poller.wait()
    assert not document["realtime"] or waited_ns > 0, "the poller waited for its core meanwhile"


@pytest.mark.parametrize(
    ("cores", "says"),
    [("0,0", "itself"), ("0,9999", "9999"), ("0", "two core numbers"), ("0,1,2", "two core"), ("a,b", "a,b")],
)
def test_refused_cores(cores, says):
    """A wrong list is a usage error that says why."""
    result = _run("--cores", cores)
    assert result.returncode == 2
    assert says in result.stderr
    assert result.stdout == ""


def test_cores_are_required():
    """No default: two arbitrary cores would be a plausible wrong answer."""
    assert _run().returncode == 2
