"""Puts made-up runs into a store."""

from nfvbed.compare.rundata import RunData
from nfvbed.records import Status
from nfvbed.store import Store


def put(store: Store, data: RunData) -> None:
    """Store a run with its cells and trials."""
    host = store.put_blob("host", data.host)
    store.start_run(data.run.model_copy(update={"host_hash": host, "status": None, "ended_at": None}))
    rigs = {digest: store.put_blob("rig", rig) for digest, rig in data.rigs.items()}
    for cell in data.cells:
        store.add_cell(cell.model_copy(update={"rig_hash": rigs[cell.rig_hash]}))
    for trial in data.trials:
        store.add_trial(trial)
    store.finish_run(data.run.id, Status.OK)
