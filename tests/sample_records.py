"""Realistic records for tests: a host with two states, two variants and their ceilings. All numbers are made up."""

import copy
import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram

from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import (
    NOT_SEPARABLE,
    CellRecord,
    CellRole,
    CoreDistance,
    Cost,
    CpuTime,
    DirectionCounts,
    Engine,
    PortKind,
    Preset,
    QualityWarning,
    Role,
    RunRecord,
    Status,
    TrialRecord,
)

NS = 1_000_000_000
RUN = "01940000-0000-7000-8000-000000000001"
HOST = "a" * 64
XDP = Engine(name="nfvgen-xdp", version="0.1.0")
DPDK = Engine(name="nfvgen-dpdk", version="0.1.0")


@dataclass(frozen=True)
class System:
    """One cell family: capacities by frame size, (near, far), frames/s."""

    name: str
    port_kind: PortKind
    role: CellRole
    capacity: dict[int, tuple[float, float]]
    engine: Engine
    cycles: int | None = None
    refused: float = 0.3
    noise: float = 0.012
    latency_ns: float = 9_000
    simulated: bool = False
    config: str = "1"
    topology: str = "p2p"
    vnf: str = ""
    vnf_resolved: str = ""
    emulated: bool = False
    doubled: bool = False
    """Each frame comes twice, and the generator only counts."""

    @property
    def path(self) -> str:
        """Return the middle of a cell's name."""
        return f"{self.topology}+{self.vnf}" if self.vnf else self.topology

    @property
    def accelerator(self) -> str | None:
        """Return the guest's."""
        return "tcg" if self.emulated else None


BRIDGE = System(
    "linux-bridge", PortKind.VETH, CellRole.SUBJECT, {64: (1.08e6, 0.98e6), 1518: (0.95e6, 0.86e6)}, XDP, None, 0.0
)
OVS = System("ovs-dpdk", PortKind.VHOST_USER, CellRole.SUBJECT, {64: (11.8e6, 7.0e6), 1518: (5.7e6, 3.1e6)}, DPDK, 222)
CEILINGS = (
    System("loopback:veth", PortKind.VETH, CellRole.LOOPBACK, {64: (8.0e6, 8.0e6), 1518: (5.0e6, 5.0e6)}, XDP),
    System(
        "loopback:vhost-user",
        PortKind.VHOST_USER,
        CellRole.LOOPBACK,
        {64: (15.9e6, 15.9e6), 1518: (7.6e6, 7.6e6)},
        DPDK,
    ),
    System(
        "reference:vhost-user",
        PortKind.VHOST_USER,
        CellRole.REFERENCE,
        {64: (16.5e6, 7.05e6), 1518: (6.8e6, 3.35e6)},
        DPDK,
    ),
)


def with_vnf(system: System, label: str, resolved: str, capacity: tuple[float, float], topology: str = "pvp") -> System:
    """Return a system with VNFs on its path, measured at 64 B."""
    name = f"vnf:{system.port_kind.value}" if system.role is CellRole.VNF else system.name
    return dataclasses.replace(
        system, name=name, vnf=label, vnf_resolved=resolved, capacity={64: capacity}, topology=topology
    )


PVP = (
    with_vnf(BRIDGE, "native", "process-bridge", (0.70e6, 0.66e6)),
    with_vnf(OVS, "native", "process-io", (4.3e6, 2.5e6)),
    with_vnf(BRIDGE, "process-io", "process-io", (0.41e6, 0.37e6)),
    with_vnf(OVS, "process-io", "process-io", (4.3e6, 2.5e6)),
    with_vnf(dataclasses.replace(BRIDGE, role=CellRole.VNF), "process-io", "process-io", (0.42e6, 0.38e6)),
    with_vnf(dataclasses.replace(OVS, role=CellRole.VNF), "process-io", "process-io", (6.5e6, 6.5e6)),
)
"""pvp native (system) and through the same testpmd (controlled); on veth the VNF is the limit."""
CHAIN = tuple(
    with_vnf(OVS, "process-io", "process-io", rates, f"pv{length}p")
    for length, rates in enumerate(((4.3e6, 2.5e6), (2.9e6, 1.8e6), (2.16e6, 1.35e6), (1.7e6, 1.1e6)), start=1)
)
"""The third holds about half of the first near."""
SIMULATED = System(
    "simulated",
    PortKind.SIMULATED,
    CellRole.SUBJECT,
    {64: (5.0e6, 2.0e6), 1518: (3.0e6, 1.2e6)},
    Engine(name="simulated", version="1"),
    400,
    simulated=True,
)


