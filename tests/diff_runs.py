"""A store whose runs measured one variant before and after, for tests of diffs."""

import dataclasses
from pathlib import Path

from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import CellRole
from nfvbed.records.annotations import Mark
from nfvbed.store import Store
from tests.sample_records import CEILINGS, HOST, OVS, Scenario, build
from tests.stored_runs import put

BEFORE, LATER, ELSEWHERE = (f"01970000-0000-7000-8000-00000000000{place}" for place in (1, 2, 3))
ROUNDS = 8


def run_of(run: str, ratio: float, seed: int = 1, host: str = HOST) -> RunData:
    rate = OVS.capacity[64][0]
    other = dataclasses.replace(OVS, name="ovs-new", config="2", capacity={64: (rate * 0.8, rate * 0.8)})
    ovs = dataclasses.replace(OVS, capacity={64: (rate * ratio, rate * ratio)})
    reference = dataclasses.replace(CEILINGS[2], capacity={64: (16.5e6, 16.5e6)})
    data = build(
        Scenario(
            run=run, systems=(ovs, other, reference), rounds=ROUNDS, far_rounds=(), changing=(), seed=seed, host=host
        )
    )
    return dataclasses.replace(data, host=data.host | {"is": host})


def with_options(store: Store, data: RunData) -> RunData:
    """Return a run whose variants have stored configurations."""
    cells = []
    for cell in data.cells:
        options = {"dataplane": "ovs-dpdk", "pmd_cores": 2 if cell.variant == "ovs-new" else 1}
        blob = store.put_blob("variant", {"variant": {"name": cell.variant, "options": options}})
        cells.append(
            cell.model_copy(update={"config_hash": blob if cell.role is CellRole.SUBJECT else cell.config_hash})
        )
    return dataclasses.replace(data, cells=tuple(cells))


def before_and_after(path: Path) -> None:
    """Write a run with a label, one in which both variants and the reference were slower, and one of another host."""
    with Store.open(path) as store:
        put(store, run_of(BEFORE, 1.0))
        put(store, with_options(store, run_of(LATER, 0.85, seed=2)))
        put(store, run_of(ELSEWHERE, 1.0, host="b" * 64, seed=3))
        store.say(BEFORE, {Mark.LABEL: "baseline"}, "test")
