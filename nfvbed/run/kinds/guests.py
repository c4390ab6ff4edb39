"""Executes the tests inside guests: sysbench, misses of the TLBs, connections between two guests."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product

from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError
from nfvbed.host.cores.topology import CpuTopology, read_topology
from nfvbed.host.qemu.binaries import PROJECT_ROOT
from nfvbed.measure.telemetry.perf import DTLB_MISSES, INSTRUCTIONS, ITLB_MISSES, PerfCounters, PerfEvent, probe
from nfvbed.records import QualityWarning, Record, Role, Status, WorkThread
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.celltest import CellTest, Outcome
from nfvbed.run.kinds.guest_session import (
    guests_here,
    in_first_guest,
    pinning_of,
    quantity,
    threads_named,
    warnings_of_test,
    working_inside,
)
from nfvbed.sites.hosted import require_host
from nfvbed.spec.testkinds.guests import SETTLE_S, GuestComputeTest, GuestMemoryTest, GuestMultiqueueTest, GuestTlbTest
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.guest.beside import beside
from nfvbed.vnfs.guest.connections import ConnectionsRun, NetperfTest, Pair
from nfvbed.vnfs.guest.machines import Machine, machines
from nfvbed.vnfs.guest.pinning import Pinning
from nfvbed.vnfs.guest.sysbench import CpuLoad, MemoryLoad, SysbenchRun, sysbench


def guest_compute(cell_test: CellTest, spec: GuestComputeTest) -> Outcome[TablePayload]:
    """Run sysbench's CPU test with each number of threads in the guest of the first VNF; the other guests are idle."""
    return in_first_guest(cell_test, partial(_compute_rows, spec))


def _compute_rows(spec: GuestComputeTest, guest: Machine, pinning: Pinning) -> Iterator[MeasuredRow]:
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


def guest_memory(cell_test: CellTest, spec: GuestMemoryTest) -> Outcome[TablePayload]:
    """Read and write with each number of threads in the guest of the first VNF; the other guests are idle."""
    return in_first_guest(cell_test, partial(_memory_rows, spec))


def _memory_rows(spec: GuestMemoryTest, guest: Machine, pinning: Pinning) -> Iterator[MeasuredRow]:
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


TLB_EVENTS = (DTLB_MISSES, ITLB_MISSES, INSTRUCTIONS)


class TlbMisses(Record):
    """What was counted on the vCPUs of all guests together."""

    events: dict[str, int]
    """By name of the event."""
    seconds: float
    mib_per_s: float
    """Memory throughput of all guests together."""


def guest_tlb(cell_test: CellTest, spec: GuestTlbTest) -> Outcome[TablePayload]:
    """Boot guests beside the path, let them go through their memory, and count misses; the path's own guests are idle.

    Raises:
        UnsupportedError: this host counts no misses.
    """
    guests = guests_here(cell_test)
    if isinstance(guests, Outcome):
        return guests
    choice = cell_test.plan.choice(cell_test.cell.deployment)
    support = probe(TLB_EVENTS)
    if choice is None or support.refused:
        raise UnsupportedError(
            "misses of the TLBs cannot be counted here",
            where="perf_event_open",
            observed=support.reason,
            fix=support.fix,
        )
    with working_inside(cell_test, guests):
        rows = [
            _tlb_row(cell_test, spec, choice, vnfs, hugepages) for hugepages, vnfs in product(spec.hugepages, spec.vnfs)
        ]
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
        warnings=warnings_of_test(cell_test),
    )


def _tlb_row(cell_test: CellTest, spec: GuestTlbTest, choice: VnfChoice, vnfs: int, hugepages: bool) -> MeasuredRow:
    """Measure one number of guests on one kind of pages; what the host lacks for it is the row's reason."""
    label = f"{vnfs} {'VNF' if vnfs == 1 else 'VNFs'}, hugepages {'on' if hugepages else 'off'}"
    parameters: dict[str, str | int | float] = {
        "vnfs": vnfs,
        "hugepages": "on" if hugepages else "off",
        "operation": spec.operation,
        "block_kib": spec.block_kib,
        "threads": spec.threads,
    }
    arrangement = require_host(cell_test.setup.site, cell_test.setup.deployment, "TLBs beside the path").arrangement
    with_pages = choice.model_copy(
        update={"flavor": choice.flavor.model_copy(update={"hugepages": hugepages, "queues": 1})}
    )
    try:
        with beside(with_pages, vnfs, arrangement, PROJECT_ROOT) as guests:
            load = MemoryLoad(spec.operation, spec.threads, spec.duration_s + 2 * SETTLE_S, spec.block_kib)
            counted = count_misses(guests, load, TLB_EVENTS)
    except (UnsupportedError, PrerequisiteError) as failure:
        return MeasuredRow(label=label, parameters=parameters, status=Status.UNSUPPORTED, reason=str(failure))
    return MeasuredRow(label=label, parameters=parameters, quantities=figures_of_misses(counted))


