"""Records to rows of the tables and back."""

import re
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, Table
from sqlalchemy.dialects import postgresql, sqlite

from nfvbed.records import CellRecord, FactRecord, RunRecord, Status, TrialRecord
from nfvbed.records.results import ResultRecord
from nfvbed.store.damage import rebuilt

_BYTES: Final = re.compile("[0-9]{1,6}")
"""A frame size as it is stored, where it is one size."""


def trial_row(trial: TrialRecord) -> dict[str, Any]:
    """Return a trial's row; its histograms are rows of their own."""
    return trial.model_dump(mode="json", exclude={"latency_hdr"})


def histogram_rows(trial: TrialRecord) -> list[dict[str, Any]]:
    """Return one row a direction; a direction without a histogram keeps its place."""
    return [
        {"run": trial.run, "sequence": trial.sequence, "direction": direction, "encoded": encoded}
        for direction, encoded in enumerate(trial.latency_hdr)
    ]


def cell_row(cell: CellRecord, position: int) -> dict[str, Any]:
    """Return a cell's row. An `ok` is not written yet: it is known when the run ends."""
    row = cell.model_dump(mode="json")
    row["frame_size"] = str(cell.frame_size)
    row["status"] = None if cell.status is Status.OK else cell.status.value
    return {**row, "position": position}


def cell_of(row: RowMapping) -> CellRecord:
    """Rebuild a cell from its row."""
    size = row["frame_size"]
    values = {key: value for key, value in row.items() if key != "position"}
    values["frame_size"] = int(size) if isinstance(size, str) and _BYTES.fullmatch(size) else size
    values["status"] = row["status"] or Status.OK
    return rebuilt(CellRecord, values, "cell", ("run", "id"))


def run_of(row: RowMapping) -> RunRecord:
    """Rebuild a run from its row."""
    return rebuilt(RunRecord, dict(row), "run", ("id",))


def fact_of(row: RowMapping) -> FactRecord:
    """Rebuild a fact from its row."""
    values = {key: value for key, value in row.items() if key != "id"}
    return rebuilt(FactRecord, values, "fact", ("run", "step"))


def result_row(result: ResultRecord, position: int) -> dict[str, Any]:
    """Return a result's row.

    Args:
        position: its place among the results of its run, from 0: two can end in one millisecond.
    """
    return {**result.model_dump(mode="json"), "position": position}


def result_of(row: RowMapping) -> ResultRecord:
    """Rebuild a test's result from its row."""
    values = {key: value for key, value in row.items() if key != "position"}
    return rebuilt(ResultRecord, values, "result", ("run", "cell", "round", "test"))


def put_once(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Write a row, unless another writer has written the same one a moment ago."""
    engine = sqlite if connection.dialect.name == "sqlite" else postgresql
    connection.execute(engine.insert(table).values(**row).on_conflict_do_nothing())
