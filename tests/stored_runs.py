"""Puts made-up runs into a store."""

from typing import Any

from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import Status
from nfvbed.store import Store


def put(store: Store, data: RunData, doctor: dict[str, Any] | None = None, ended: Status | None = Status.OK) -> None:
    """Store a run with its cells, trials and results, and the doctor's report where there is one.

    Args:
        store: it.
        data: the run.
        doctor: the report.
        ended: how the run has ended; None: it has not.
    """
    host = store.put_blob("host", data.host)
    told = store.put_blob("doctor", doctor) if doctor else ""
    rigs = {digest: store.put_blob("rig", rig) for digest, rig in data.rigs.items()}
    cells = [cell.model_copy(update={"rig_hash": rigs[cell.rig_hash]}) for cell in data.cells]
    begun = {"host_hash": host, "doctor_hash": told, "status": None, "ended_at": None}
    # A transaction for each row, as a run writes them, is several hundred waits for the disk.
    store.add_run_whole(data.run.model_copy(update=begun), cells, data.trials, (), data.results)
    if ended is not None:
        store.finish_run(data.run.id, ended)