def count_misses(
    guests: Sequence[Machine], load: MemoryLoad, events: Sequence[PerfEvent], settle_s: int = SETTLE_S
) -> TlbMisses:
    """Let all guests work at the same time, and count while all of them do.

    Args:
        guests: guests that do nothing.
        load: its time is that of counting, and of the settling before and after.

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
    return TlbMisses(
        events=total_misses(found, events), seconds=elapsed, mib_per_s=sum(run.mib_per_s or 0.0 for run in runs)
    )


def total_misses(found: dict[tuple[int, str], int | None], events: Sequence[PerfEvent]) -> dict[str, int]:
    """Return the threads' counts, added up.

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
                fix="measure again when no other program counts (perf); the NMI watchdog has a counter, too: 0 in"
                " /proc/sys/kernel/nmi_watchdog frees it, and this host's lock-ups are not told then",
            )
        sums[event.name] = sum(known)
    return sums


def figures_of_misses(counted: TlbMisses) -> tuple[Quantity, ...]:
    """Return misses a second, and for a thousand instructions (MPKI), of both TLBs."""
    quantities = []
    instructions = counted.events[INSTRUCTIONS.name]
    for event in (DTLB_MISSES, ITLB_MISSES):
        misses = counted.events[event.name]
        quantities.append(Quantity(name=event.name, value=misses / counted.seconds, unit="misses/s"))
        per_kilo = 1000 * misses / instructions if instructions else None
        quantities.append(Quantity(name=f"{event.name} per 1,000 instructions", value=per_kilo, unit=""))
    quantities.append(Quantity(name="memory throughput", value=counted.mib_per_s, unit="MiB/s"))
    return tuple(quantities)


_TESTS: dict[str, NetperfTest] = {"stream": "TCP_STREAM", "request-response": "TCP_RR"}
_MEGA = 1_000_000
_FIX = "a larger host, or share_cores: true to see that queues work without a gain"


@dataclass(frozen=True)
class CoreUse:
    """Which cores PMD threads and vCPUs have, against those that they want."""

    pmd_cores: tuple[int, ...]
    """None where the switch has no polling threads."""
    vcpu_cores: tuple[tuple[int, ...], ...]
    """Cores of all vCPUs of both guests."""

    def lacks(self, topology: CpuTopology) -> str:
        """Return what is missing for one PMD core per NUMA node and a core for each vCPU; empty where all is there."""
        nodes = max(len(topology.nodes), 1)
        by_node = sorted(topology.node_of(core) for core in self.pmd_cores)
        pmds = nodes if self.pmd_cores else 0
        wanted, there = pmds + len(self.vcpu_cores), len(topology.allowed)
        of_switch = (
            f"{pmds} PMD {'core' if pmds == 1 else 'cores'} (one per NUMA node, {nodes} here) and " if pmds else ""
        )
        asked = f"{of_switch}{len(self.vcpu_cores)} vCPUs want {wanted} cores"
        if wanted > there:
            return f"{asked}; this host has {there} for nfvbed"
        if self.pmd_cores and by_node != list(range(nodes)):
            return f"{asked}; the PMD cores {list(self.pmd_cores)} are on nodes {by_node}"
        own = [cores[0] for cores in self.vcpu_cores if len(cores) == 1]
        if len(own) < len(self.vcpu_cores) or len({*own, *self.pmd_cores}) < len(own) + len(self.pmd_cores):
            return f"{asked} of their own; the vCPUs run on {sorted(set(self.vcpu_cores))}"
        return ""


