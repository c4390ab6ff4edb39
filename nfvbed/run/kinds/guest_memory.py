"""sysbench's memory test inside a guest."""

from itertools import product

from nfvbed.onboard.guest.sysbench import MemoryLoad, sysbench
from nfvbed.results import MeasuredRow, TablePayload
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.guest_session import doubts, not_here, notes_on, pinning_of, quantity, working_inside
from nfvbed.spec.testkinds.guest_memory import GuestMemoryTest


def execute(bench: TestBench, spec: GuestMemoryTest) -> Outcome:
    """Read and write with each number of threads in the guest of the first VNF; the other guests are idle."""
    absent = not_here(bench)
    if absent is not None:
        return absent
    with working_inside(bench) as guests:
        guest = guests[0]
        pinning = pinning_of(guest)
        rows = []
        for operation, threads in product(spec.operations, spec.threads):
            load = MemoryLoad(operation, threads, spec.duration_s, spec.block_kib)
            runs = [sysbench(guest, load) for _ in range(spec.repeats)]
            count = f"{threads} {'thread' if threads == 1 else 'threads'}"
            row = MeasuredRow(
                label=f"NUMA pinning {pinning.state}, {operation}, {count}",
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
            rows.append(row)
    return Outcome(TablePayload(rows=tuple(rows), notes=notes_on(pinning)), warnings=doubts(bench))
