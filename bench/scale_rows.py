"""Fills a store with made-up runs as testbeds leave them: a few are made trial by trial, the rest are copies."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from hdrh.histogram import HdrHistogram
from sqlalchemy import Connection, Table, func, insert, literal, select

from nfvbed.records import (
    CellRecord,
    CellRole,
    CoreDistance,
    Cost,
    CpuTime,
    DirectionCounts,
    Engine,
    PortKind,
    Preset,
    Role,
    RunRecord,
    Status,
    TrialRecord,
)
from nfvbed.store import Store
from nfvbed.store.connect import connect
from nfvbed.store.schema import CELL, FACT, HISTOGRAM, RUN, TRIAL
from nfvbed.units import NS_PER_S

VARIANTS: Final = {
    "linux-bridge": (1.1e6, PortKind.VETH),
    "ovs-kernel": (0.9e6, PortKind.VETH),
    "ovs-afxdp": (1.3e6, PortKind.VETH),
    "xdp-native": (3.9e6, PortKind.VETH),
    "ovs-dpdk": (11.8e6, PortKind.VHOST_USER),
    "ovs-dpdk-smc": (11.5e6, PortKind.VHOST_USER),
    "vpp": (12.9e6, PortKind.VHOST_USER),
    "vpp-bridge": (9.4e6, PortKind.VHOST_USER),
}
"""Frames/s of each at 64 bytes without a VNF, and its ports."""
POINTS: Final = (("p2p", "", 64), ("p2p", "", 1518), ("pvp", "process-io", 64))
CEILINGS: Final = ((CellRole.LOOPBACK, 1.4), (CellRole.REFERENCE, 1.3), (CellRole.VNF, 0.8))
"""What bounds a variant, and by how much it is above the quickest of its ports."""
ROUNDS: Final = 12
TEMPLATES: Final = 4
"""Runs that differ in all their trials."""
HISTOGRAMS: Final = 64
FRAMES: Final = 400
"""Different delays in a histogram, each of 100 frames."""
COPIED_AT_ONCE: Final = 50
"""Runs in one transaction."""
FIRST: Final = datetime(2025, 1, 1, tzinfo=UTC)
HOST: Final = {
    "cpu": {"model name": "made up", "model": "1", "hypervisor": "yes"},
    "topology": {"allowed": [0, 1], "isolated": [], "nodes": [[0, 1]]},
    "kernel": "6.18.0",
    "memory_gib": 24,
}


@dataclass(frozen=True)
class Filled:
    """What is in the store."""

    runs: tuple[str, ...]
    trials: int
    histograms: int


@dataclass(frozen=True)
class Chance:
    """What differs between trials."""

    rng: np.random.Generator
    delays: tuple[str, ...]
    """Histograms, of which each direction of a trial has one."""


def fill(place: str, trials: int, seed: int) -> Filled:
    """Write runs until there are so many trials or a few more."""
    rng = np.random.default_rng(seed)
    chance = Chance(rng, tuple(_histogram(rng) for _ in range(HISTOGRAMS)))
    with Store.open(place) as store:
        host = store.put_blob("host", HOST)
        rigs = {kind: store.put_blob("rig", _rig(kind)) for kind in (PortKind.VETH, PortKind.VHOST_USER)}
        made = []
        for number in range(TEMPLATES):
            run = _run(number, host)
            cells = tuple(_cells(run.id, rigs))
            found = tuple(_trials(cells, chance))
            store.add_run_whole(run, cells, found, ())
            made.append((run.id, len(found)))
        location = store.location
    ids, total = [run for run, _ in made], sum(count for _, count in made)
    engine = connect(location, read_only=False)
    while total < trials:
        with engine.begin() as connection:
            for _ in range(COPIED_AT_ONCE):
                template, count = made[len(ids) % TEMPLATES]
                ids.append(_copy(connection, template, len(ids)))
                total += count
                if total >= trials:
                    break
    with engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
        rows = connection.execute(select(func.count()).select_from(HISTOGRAM)).scalar_one()
        connection.commit()
    engine.dispose()
    return Filled(tuple(ids), total, rows)


def _copy(connection: Connection, template: str, number: int) -> str:
    run = _id(number)
    changed: dict[Table, dict[str, str]] = {
        RUN: {"id": run, "started_at": _moment(number), "ended_at": _moment(number, hours=1)},
        CELL: {"run": run},
        TRIAL: {"run": run},
        HISTOGRAM: {"run": run},
        FACT: {"run": run},
    }
    for table, new in changed.items():
        columns = [column for column in table.c if not (table is FACT and column.name == "id")]
        values = [literal(new[column.name]) if column.name in new else column for column in columns]
        of = table.c.id if table is RUN else table.c.run
        source = select(*values).where(of == template)
        connection.execute(insert(table).from_select([column.name for column in columns], source))
    return run


def _id(number: int) -> str:
    return f"{0x01930000 + number:08x}-0000-7000-8000-{number:012x}"


def _moment(number: int, hours: int = 0) -> str:
    return (FIRST + timedelta(hours=8 * number + hours)).isoformat(timespec="milliseconds")


def _rig(kind: PortKind) -> dict[str, object]:
    return {"site": "lab", "port_kind": kind.value, "generator": {"engine": "nfvgen", "version": "1"}}


def _run(number: int, host: str) -> RunRecord:
    return RunRecord(
        id=_id(number), experiment="scale", site="lab", host_hash=host, plan_hash="", started_at=_moment(number),
        ended_at=_moment(number, hours=1), status=Status.OK,
    )  # fmt: skip


def _cells(run: str, rigs: dict[PortKind, str]) -> Iterator[CellRecord]:
    for variant, (_, kind) in VARIANTS.items():
        yield from (_cell(run, variant, CellRole.SUBJECT, point, (kind, rigs[kind])) for point in POINTS)
    for kind, rig in rigs.items():
        for role, _ in CEILINGS:
            of_vnf = role is CellRole.VNF
            points = (point for point in POINTS if bool(point[1]) == of_vnf)
            yield from (_cell(run, f"{role.value}:{kind.value}", role, point, (kind, rig)) for point in points)


def _cell(run: str, name: str, role: CellRole, point: tuple[str, str, int], ports: tuple[PortKind, str]) -> CellRecord:
    (topology, vnf, size), (kind, rig) = point, ports
    path = f"{topology}+{vnf}" if vnf else topology
    return CellRecord(
        id=f"{name}/{path}/{size}", run=run, variant=name if role is CellRole.SUBJECT else "ovs-dpdk", role=role,
        topology=topology, vnf=vnf, vnf_resolved=vnf, frame_size=size, flows=1, port_kind=kind,
        config_hash=(name.encode().hex() + "0" * 64)[:64], rig_hash=rig,
    )  # fmt: skip


def _trials(cells: tuple[CellRecord, ...], chance: Chance) -> Iterator[TrialRecord]:
    sequence = 0
    for number in range(1, ROUNDS + 1):
        far = chance.rng.random() < 0.3
        for cell in cells:
            capacity = _capacity(cell) * (0.6 if far else 1.0)
            presets = (Preset.MRR, Preset.PACED, Preset.COMMON) if cell.role is CellRole.SUBJECT else (Preset.MRR,)
            for preset in presets:
                sequence += 1
                rate = capacity * (1 + chance.rng.normal(0, 0.012))
                yield _trial(cell, (sequence, number), preset, (rate, far), chance)


def _capacity(cell: CellRecord) -> float:
    """Return frames/s near."""
    if cell.role is CellRole.SUBJECT:
        rate = VARIANTS[cell.variant][0]
    else:
        rate = max(rate for rate, kind in VARIANTS.values() if kind is cell.port_kind) * dict(CEILINGS)[cell.role]
    return rate * (0.5 if cell.frame_size == 1518 else 1.0) * (0.4 if cell.role is CellRole.SUBJECT and cell.vnf else 1)


def _trial(
    cell: CellRecord, place: tuple[int, int], preset: Preset, state: tuple[float, bool], chance: Chance
) -> TrialRecord:
    (sequence, number), (rate, far), rng = place, state, chance.rng
    load = {Preset.MRR: None, Preset.PACED: int(rate / 2), Preset.COMMON: 220_000}[preset]
    received = int((load or rate) / 4)
    lost = 0 if load else int(received * 4e-5)
    side = DirectionCounts(
        intended=received + lost, sent=received + lost, received=received, lost=lost,
        refused=0 if load else received // 3,
        sent_bytes=(received + lost) * int(cell.frame_size), received_bytes=received * int(cell.frame_size),
    )  # fmt: skip
    duration = NS_PER_S // 2
    core = float(rng.uniform(140, 175) if far else rng.uniform(25, 45))
    return TrialRecord(
        run=cell.run, cell=cell.id, sequence=sequence, round=number, preset=preset, started_at=_moment(number),
        intended_load_pps=load, offered_load_pps=4 * (received + lost), forwarded_rate_pps=4 * received,
        directions=(side, side), duration_ns=duration,
        latency_hdr=tuple(chance.delays[int(rng.integers(HISTOGRAMS))] for _ in range(2)) if load else (),
        cpu=(_cpu(Role.SWITCH, 0, duration), _cpu(Role.GENERATOR, 1, duration)), generator_busy_ns=int(0.8 * duration),
        cost=Cost(busy_cycles=int(250 * 2 * received), packets=2 * received, source="PMD statistics"),
        switch_counters={"before": {"rx": sequence, "tx": sequence}, "after": {"rx": received, "tx": received}},
        core_distance_ns=CoreDistance(before=core, after=core * (1 + float(rng.normal(0, 0.02)))),
        engine=Engine(name="nfvgen", version="1"),
    )  # fmt: skip


def _cpu(role: Role, core: int, busy: int) -> CpuTime:
    return CpuTime(role=role, core=core, user_ns=busy, system_ns=0, softirq_ns=0, busy_ns=busy, source="schedstat")


def _histogram(rng: np.random.Generator) -> str:
    histogram = HdrHistogram(1, 60 * NS_PER_S, 3)
    for value in 9_000 * np.exp(rng.normal(0, 0.5, FRAMES)):
        histogram.record_value(int(value), 100)
    return str(histogram.encode().decode("ascii"))