def guest_multiqueue(cell_test: CellTest, spec: GuestMultiqueueTest) -> Outcome[TablePayload]:
    """Let connections run between two neighbours of the path, with one queue and with as many as vCPUs.

    Raises:
        UnsupportedError: the flavor has one queue, or there are too few cores.
    """
    guests = guests_here(cell_test)
    if isinstance(guests, Outcome):
        return guests
    if not guests.joined:
        reason = (
            f"no cable of {cell_test.cell.topology} joins two guests: topology v2v or a chain of two or more has one"
        )
        return Outcome(None, Status.NOT_APPLICABLE, reason)
    _check_flavor(cell_test)
    client, server = guests.joined[0]
    pair = Pair(client.guest, client.port, server.guest, server.port)
    by_name = {one.name: one for one in machines(cell_test.setup.deployment)}
    pinnings = [pinning_of(by_name[guest.name]) for guest in (pair.client, pair.server)]
    host = require_host(cell_test.setup.site, cell_test.setup.deployment, "connections between guests")
    use = CoreUse(_pmd_cores(host.work_threads()), _vcpus(pinnings))
    lacks = use.lacks(read_topology())
    if lacks and not spec.share_cores:
        raise UnsupportedError(
            "multiqueue needs cores of their own for PMD threads and vCPUs",
            where=cell_test.cell.id,
            observed=lacks,
            fix=_FIX,
        )
    with working_inside(cell_test, guests):
        rows = _queue_rows(spec, pair, use)
    notes = [f"{guest.name}: {pin.described}." for guest, pin in zip((pair.client, pair.server), pinnings, strict=True)]
    notes += [f"Cores are shared ({lacks}): the figures show no gain of queues."] if lacks else []
    warnings = warnings_of_test(cell_test) + ((QualityWarning.CORES_SHARED,) if lacks else ())
    return Outcome(TablePayload(rows=tuple(rows), notes=tuple(notes)), warnings=warnings)


def _check_flavor(cell_test: CellTest) -> None:
    choice = cell_test.plan.choice(cell_test.cell.deployment)
    if choice is None or choice.flavor.queues == choice.flavor.vcpus > 1:
        return
    raise UnsupportedError(
        "multiqueue is measured with as many queues as vCPUs, two or more",
        where=f"flavor {choice.flavor.name}",
        observed=f"{choice.flavor.queues} queues, {choice.flavor.vcpus} vCPUs",
        fix="flavor: multiqueue-pinned, or multiqueue",
    )


def _pmd_cores(threads: tuple[WorkThread, ...]) -> tuple[int, ...]:
    return tuple(sorted(t.core for t in threads if t.role is Role.SWITCH and t.polling and t.core is not None))


def _vcpus(pinnings: list[Pinning]) -> tuple[tuple[int, ...], ...]:
    return tuple(cores for pinning in pinnings for cores in pinning.vcpu_cores)


def _queue_rows(spec: GuestMultiqueueTest, pair: Pair, use: CoreUse) -> list[MeasuredRow]:
    rows = []
    pair.start_server()
    most = min(pair.queues())
    for many, connections in product(spec.multiqueue, spec.connections):
        queues = most if many else 1
        pair.set_queues(queues)
        runs = [pair.run(_TESTS[spec.traffic], connections, spec.duration_s) for _ in range(spec.repeats)]
        state = f"multiqueue on ({queues} queues)" if many else "multiqueue off"
        row = MeasuredRow(
            label=f"{state}, {connections} {'connection' if connections == 1 else 'connections'}",
            parameters={
                "multiqueue": "on" if many else "off",
                "queues": queues,
                "connections": connections,
                "pmd_cores": len(use.pmd_cores),
                "traffic": spec.traffic,
            },
            quantities=_queue_quantities(spec, runs),
        )
        rows.append(row)
    return rows


def _queue_quantities(spec: GuestMultiqueueTest, runs: list[ConnectionsRun]) -> tuple[Quantity, ...]:
    if spec.traffic == "stream":
        total = quantity("TCP throughput", "bit/s", [run.throughput * _MEGA for run in runs])
        least = quantity("slowest connection", "bit/s", [run.least * _MEGA for run in runs])
    else:
        total = quantity("transactions", "transactions/s", [run.throughput for run in runs])
        least = quantity("slowest connection", "transactions/s", [run.least for run in runs])
    return (
        total,
        least,
        quantity("retransmissions", "segments", [run.retransmissions for run in runs]),
        quantity("sending queues", "", [run.sending_queues for run in runs]),
        quantity("receiving queues", "", [run.receiving_queues for run in runs]),
        quantity("time with all connections", "%", [100 * run.overlap for run in runs]),
    )
