"""Runs that no answer may rest on: simulated ones, and measured ones that are hidden, beside runs of known content."""

import dataclasses
from pathlib import Path

from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import RunRecord, Status
from nfvbed.records.annotations import Mark
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from nfvbed.store import Store
from tests.dashboard_runs import DOCTOR, two_variants, with_series
from tests.sample_records import BRIDGE, CEILINGS, OVS, PVP, SIMULATED, Scenario, System, build
from tests.stored_runs import put

FAILED_RUN = "01970000-0000-7000-8000-000000000001"
"""Newer than the one with an answer."""
UNDECIDED_RUN = "01970000-0000-7000-8000-000000000002"
"""Newer still."""
MANY = 25
"""More than any reader looks back."""


def measured(path: Path) -> None:
    """Write measured runs: of known content, a series, one that was published elsewhere; the newest have no answer."""
    two_variants(path)
    with_series(path, OVS)
    alike = (dataclasses.replace(BRIDGE, noise=0.3), dataclasses.replace(OVS, capacity=BRIDGE.capacity, noise=0.3))
    with Store.open(path) as store:
        failed = build(Scenario(run=FAILED_RUN, systems=(BRIDGE, OVS), rounds=1))
        put(store, began(failed, "2026-01-03T03:04:05Z"), ended=Status.FAILED)
        undecided = began(build(Scenario(run=UNDECIDED_RUN, systems=alike, rounds=4)), "2026-01-03T05:04:05Z")
        put(store, with_tcp(undecided, 3.0))


def add_simulated(path: Path) -> None:
    """Add simulated runs, all newer: of the same host and names, of a host of their own, one that has no cell yet."""
    with Store.open(path) as store:
        for number, data in enumerate(_others(simulated=True)):
            put(store, data, DOCTOR if number == 0 else None, None if number == 1 else Status.OK)
        waiting = _record("019a0000-0000-7000-8000-000000000001", "2026-01-06T09:00:00Z")
        store.start_run(waiting.model_copy(update={"host_hash": store.put_blob("host", {"simulated": True})}))


def add_hidden(path: Path) -> None:
    """Add measured runs of the same kind, and hide them."""
    with Store.open(path) as store:
        for number, data in enumerate(_others(simulated=False)):
            put(store, data, DOCTOR if number == 0 else None, None if number == 1 else Status.OK)
            store.say(data.run.id, {Mark.HIDDEN: "yes"}, "ann")


def _others(*, simulated: bool) -> list[RunData]:
    """Return runs in which all is the other way round, and a hundred times as fast."""
    swapped = tuple(_of_kind(system, simulated) for system in (*_exchanged(), *CEILINGS, *PVP))
    first = build(Scenario(run="01980000-0000-7000-8000-000000000001", systems=swapped, common_load=True, seed=5))
    going = build(Scenario(run="01980000-0000-7000-8000-000000000002", systems=swapped[:2], rounds=2, seed=6))
    alone = build(Scenario(run="01980000-0000-7000-8000-000000000003", systems=(SIMULATED,), rounds=2))
    if not simulated:
        alone = build(Scenario(run=alone.run.id, systems=(dataclasses.replace(OVS, name="vpp"),), rounds=2))
    alone = dataclasses.replace(alone, host={"simulated": True, "cpu": "none"} if simulated else alone.host)
    days = [(with_tcp(first, 90.0), 5), (going, 6), (alone, 6)]
    few = [_of_kind(dataclasses.replace(OVS, capacity={64: (90e6, 90e6)}), simulated)]
    for place in range(MANY):
        run = f"01990000-0000-7000-8000-{place:012x}"
        days.append((build(Scenario(run=run, systems=tuple(few), rounds=1, seed=place)), 6))
    return [
        began(data, f"2026-01-{day:02d}T0{place % 9}:{place // 9:02d}:05Z") for place, (data, day) in enumerate(days)
    ]


def _exchanged() -> tuple[System, System]:
    fast = dict.fromkeys(OVS.capacity, (90000000.0, 90000000.0))
    return dataclasses.replace(BRIDGE, capacity=fast), dataclasses.replace(OVS, capacity=BRIDGE.capacity)


def _of_kind(system: System, simulated: bool) -> System:
    return dataclasses.replace(system, simulated=simulated)


def began(data: RunData, at: str) -> RunData:
    """Return a run that began at another time."""
    return dataclasses.replace(data, run=data.run.model_copy(update={"started_at": at}))


def with_tcp(data: RunData, gbits: float) -> RunData:
    """Return the run with what a published table is of: iperf3 with one stream."""
    figure = Quantity(name="throughput", value=gbits * 1e9, unit="bit/s", low=gbits * 0.9e9, high=gbits * 1.1e9)
    row = MeasuredRow(
        label="1 stream", parameters={"tool": "iperf3", "streams": 1}, quantities=(figure,), sequences=(1,)
    )
    result = ResultRecord(
        run=data.run.id,
        cell="ovs-dpdk/p2p/1518",
        round=1,
        test="tcp",
        kind=ResultKind.TCP_THROUGHPUT,
        payload=TablePayload(rows=(row,)).model_dump(mode="json"),
        started_at="2026-01-02T03:10:00Z",
        ended_at="2026-01-02T03:10:09Z",
    )
    return dataclasses.replace(data, results=(*data.results, result))


def _record(run: str, at: str) -> RunRecord:
    return build(Scenario(run=run, systems=(SIMULATED,), rounds=1)).run.model_copy(
        update={"started_at": at, "status": None, "ended_at": None}
    )
