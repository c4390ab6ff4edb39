"""Concurrent connections between two guests over one queue and over all."""

from dataclasses import dataclass
from itertools import product

from nfvbed.errors import UnsupportedError
from nfvbed.host.topology import CpuTopology, read_topology
from nfvbed.records import QualityWarning, Role, Status, WorkThread
from nfvbed.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.guest_session import doubts, not_here, pinning_of, quantity, working_inside
from nfvbed.spec.layout import layout
from nfvbed.spec.testkinds.guest_multiqueue import GuestMultiqueueTest
from nfvbed.vnfs.guest.connections import ConnectionsRun, NetperfTest, Pair
from nfvbed.vnfs.guest.machines import Machine, machines
from nfvbed.vnfs.guest.pinning import Pinning

_TESTS: dict[str, NetperfTest] = {"stream": "TCP_STREAM", "request-response": "TCP_RR"}
_MEGA = 1_000_000
_FIX = "a larger host, or share_cores: true to see that queues work without a gain"


@dataclass(frozen=True)
class CoreUse:
    """Which cores PMD threads and vCPUs have, against those that they want."""

    pmd_cores: tuple[int, ...]
    """None where the switch has no polling threads."""
    vcpu_cores: tuple[tuple[int, ...], ...]
    """Of all vCPUs of both guests."""

    def lacks(self, topology: CpuTopology) -> str:
        """Say what is missing for one PMD core per NUMA node and a core for each vCPU; empty where all is there."""
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


def execute(bench: TestBench, spec: GuestMultiqueueTest) -> Outcome:
    """Let connections run between two neighbours of the path, with one queue and with as many as vCPUs.

    Raises:
        UnsupportedError: the flavor has one queue, or there are too few cores.
    """
    absent = not_here(bench)
    if absent is not None:
        return absent
    pair = _pair(bench)
    if pair is None:
        reason = f"no cable of {bench.cell.topology} joins two guests: topology v2v or a chain of two or more has one"
        return Outcome(None, Status.NOT_APPLICABLE, reason)
    _check_flavor(bench)
    pinnings = [pinning_of(guest) for guest in (pair.client, pair.server)]
    use = CoreUse(_pmd_cores(bench.setup.site.work_threads(bench.setup.deployment)), _vcpus(pinnings))
    lacks = use.lacks(read_topology())
    if lacks and not spec.share_cores:
        raise UnsupportedError(
            "multiqueue needs cores of their own for PMD threads and vCPUs",
            where=bench.cell.id,
            observed=lacks,
            fix=_FIX,
        )
    with working_inside(bench):
        rows = _rows(spec, pair, use)
    notes = [f"{guest.name}: {pin.described}." for guest, pin in zip((pair.client, pair.server), pinnings, strict=True)]
    notes += [f"Cores are shared ({lacks}): the figures show no gain of queues."] if lacks else []
    warnings = doubts(bench) + ((QualityWarning.CORES_SHARED,) if lacks else ())
    return Outcome(TablePayload(rows=tuple(rows), notes=tuple(notes)), warnings=warnings)


def _pair(bench: TestBench) -> Pair | None:
    """Give the first two guests that a cable joins."""
    guests: tuple[Machine, ...] = machines(bench.setup.deployment)
    for cable in layout(bench.cell.topology).cables:
        if cable.first.vnf is not None and cable.second.vnf is not None:
            return Pair(guests[cable.first.vnf], cable.first.port, guests[cable.second.vnf], cable.second.port)
    return None


def _check_flavor(bench: TestBench) -> None:
    choice = bench.plan.choice(bench.cell.deployment)
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


def _rows(spec: GuestMultiqueueTest, pair: Pair, use: CoreUse) -> list[MeasuredRow]:
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
            quantities=_quantities(spec, runs),
        )
        rows.append(row)
    return rows


def _quantities(spec: GuestMultiqueueTest, runs: list[ConnectionsRun]) -> tuple[Quantity, ...]:
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
