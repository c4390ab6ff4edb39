"""sysbench's memory test inside a guest."""

from collections.abc import Iterator
from functools import partial
from itertools import product

from nfvbed.results import MeasuredRow
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.guest_session import in_first_guest, quantity, threads_named
from nfvbed.spec.testkinds.guest_memory import GuestMemoryTest
from nfvbed.vnfs.guest.machines import Machine
from nfvbed.vnfs.guest.pinning import Pinning
from nfvbed.vnfs.guest.sysbench import MemoryLoad, sysbench


def execute(bench: TestBench, spec: GuestMemoryTest) -> Outcome:
    """Read and write with each number of threads in the guest of the first VNF; the other guests are idle."""
    return in_first_guest(bench, partial(_rows, spec))


def _rows(spec: GuestMemoryTest, guest: Machine, pinning: Pinning) -> Iterator[MeasuredRow]:
    for operation, threads in product(spec.operations, spec.threads):
        load = MemoryLoad(operation, threads, spec.duration_s, spec.block_kib)
        runs = [sysbench(guest, load) for _ in range(spec.repeats)]
        yield MeasuredRow(
            label=f"NUMA pinning {pinning.state}, {operation}, {threads_named(threads)}",
            parameters={
                "operation": operation,
                "threads": threads,
                "vcpus": len(runs[0].cpus),
                "block_kib": spec.block_kib,
                "numa_pinning": pinning.state,
                "host_numa_nodes": pinning.host_nodes,
            },
            quantities=(
                quantity("memory throughput", "MiB/s", [run.mib_per_s or 0.0 for run in runs]),
                quantity("blocks", "events/s", [run.events_per_s for run in runs]),
            ),
        )
