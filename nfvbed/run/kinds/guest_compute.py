"""sysbench's CPU test inside a guest."""

from collections.abc import Iterator
from functools import partial

from nfvbed.results import MeasuredRow
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.guest_session import in_first_guest, quantity, threads_named
from nfvbed.spec.testkinds.guest_compute import GuestComputeTest
from nfvbed.vnfs.guest.machines import Machine
from nfvbed.vnfs.guest.pinning import Pinning
from nfvbed.vnfs.guest.sysbench import CpuLoad, sysbench


def execute(bench: TestBench, spec: GuestComputeTest) -> Outcome:
    """Run it with each number of threads in the guest of the first VNF; the other guests are idle."""
    return in_first_guest(bench, partial(_rows, spec))


def _rows(spec: GuestComputeTest, guest: Machine, pinning: Pinning) -> Iterator[MeasuredRow]:
    for threads in spec.threads:
        load = CpuLoad(threads, spec.duration_s, spec.max_prime)
        runs = [sysbench(guest, load) for _ in range(spec.repeats)]
        yield MeasuredRow(
            label=f"NUMA pinning {pinning.state}, {threads_named(threads)}",
            parameters={
                "threads": threads,
                "vcpus": len(runs[0].cpus),
                "max_prime": spec.max_prime,
                "numa_pinning": pinning.state,
                "host_numa_nodes": pinning.host_nodes,
            },
            quantities=(
                quantity("events", "events/s", [run.events_per_s for run in runs]),
                quantity("mean event", "ms", [run.event_avg_ms for run in runs]),
                quantity("longest event", "ms", [run.event_max_ms for run in runs]),
            ),
        )
