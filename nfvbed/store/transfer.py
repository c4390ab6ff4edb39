"""A run as one JSON document, out of one store and into another."""

from typing import Any, Literal, Self

from pydantic import ValidationError, field_validator, model_validator

from nfvbed.errors import ConfigurationError, StoreError
from nfvbed.records import CellRecord, FactRecord, Record, RunRecord, TrialRecord
from nfvbed.results import ResultRecord
from nfvbed.store.canonical import content_hash
from nfvbed.store.former import judged_again, named
from nfvbed.store.store import Store


class KeptBlob(Record):
    """A value that the run's rows refer to by its hash."""

    kind: str
    value: Any


class RunDocument(Record):
    """All of one run."""

    format: Literal["nfvbed-run/1"] = "nfvbed-run/1"
    run: RunRecord
    cells: tuple[CellRecord, ...]
    trials: tuple[TrialRecord, ...]
    facts: tuple[FactRecord, ...]
    results: tuple[ResultRecord, ...] = ()
    """Of tests beside the MRR; exports of nfvbed before format 3 of the store have none."""
    blobs: dict[str, KeptBlob]

    @model_validator(mode="after")
    def _judge_former_counts(self) -> Self:
        doubtful = [trial for trial in self.trials if trial.has_surplus]
        if not doubtful:
            return self
        return self.model_copy(update={"results": tuple(judged_again(result, doubtful) for result in self.results)})

    @field_validator("cells")
    @classmethod
    def _name_what_they_lack(cls, cells: tuple[CellRecord, ...]) -> tuple[CellRecord, ...]:
        return tuple(named(cell) for cell in cells)


def export_run(store: Store, run: RunRecord) -> RunDocument:
    """Take a run out of a store, with all that it refers to."""
    cells = store.cells(run.id)
    kinds = {run.plan_hash: "plan", run.host_hash: "host", run.doctor_hash: "doctor"}
    kinds |= {cell.config_hash: "variant" for cell in cells} | {cell.rig_hash: "rig" for cell in cells}
    return RunDocument(
        run=run,
        cells=tuple(cells),
        trials=tuple(store.trials(run.id)),
        facts=tuple(store.facts(run.id)),
        results=tuple(store.results(run.id)),
        blobs={digest: KeptBlob(kind=kind, value=store.get_blob(digest)) for digest, kind in kinds.items() if digest},
    )


def read_run(text: str, where: str) -> RunDocument:
    """Read an exported run.

    Raises:
        ConfigurationError: it is no export, or one of its values was changed.
    """
    try:
        document = RunDocument.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(
            "this is no run that nfvbed exported",
            where=f"{where}{' at ' + place if place else ''}",
            observed=first["msg"],
            fix="give a file that `nfvbed export` wrote",
        ) from error
    for digest, blob in document.blobs.items():
        if content_hash(blob.value) != digest:
            raise ConfigurationError(
                "a value of this exported run is not what its hash says",
                where=f"{where} at blobs.{digest}",
                observed=f"its hash is {content_hash(blob.value)}",
                fix="export it again; an exported run is not to be edited",
            )
    return document


def import_run(store: Store, document: RunDocument) -> None:
    """Put an exported run into a store, all of it or nothing.

    Raises:
        StoreError: the store has that run already.
    """
    if any(run.id == document.run.id for run in store.runs()):
        raise StoreError(
            f"the store has run {document.run.id} already",
            where=str(store.location),
            observed="an exported run is imported once",
            fix=f"nothing to do; nfvbed report {document.run.id}",
        )
    for blob in document.blobs.values():
        store.put_blob(blob.kind, blob.value)
    store.add_run_whole(document.run, document.cells, document.trials, document.facts, document.results)
