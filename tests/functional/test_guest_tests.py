"""Tests inside guests, on real ones: run as an experiment says, and the guests forward again. As root."""

import os
from pathlib import Path

import pytest

from nfvbed.host.cores.arrangement import resolve
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.measure.telemetry import perf
from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import LoadsPayload, ResultKind, TablePayload
from nfvbed.run.kinds.guests import count_misses
from nfvbed.spec.site import ArrangementSpec
from nfvbed.store import Store
from nfvbed.vnfs.guest.beside import beside
from nfvbed.vnfs.guest.pinning import read_pinning
from nfvbed.vnfs.guest.sysbench import MemoryLoad
from tests.functional.lab_host import MARK, assert_back_to, settled_snapshot
from tests.functional.vm_guests import PROJECT, choice

pytestmark = pytest.mark.usefixtures("vloop_image")

EXPERIMENT = """
name: inside
title: Inside a guest
variants: [linux-bridge]
topologies: [pvp]
vnfs: [{kind: vm, forwarding: io, flavor: numa-bound}]
frame_sizes: [64]
trials: {warmup_s: 0}
tests:
  - {kind: guest-compute, threads: [3], duration_s: 1, repeats: 1}
  - {kind: guest-tlb, vnfs: [1], hugepages: [true], duration_s: 1}
  - {kind: guest-multiqueue}
  - {kind: continuous, name: afterwards-1, load_pps: 200, duration_s: 0.5}
  - {kind: continuous, name: afterwards-2, load_pps: 200, duration_s: 0.5}
  - {kind: continuous, name: afterwards-3, load_pps: 200, duration_s: 0.5}
repetitions: {needed: 1, max_rounds: 1}
ceilings: false
"""


@pytest.mark.slow
def test_tests_inside_a_guest_and_traffic_through_it_afterwards(nfvbed, tmp_path):
    experiment, path = tmp_path / "inside.yml", tmp_path / "results.sqlite"
    experiment.write_text(EXPERIMENT)
    process = nfvbed("run", experiment, "--store", path, "--no-doctor")
    printed = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    with Store.open(str(path), read_only=True) as store:
        stored = store.results(store.runs()[0].id)
    results = {result.kind: result for result in stored}
    table = TablePayload.model_validate(results[ResultKind.GUEST_COMPUTE].payload)
    (computed,) = table.rows
    asked = [computed.parameters[name] for name in ("threads", "vcpus", "numa_pinning")]
    assert asked == [3, 2, "on"], "the flavor numa-bound has two vCPUs"
    events, mean, longest = (figure.value for figure in computed.quantities)
    # Three threads work all the time: an event takes each of them so long.
    assert events * mean / 1000 == pytest.approx(3, rel=0.25)
    assert longest >= mean > 0
    # What the host is, read here and not as the product reads it.
    nodes = len(list(Path("/sys/devices/system/node").glob("node[0-9]*")))
    assert computed.parameters["host_numa_nodes"] == nodes
    assert ("one NUMA node" in " ".join(table.notes)) == (nodes == 1)
    missed = results[ResultKind.GUEST_TLB]
    if any(Path("/sys/bus/event_source/devices").glob("cpu*")):
        assert missed.status is Status.OK, missed.reason
    else:
        assert missed.status is Status.UNSUPPORTED
        assert "no PMU counts it" in missed.reason
    assert results[ResultKind.GUEST_MULTIQUEUE].status is Status.NOT_APPLICABLE
    afterwards = [LoadsPayload.model_validate(r.payload) for r in stored if r.kind is ResultKind.CONTINUOUS]
    points = [point for payload in afterwards for point in payload.points]
    assert len(points) == 3
    assert any(point.lost_frames == 0 and point.forwarded_rate_pps > 0 for point in points), points
    shares = QualityWarning.CORES_SHARED in results[ResultKind.GUEST_COMPUTE].warnings
    # The switch, the generator and the VNF have a core each, or two of them share one.
    assert shares == (len(os.sched_getaffinity(0)) < 3)


@pytest.fixture(name="quiet_host")
def _quiet_host(monkeypatch, mark):
    monkeypatch.setenv(MARK, mark)
    lock = HostLock()
    lock.acquire()
    before = settled_snapshot(mark)
    try:
        yield
        assert_back_to(before, mark)
    finally:
        lock.release()


@pytest.mark.slow
@pytest.mark.usefixtures("quiet_host")
def test_guest_beside_the_path_is_counted_while_it_works():
    topology = read_topology()
    arrangement = resolve(topology, ArrangementSpec(), vnfs=1)
    # The kernel's own event stands for those of a PMU, which the machine may lack.
    with beside(choice(flavor="numa-free"), 1, arrangement, PROJECT.root) as guests:
        assert read_pinning(guests[0], topology).state == "off"
        counted = count_misses(guests, MemoryLoad("read", 1, 3, 1024), (perf.CONTEXT_SWITCHES,), settle_s=1)
    assert counted.events[perf.CONTEXT_SWITCHES.name] > 0
    assert counted.mib_per_s > 0
    assert counted.seconds >= 1
