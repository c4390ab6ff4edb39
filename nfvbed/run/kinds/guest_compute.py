"""sysbench's CPU test inside a guest."""

from nfvbed.onboard.guest.sysbench import CpuLoad, sysbench
from nfvbed.results import MeasuredRow, TablePayload
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.guest_session import doubts, not_here, notes_on, pinning_of, quantity, working_inside
from nfvbed.spec.testkinds.guest_compute import GuestComputeTest


def execute(bench: TestBench, spec: GuestComputeTest) -> Outcome:
    """Run it with each number of threads in the guest of the first VNF; the other guests are idle."""
    absent = not_here(bench)
    if absent is not None:
        return absent
    with working_inside(bench) as guests:
        guest = guests[0]
        pinning = pinning_of(guest)
        rows = []
        for threads in spec.threads:
            load = CpuLoad(threads, spec.duration_s, spec.max_prime)
            runs = [sysbench(guest, load) for _ in range(spec.repeats)]
            row = MeasuredRow(
                label=f"NUMA pinning {pinning.state}, {threads} {'thread' if threads == 1 else 'threads'}",
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
            rows.append(row)
    return Outcome(TablePayload(rows=tuple(rows), notes=notes_on(pinning)), warnings=doubts(bench))
