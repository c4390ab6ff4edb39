"""What a packet costs, on the real switches of the lab; and what is traced leaves nothing. As root."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nfvbed.host.network import namespaces
from nfvbed.records.results import TablePayload
from nfvbed.store import Store
from tests.functional.lab_host import MARK, ROOT, assert_back_to, measure, run

TESTS = "tests=[{kind: cost, duration_s: 0.3, load_pps: 20000}]"
SHORT = (
    *("--no-doctor", "--set", "ceilings=false", "--set", "topologies=[p2p]", "--set", "vnfs=[]", "--set", TESTS),
    *("--set", "repetitions={needed: 1, max_rounds: 1}"),
)
TRACES = """
import time
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.telemetry.tracing import CoreTracer
workspace = Workspace.create()
CoreTracer(workspace, {0}).start()
print(workspace.directory, flush=True)
time.sleep(600)
"""


def instances(tmp_path: Path) -> set[str]:
    """The instances of tracing that there are, seen through a mount that ends with the look."""
    folder = tmp_path / "tracefs"
    folder.mkdir(exist_ok=True)

    def read() -> set[str]:
        assert namespaces.libc.unshare(namespaces.CLONE_NEWNS) == 0
        namespaces.mount("none", "/", "none", namespaces.MS_REC | namespaces.MS_PRIVATE)
        namespaces.mount("nfvbed", str(folder), "tracefs")
        return {path.name for path in (folder / "instances").iterdir()}

    return namespaces.in_thread(read)


@pytest.fixture(scope="module", name="measured")
def _measured(tmp_path_factory):
    """One short run of both variants: its store, and what it left of tracing."""
    folder = tmp_path_factory.mktemp("cost")
    before, store = instances(folder), folder / "results.sqlite"
    measure("cost", store, *SHORT)
    with Store.open(str(store), read_only=True) as opened:
        (found,) = opened.runs()
        tables = {
            result.cell.partition("/")[0]: TablePayload.model_validate(result.payload)
            for result in opened.results(found.id)
        }
        trials = {trial.sequence: trial for trial in opened.trials(found.id)}
    return tables, trials, instances(folder) - before


def rows_of(table):
    return {row.label: row for row in table.rows}


def figures(row):
    return {quantity.name: quantity for quantity in row.quantities}


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["linux-bridge", "ovs-dpdk"])
def test_time_cycles_and_switches_of_a_packet_by_role(measured, variant):
    rows = rows_of(measured[0][variant])
    assert list(rows)[:2] == ["switch", "generator"]
    for label in ("switch", "generator"):
        found = figures(rows[label])
        assert {"user", "system", "softirq", "guest", "cycles", "context switches"} <= set(found)
        assert found["guest"].value == 0
        assert found["softirq"].value is not None
        assert found["context switches"].value is not None
        assert found["cycles"].value is not None
        assert found["cycles"].value > 10
    # 0.3 s have 30 clock ticks at most: the one thread that is not of the kernel is split by too few, and it says so.
    assert "too few clock ticks" in rows["generator"].reason
    assert figures(rows["generator"])["system"].high is not None


@pytest.mark.slow
def test_the_bridge_works_in_the_kernel_and_the_poll_mode_thread_outside_of_it(measured):
    bridge, ovs = (figures(rows_of(measured[0][name])["switch"]) for name in ("linux-bridge", "ovs-dpdk"))
    assert bridge["user"].value == 0
    assert bridge["system"].value is not None
    assert bridge["system"].value > 0
    assert ovs["user"].high is not None
    assert ovs["user"].high > 0
    assert "PMD statistics" in str(rows_of(measured[0]["ovs-dpdk"])["switch"].parameters["cycles_from"])
    assert "tracepoints" in str(rows_of(measured[0]["linux-bridge"])["switch"].parameters["cycles_from"])


@pytest.mark.slow
def test_open_vswitch_tells_of_its_threads_and_queues(measured):
    rows = rows_of(measured[0]["ovs-dpdk"])
    thread = next(row for label, row in rows.items() if label.startswith("PMD thread"))
    trial = measured[1][thread.sequence]
    assert thread.parameters["packets"] >= sum(way.received for way in trial.directions)
    assert 0 < figures(thread)["busy"].value <= 100
    assert len([label for label in rows if label.startswith("queue 0 of p")]) == 2


@pytest.mark.slow
def test_hardware_counters_are_counted_or_a_probe_says_why_not(measured):
    for table in measured[0].values():
        row = rows_of(table).get("hardware counters")
        if row is None:
            assert any(label.endswith(", hardware counters") for label in rows_of(table))
        else:
            assert row.status.value == "unsupported"
            assert "PMU" in row.reason


@pytest.mark.slow
def test_every_core_that_works_is_traced_and_nothing_of_it_is_left(measured):
    tables, trials, left = measured
    assert left == set()
    for table in tables.values():
        cores = [row for row in table.rows if row.label.startswith("softirqs on core")]
        assert cores
        assert all(row.parameters["switches"] > 0 or row.parameters["softirqs"] > 0 for row in cores)
    assert {trial.preset.value for trial in trials.values()} == {"cost"}


@pytest.mark.parametrize("unmounted", [False, True])
def test_the_next_nfvbed_removes_what_a_killed_one_traced_with(before, mark, tmp_path, unmounted):
    there = instances(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", TRACES],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {MARK: mark, "PYTHONPATH": str(ROOT)},
    )
    try:
        directory = Path(process.stdout.readline().strip())
        assert instances(tmp_path) - there == {f"nfvbed-{directory.name}"}
    finally:
        process.kill()
        process.communicate()
    if unmounted:
        namespaces.unmount(str(directory / "tracefs"))
    assert instances(tmp_path) - there == {f"nfvbed-{directory.name}"}
    status, _, error = run(mark, "verb", "destroy")
    assert status == 0, error
    assert instances(tmp_path) == there
    assert_back_to(before, mark)
