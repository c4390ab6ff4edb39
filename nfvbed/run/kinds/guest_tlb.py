"""Misses of the TLBs by number of guests side by side, with and without hugepages."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product

from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError
from nfvbed.host.qemu.binaries import PROJECT_ROOT
from nfvbed.measure.telemetry.perf import DTLB_MISSES, INSTRUCTIONS, ITLB_MISSES, PerfCounters, PerfEvent, probe
from nfvbed.records import Record, Status
from nfvbed.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.guest_session import doubts, not_here, working_inside
from nfvbed.sites.hosted import require_host
from nfvbed.spec.testkinds.guest_tlb import SETTLE_S, GuestTlbTest
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.guest.beside import beside
from nfvbed.vnfs.guest.machines import Machine
from nfvbed.vnfs.guest.sysbench import MemoryLoad, SysbenchRun, sysbench

EVENTS = (DTLB_MISSES, ITLB_MISSES, INSTRUCTIONS)


class Counted(Record):
    """What was counted on the vCPUs of all guests together."""

    events: dict[str, int]
    """By name of the event."""
    seconds: float
    mib_per_s: float
    """That all guests went through."""


def execute(bench: TestBench, spec: GuestTlbTest) -> Outcome:
    """Boot guests beside the path, let them go through their memory, and count; the path's own guests are idle.

    Raises:
        UnsupportedError: this host counts no misses.
    """
    absent = not_here(bench)
    if absent is not None:
        return absent
    choice = bench.plan.choice(bench.cell.deployment)
    support = probe(EVENTS)
    if choice is None or support.refused:
        raise UnsupportedError(
            "misses of the TLBs cannot be counted here",
            where="perf_event_open",
            observed=support.reason,
            fix=support.fix,
        )
    with working_inside(bench):
        rows = [_row(bench, spec, choice, vnfs, hugepages) for hugepages, vnfs in product(spec.hugepages, spec.vnfs)]
    failed = [row for row in rows if row.status is not Status.OK]
    status = Status.UNSUPPORTED if len(failed) == len(rows) else Status.OK
    note = (
        "Counted on the vCPU threads of all guests together, in the host and in the guest; each guest goes through "
        f"{spec.block_kib} KiB ({spec.operation}) and forwards nothing."
    )
    return Outcome(
        TablePayload(rows=tuple(rows), notes=(note,)),
        status,
        failed[0].reason if status is not Status.OK else "",
        warnings=doubts(bench),
    )


def _row(bench: TestBench, spec: GuestTlbTest, choice: VnfChoice, vnfs: int, hugepages: bool) -> MeasuredRow:
    """Measure one number of guests on one kind of pages; what the host lacks for it is the row's reason."""
    label = f"{vnfs} {'VNF' if vnfs == 1 else 'VNFs'}, hugepages {'on' if hugepages else 'off'}"
    parameters: dict[str, str | int | float] = {
        "vnfs": vnfs,
        "hugepages": "on" if hugepages else "off",
        "operation": spec.operation,
        "block_kib": spec.block_kib,
        "threads": spec.threads,
    }
    arrangement = require_host(bench.setup.site, bench.setup.deployment, "TLBs beside the path").arrangement
    with_pages = choice.model_copy(
        update={"flavor": choice.flavor.model_copy(update={"hugepages": hugepages, "queues": 1})}
    )
    try:
        with beside(with_pages, vnfs, arrangement, PROJECT_ROOT) as guests:
            load = MemoryLoad(spec.operation, spec.threads, spec.duration_s + 2 * SETTLE_S, spec.block_kib)
            counted = count(guests, load, EVENTS)
    except (UnsupportedError, PrerequisiteError) as failure:
        return MeasuredRow(label=label, parameters=parameters, status=Status.UNSUPPORTED, reason=str(failure))
    return MeasuredRow(label=label, parameters=parameters, quantities=figures(counted))


def count(
    guests: Sequence[Machine], load: MemoryLoad, events: Sequence[PerfEvent], settle_s: int = SETTLE_S
) -> Counted:
    """Let all guests work at the same time, and count while all do.

    Args:
        guests: idle ones.
        load: its time is that of counting, and the time to settle before and after.
        events: to count.
        settle_s: seconds before and after counting.

    Raises:
        UnsupportedError: an event cannot be counted.
        OnboardError: a guest's load fails, or was over too soon.
    """
    vcpus = [t.tid for guest in guests for t in guest.handle.threads if t.tid != t.pid]
    seconds = load.duration_s - 2 * settle_s
    with ThreadPoolExecutor(max_workers=len(guests)) as pool, PerfCounters(vcpus, events) as counters:
        working = [pool.submit(sysbench, guest, load) for guest in guests]
        time.sleep(settle_s)
        began = time.monotonic()
        counters.start()
        time.sleep(seconds)
        counters.stop()
        elapsed = time.monotonic() - began
        early = [guest.name for guest, work in zip(guests, working, strict=True) if work.done()]
        found = counters.read()
        runs: list[SysbenchRun] = [work.result() for work in working]
    if early:
        raise OnboardError("a guest's load was over before its misses were counted", where=", ".join(early))
    return Counted(events=total(found, events), seconds=elapsed, mib_per_s=sum(run.mib_per_s or 0.0 for run in runs))


def total(found: dict[tuple[int, str], int | None], events: Sequence[PerfEvent]) -> dict[str, int]:
    """Add the threads' counts up.

    Raises:
        UnsupportedError: a counter never had its turn: others have the PMU.
    """
    sums: dict[str, int] = {}
    for event in events:
        counts = [value for (_, name), value in found.items() if name == event.name]
        known = [value for value in counts if value is not None]
        if len(known) < len(counts):
            raise UnsupportedError(
                f"{event.name} could not be counted for a moment",
                observed="its counter never had its turn on the PMU",
                fix="end what else counts (perf, the NMI watchdog)",
            )
        sums[event.name] = sum(known)
    return sums


def figures(counted: Counted) -> tuple[Quantity, ...]:
    """Give misses a second, and for a thousand instructions (MPKI), of both TLBs."""
    quantities = []
    instructions = counted.events[INSTRUCTIONS.name]
    for event in (DTLB_MISSES, ITLB_MISSES):
        misses = counted.events[event.name]
        quantities.append(Quantity(name=event.name, value=misses / counted.seconds, unit="misses/s"))
        per_kilo = 1000 * misses / instructions if instructions else None
        quantities.append(Quantity(name=f"{event.name} per 1,000 instructions", value=per_kilo, unit=""))
    quantities.append(Quantity(name="memory throughput", value=counted.mib_per_s, unit="MiB/s"))
    return tuple(quantities)
