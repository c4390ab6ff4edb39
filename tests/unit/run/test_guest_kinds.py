"""Tests inside guests: where they do not apply, what cores multiqueue wants, and what counts amount to."""

import re
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.measure.telemetry.perf import DTLB_MISSES, INSTRUCTIONS, ITLB_MISSES
from nfvbed.records import Hop, HopKind, Status
from nfvbed.run.kinds.guest_session import notes_on, quantity, wait_until_counted
from nfvbed.run.kinds.guests import CoreUse, TlbMisses, figures_of_misses, total_misses
from nfvbed.run.tools import Tools
from nfvbed.store import Store
from nfvbed.vnfs.guest.pinning import judge
from tests.unit.run.simulated_runs import classify_all_alike, runner

PROJECT = open_project(Path(__file__).parents[3])
KINDS = ("guest-compute", "guest-memory", "guest-tlb", "guest-multiqueue")


def test_cells_without_guests_are_not_applicable_with_the_reason(tmp_path):
    path = tmp_path / "trial.yml"
    path.write_text(
        "name: trial\ntitle: A trial\nvariants: [simulated]\nframe_sizes: [64]\ntopologies: [p2p]\nceilings: false\n"
        f"tests: [{', '.join('{kind: ' + kind + '}' for kind in KINDS)}]\n"
        "repetitions: {needed: 1, max_rounds: 1}\n"
    )
    with Store.open(tmp_path / "x.sqlite") as store:
        run = runner(store, tools=Tools(classify=classify_all_alike)).start(PROJECT.load_study(path))
        results = store.results(run.id)
    assert [(result.test, result.status) for result in results] == [(kind, Status.NOT_APPLICABLE) for kind in KINDS]
    assert all(result.reason == "topology p2p has no VNF here, so no guest" for result in results)


EIGHT = CpuTopology(allowed=tuple(range(8)), nodes=((0, 1, 2, 3), (4, 5, 6, 7)))


@pytest.mark.parametrize(
    ("pmds", "vcpus", "topology", "words"),
    [
        ((0, 4), ((1,), (2,), (5,), (6,)), EIGHT, ""),
        ((), ((1,), (2,), (5,), (6,)), EIGHT, ""),
        ((0,), ((1,), (2,), (5,), (6,)), EIGHT, "PMD cores .0. are on nodes .0."),
        ((0, 1), ((2,), (3,)), EIGHT, "are on nodes .0, 0."),
        ((0, 4), ((1,), (1,), (5,), (6,)), EIGHT, "of their own"),
        ((0, 4), ((1, 2), (1, 2)), EIGHT, "of their own"),
        ((0, 4), ((0,), (5,)), EIGHT, "of their own"),
        (
            (0,),
            ((1,),) * 8,
            CpuTopology(allowed=(0, 1), nodes=((0, 1),)),
            r"1 PMD core \(one per NUMA node, 1 here\) and 8 vCPUs want 9 cores; this host has 2",
        ),
    ],
)
def test_cores_that_multiqueue_lacks_are_reported_with_numbers(pmds, vcpus, topology, words):
    found = CoreUse(pmds, vcpus).lacks(topology)
    assert re.search(words, found) if words else not found


COUNTS = {
    # Invented, in the form of what was read: two vCPU threads of one guest.
    (101, "dTLB misses"): 41_250_000,
    (102, "dTLB misses"): 8_750_000,
    (101, "iTLB misses"): 120_000,
    (102, "iTLB misses"): 80_000,
    (101, "instructions"): 20_000_000_000,
    (102, "instructions"): 5_000_000_000,
}


def test_misses_are_summed_and_related():
    sums = total_misses(COUNTS, (DTLB_MISSES, ITLB_MISSES, INSTRUCTIONS))
    assert sums == {"dTLB misses": 50_000_000, "iTLB misses": 200_000, "instructions": 25_000_000_000}
    found = figures_of_misses(TlbMisses(events=sums, seconds=10.0, mib_per_s=512.5))
    values = {figure.name: (figure.value, figure.unit) for figure in found}
    assert values == {
        "dTLB misses": (5_000_000.0, "misses/s"),
        "dTLB misses per 1,000 instructions": (2.0, ""),
        "iTLB misses": (20_000.0, "misses/s"),
        "iTLB misses per 1,000 instructions": (0.008, ""),
        "memory throughput": (512.5, "MiB/s"),
    }


def test_counter_that_never_had_its_turn_is_not_zero():
    with pytest.raises(UnsupportedError, match="iTLB misses could not be counted"):
        total_misses({**COUNTS, (102, "iTLB misses"): None}, (ITLB_MISSES,))


def test_figures_of_runs_are_median_and_ends():
    assert quantity("events", "events/s", [3.0, 1.0, 2.0]).model_dump() == {
        "name": "events",
        "value": 2.0,
        "unit": "events/s",
        "low": 1.0,
        "high": 3.0,
    }
    assert (quantity("x", "", [5]).low, quantity("x", "", [5]).high) == (None, None)


def test_one_node_is_noted_and_two_are_not():
    assert len(notes_on(judge(((0, 1),), (0,), CpuTopology(allowed=(0, 1), nodes=((0, 1),))))) == 2
    assert len(notes_on(judge(((0,),), (0,), EIGHT))) == 1


class Counters:
    """Ports whose counters rise when frames are sent, but for those that are deployed still."""

    def __init__(self, still=()):
        self.sent, self.still = 0, still

    def send(self):
        self.sent += 1

    def hops(self):
        def count(name):
            return 5 if name in self.still else 5 + self.sent

        ports = [
            Hop(name=name, kind=HopKind.VNF_PORT, vnf=0, rx_packets=count(name), tx_packets=0)
            for name in ("vnf1 port 0", "vnf1 port 1")
        ]
        switch = (("p0", None), ("v1a", 0))
        inner = (Hop(name=name, kind=HopKind.SWITCH_PORT, vnf=vnf, rx_packets=1) for name, vnf in switch)
        return (*inner, *ports)


def test_forwarding_is_believed_when_every_port_has_counted():
    counters = Counters()
    wait_until_counted(counters.hops, counters.send, 0.0)
    assert counters.sent == 1


def test_port_that_counts_nothing_is_reported():
    counters = Counters(still=("vnf1 port 1",))
    with pytest.raises(OnboardError, match="no frame passes") as caught:
        wait_until_counted(counters.hops, counters.send, 0.0)
    assert caught.value.where == "vnf1 port 1"