@dataclass
class Scenario:
    """What a run is built from."""

    run: str = RUN
    host: str = HOST
    systems: tuple[System, ...] = (BRIDGE, OVS, *CEILINGS)
    rounds: int = 9
    far_rounds: tuple[int, ...] = (2, 5)
    changing: tuple[tuple[int, str], ...] = ((7, "ovs-dpdk/p2p/64"),)
    """(round, cell) in which the state changed within the trial."""
    one_state: bool = False
    seed: int = 1
    rig: str = ""
    blocked: tuple[tuple[str, Status, str], ...] = ()
    """(cell, status, reason): cells without trials."""
    rigs: dict[str, dict[str, Any]] = field(default_factory=dict)
    common_load: bool = False
    """Whether each visit has a trial at a load that all variants of its traffic point share."""
    warnings: tuple[tuple[str, QualityWarning], ...] = ()
    """(part of a cell's name, warning): stored with all its trials."""


_BUILT: dict[str, RunData] = {}
"""By scenario, as it is written: histograms take long to count, and tests ask for the same runs again and again."""


def build(scenario: Scenario | None = None) -> RunData:
    """Return a scenario's records, the same for equal ones; what of them can be changed is the caller's own."""
    scenario = scenario or Scenario()
    key = repr(scenario)
    if key not in _BUILT:
        _BUILT[key] = _made(scenario)
    made = _BUILT[key]
    return dataclasses.replace(made, rigs=copy.deepcopy(made.rigs), host=copy.deepcopy(made.host))


def _made(scenario: Scenario) -> RunData:
    rng = np.random.default_rng(scenario.seed)
    stopped = {cell: (status, reason) for cell, status, reason in scenario.blocked}
    cells = [_cell(scenario, system, size, stopped) for system in scenario.systems for size in system.capacity]
    by_id = {cell.id: cell for cell in cells}
    trials: list[TrialRecord] = []
    for number in range(scenario.rounds):
        for system in scenario.systems:
            for size in system.capacity:
                cell = by_id[f"{system.name}/{system.path}/{size}"]
                if cell.id not in stopped:
                    trials += _repetition(scenario, system, cell, number, len(trials), rng)
    run = RunRecord(
        id=scenario.run,
        experiment="demo",
        site="lab",
        host_hash=scenario.host,
        plan_hash="d" * 64,
        started_at="2026-01-02T03:04:05Z",
        ended_at="2026-01-02T03:09:05Z",
        status=Status.OK,
    )
    rigs = {
        _rig_hash(scenario, system): {
            "site": "lab",
            "port_kind": system.port_kind.value,
            "generator": {"engine": system.engine.name, "version": system.engine.version},
            "arrangement": {"switch_cores": [0], "generator_core": 1, "control_cores": [1]},
        }
        | ({"vnf": {"digest": system.vnf_resolved}, "accelerator": system.accelerator} if system.vnf else {})
        for system in scenario.systems
    }
    host = {
        "cpu": {"model name": "Example CPU <E5>", "model": "1", "hypervisor": "yes"},
        "topology": {"allowed": [0, 1], "isolated": [], "nodes": [[0, 1]]},
        "kernel": "6.18.0",
        "memory_gib": 24,
        "governor": None,
        "mitigations": {"spectre_v2": "Mitigation: Retpolines", "mds": "Not affected"},
    }
    return RunData(run, tuple(cells), tuple(trials), rigs, host)


def _rig_hash(scenario: Scenario, system: System) -> str:
    text = f"{scenario.rig}{system.port_kind.value}{system.vnf_resolved}{system.accelerator or ''}"
    return (text.encode().hex() + "0" * 64)[:64]


def _cell(scenario: Scenario, system: System, size: int, stopped: dict[str, tuple[Status, str]]) -> CellRecord:
    name = f"{system.name}/{system.path}/{size}"
    status, reason = stopped.get(name, (Status.OK, ""))
    return CellRecord(
        id=name,
        run=scenario.run,
        variant=system.name if system.role is CellRole.SUBJECT else "ovs-dpdk",
        role=system.role,
        topology=system.topology,
        vnf=system.vnf,
        vnf_resolved=system.vnf_resolved,
        frame_size=size,
        flows=1,
        port_kind=system.port_kind,
        config_hash=(f"{system.name}{system.config}".encode().hex() + "0" * 64)[:64],
        rig_hash=_rig_hash(scenario, system),
        simulated=system.simulated,
        status=status,
        reason=reason,
    )


