"""A store with made-up runs of known content, for tests of the dashboard."""

import dataclasses
from pathlib import Path

from nfvbed.records import FactRecord, QualityWarning, Readiness, Status, Support
from nfvbed.records.findings import Finding, PlainReport, State
from nfvbed.store import Store
from tests.sample_many import many_variants
from tests.sample_records import BRIDGE, CEILINGS, OVS, PVP, RUN, SIMULATED, Scenario, System, build
from tests.sample_results import with_relative, with_tests
from tests.stored_runs import put

MANY = "01950000-0000-7000-8000-000000000001"
"""Sixteen measured variants, and holes."""
ELSEWHERE = "01930000-0000-7000-8000-00000000e15e"
"""On another host."""
EVIL = "<script>alert('why')</script>"
DOCTOR = PlainReport(
    site="lab",
    topics=(
        Finding(topic="hugepages", state=State.PRESENT, summary="512 of 2 MiB", probed="read"),
        Finding(topic="NIC", state=State.ABSENT, summary=EVIL, probed="tried", fix="put one in"),
    ),
    variants=(
        Support(variant="ovs-dpdk", readiness=Readiness.READY),
        Support(variant="sriov", readiness=Readiness.UNSUPPORTED, reason="no NIC has virtual functions", fix="fit one"),
    ),
).model_dump(mode="json")  # fmt: skip


def two_variants(path: Path) -> None:
    """Write a run of two variants with tests and the doctor's report, and one on another host."""
    data = build(
        Scenario(
            systems=(BRIDGE, OVS, *CEILINGS, *PVP),
            common_load=True,
            warnings=(("ovs", QualityWarning.CPU_STOLEN),),
            blocked=(("linux-bridge/p2p/1518", Status.FAILED, EVIL),),
        )
    )
    detail = {"variant": "ovs-dpdk", "role": "subject", "topology": "pvp", "vnf": EVIL}
    fact = FactRecord(run=RUN, cell=None, round=1, step="onboard.first-frame", duration_ns=10**9, detail=detail)
    other = build(Scenario(run=ELSEWHERE, systems=(BRIDGE, OVS), rounds=3, seed=2))
    other = dataclasses.replace(
        other,
        run=other.run.model_copy(update={"started_at": "2025-12-02T03:04:05Z"}),
        host={**other.host, "kernel": "6.12.9"},
    )
    with Store.open(path) as store:
        put(store, other)
        put(store, with_relative(with_tests(data)), DOCTOR)
        store.add_fact(fact)


def with_many(path: Path) -> None:
    """Add a run of many variants, the newest."""
    data = many_variants(rounds=2)
    moved = {"run": MANY}
    with Store.open(path) as store:
        run = data.run.model_copy(update={"id": MANY, "started_at": "2026-01-10T03:04:05Z"})
        cells = tuple(cell.model_copy(update=moved) for cell in data.cells)
        trials = tuple(trial.model_copy(update=moved) for trial in data.trials)
        put(store, dataclasses.replace(data, run=run, cells=cells, trials=trials))


STEP_AT = 8
"""The place of the run with which the simulated system's rate falls, and that of a kernel's change."""
KNOWN_STEP = 0.7
SERIES = tuple(f"01960000-0000-7000-8000-{place:012x}" for place in range(12))
"""Runs of the simulated system."""
STEPPED = "simulated/p2p/64, 1 flows both ways, mrr, lab, machine 382e60d7f8de, simulated"
"""Their setting."""


def with_series(path: Path, of: System = SIMULATED) -> None:
    """Add runs of a system, the simulated one: its rate falls at `STEP_AT`, and the newest lies apart once more."""
    with Store.open(path) as store:
        for place, run in enumerate(SERIES):
            share = (KNOWN_STEP if place >= STEP_AT else 1.0) * (0.6 if run == SERIES[-1] else 1.0)
            capacity = {64: (5.0e6 * share, 5.0e6 * share)}
            system = dataclasses.replace(of, capacity=capacity, config="1" if place < 4 else "2")
            data = build(Scenario(run=run, systems=(system,), rounds=3, one_state=True, far_rounds=(), seed=place))
            record = data.run.model_copy(update={"started_at": f"2025-10-{place + 1:02d}T03:04:05.000+00:00"})
            host = {**data.host, "kernel": "6.18.0" if place < STEP_AT else "6.18.1"}
            put(store, dataclasses.replace(data, run=record, host=host))
