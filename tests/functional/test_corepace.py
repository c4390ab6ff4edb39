# SPDX-License-Identifier: Apache-2.0
"""The probe of the cores' pace, on real cores."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from nfvbed.host.cores import corepace
from nfvbed.host.native import native_binary


def _run(*arguments):
    command = [str(native_binary("nfvbed-corepace")), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)


@pytest.fixture(name="cores")
def _cores():
    return sorted(os.sched_getaffinity(0))[:2]


def test_each_core_is_measured_and_a_poller_on_it_does_not_change_that(cores):
    """It runs above an ordinary poller, which would otherwise take whole time slices."""
    listed = ",".join(map(str, cores))
    poller = subprocess.Popen(["taskset", "-c", str(cores[-1]), "sh", "-c", "while :; do :; done"])
    schedstat = Path(f"/proc/{poller.pid}/schedstat")
    try:
        before = int(schedstat.read_text().split()[1])
        result = _run("--cores", listed)
        waited_ns = int(schedstat.read_text().split()[1]) - before
    finally:
        poller.kill()
        poller.wait()
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    document = json.loads(result.stdout)
    assert document["schema"] == "corepace/1"
    assert [one["core"] for one in document["cores"]] == cores
    assert all(0 < one["least"] <= one["median"] for one in document["cores"])
    assert not document["realtime"] or waited_ns > 0, "the poller waited for its core meanwhile"


def test_a_slowdown_is_over_the_shortest_that_a_core_has_needed(cores):
    first = corepace.measure(cores)
    assert list(first) == cores
    assert all(by >= 1 for by in first.values())
    assert all(1 <= by < 100 for by in corepace.measure(cores).values())


@pytest.mark.parametrize(
    ("cores", "says"), [("0,0", "twice"), ("9999", "9999"), ("", "core numbers"), ("0,", "core numbers"), ("a", "a:")]
)
def test_refused_cores(cores, says):
    result = _run("--cores", cores)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr


def test_cores_are_required():
    assert _run().returncode == 2