def _repetition(
    scenario: Scenario, system: System, cell: CellRecord, number: int, sequence: int, rng: np.random.Generator
) -> list[TrialRecord]:
    far = number in scenario.far_rounds
    size = int(cell.frame_size)
    capacity = system.capacity[size][1 if far else 0] * (1 + rng.normal(0, system.noise))
    after_far = far != ((number, cell.id) in scenario.changing)
    distance = None
    if not scenario.one_state and system.role is not CellRole.LOOPBACK:
        distance = CoreDistance(before=_distance(far, rng), after=_distance(after_far, rng))
    maximum = _trial(system, cell, number, sequence, None, capacity, distance, rng)
    trials = [maximum]
    if system.role is CellRole.SUBJECT:
        load = int(system.capacity[size][1 if far else 0] / 2)
        trials.append(_trial(system, cell, number, sequence + 1, load, load, distance, rng))
        if scenario.common_load:
            shared = int(min(other.capacity[size][1] for other in _partners(scenario, system, size)) / 2)
            common = _trial(system, cell, number, sequence + 2, shared, shared, distance, rng)
            trials.append(common.model_copy(update={"preset": Preset.COMMON}))
    carried = tuple(kind for part, kind in scenario.warnings if part in cell.id)
    return [trial.model_copy(update={"warnings": (*trial.warnings, *carried)}) for trial in trials]


def _partners(scenario: Scenario, system: System, size: int) -> list[System]:
    return [
        other
        for other in scenario.systems
        if other.role is CellRole.SUBJECT and other.path == system.path and size in other.capacity
    ]


def _distance(far: bool, rng: np.random.Generator) -> float:
    return round(float(rng.uniform(140, 175) if far else rng.uniform(25, 45)), 1)


def _trial(  # noqa: PLR0913 - a test's builder
    system: System,
    cell: CellRecord,
    number: int,
    sequence: int,
    load: int | None,
    rate: float,
    distance: CoreDistance | None,
    rng: np.random.Generator,
) -> TrialRecord:
    duration = NS if load else NS // 2
    received = int(rate * duration / NS / 2)
    lost = 0 if load else int(received * (0.00004 if system.refused else 4.0))
    sent = received + lost
    direction = DirectionCounts.counted(
        sent,
        2 * sent if system.doubled else received,
        refused=0 if load else int(system.refused * sent),
        sent_bytes=sent * int(cell.frame_size),
        received_bytes=received * int(cell.frame_size),
    )
    kernel = system.cycles is None and system.role is CellRole.SUBJECT
    busy = duration if system.cycles or system.role is not CellRole.SUBJECT else int(0.96 * duration)
    cpu = (
        _cpu(Role.SWITCH, 0, busy, "scheduler and softirq"),
        _cpu(Role.GENERATOR, 1, duration, "schedstat"),
    )
    cpu += (_cpu(Role.VNF, 1, duration // 4, "schedstat"),) if system.vnf else ()
    cost = None
    if system.role is CellRole.SUBJECT:
        cycles = NOT_SEPARABLE if kernel else int(system.cycles * 2 * received * (1 + rng.normal(0, 0.01)))
        cost = Cost(busy_cycles=cycles, packets=2 * received, source="none" if kernel else "PMD statistics")
    return TrialRecord(
        run=cell.run,
        cell=cell.id,
        sequence=sequence,
        round=number,
        preset=Preset.PACED if load else Preset.MRR,
        started_at=f"2026-01-02T03:{4 + number // 60:02d}:{number % 60:02d}Z",
        intended_load_pps=load,
        offered_load_pps=int(2 * sent * NS / duration),
        forwarded_rate_pps=int(2 * direction.received * NS / duration),
        directions=(direction, direction),
        duration_ns=duration,
        latency_hdr=(_histogram(system, rng), _histogram(system, rng)) if load else (),
        cpu=cpu,
        generator_busy_ns=int(0.8 * duration),
        cost=cost,
        core_distance_ns=distance,
        engine=system.engine,
        simulated=system.simulated,
        warnings=(QualityWarning.SIMULATED,) * system.simulated
        + (QualityWarning.EMULATED_ACCELERATOR,) * system.emulated
        + (QualityWarning.DUPLICATED, QualityWarning.LOSS_AT_LEAST) * system.doubled,
    )


def _cpu(role: Role, core: int, busy: int, source: str) -> CpuTime:
    return CpuTime(role=role, core=core, user_ns=busy, system_ns=0, softirq_ns=0, busy_ns=busy, source=source)


def _histogram(system: System, rng: np.random.Generator) -> str:
    histogram = HdrHistogram(1, 60 * NS, 3)
    for value in system.latency_ns * np.exp(rng.normal(0, 0.5, 400)):
        histogram.record_value(int(value), 100)
    return histogram.encode().decode("ascii")
