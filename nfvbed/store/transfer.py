"""A run as one JSON document, out of one store and into another."""

import json
from collections.abc import Iterator
from typing import Any, Final, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from nfvbed.characters import Place, unfit_in
from nfvbed.errors import ConfigurationError, StoreError, UsageError
from nfvbed.records import CellRecord, FactRecord, Record, RunRecord, TrialRecord
from nfvbed.records.acknowledgements import Acknowledgement
from nfvbed.records.annotations import Annotation, Mark, Marks, checked, marks_of
from nfvbed.records.results import ResultRecord
from nfvbed.records.selection import EVERY
from nfvbed.store.canonical import content_hash
from nfvbed.store.former import judged_again, named
from nfvbed.store.store import Store, StoredAnnotations

EXPORTED: Final = "give a file that `nfvbed export` wrote"
_OTHERS: Final = (
    ("NFVbench", {"benchmarks", "nfvbench_version"}),
    ("FD.io CSIT", {"test_id", "start_time", "version"}),
)
"""Other tools, and keys by which their results are known (nfvbench/nfvbench.py of NFVbench 5; UTI model of CSIT)."""
_LARGEST: Final = 2**63
_OF_PROGRAMS: Final = ("detail", "switch_counters")
"""Values of rows that switches and VNFs had a part in."""
_OF_HOSTS: Final = ("host", "doctor")
"""Kinds of blobs in which programs of a host are quoted."""


class StoredBlob(Record):
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
    """Results of tests beside the MRR; exports of nfvbed before format 3 of the store have none."""
    blobs: dict[str, StoredBlob]
    annotations: tuple[Annotation, ...] = Field(default=(), exclude_if=lambda value: not value)
    """What people said of it; exports of nfvbed before format 8 of the store have none, as what follows."""
    acknowledgements: tuple[Acknowledgement, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Words on the steps that begin with the run."""

    @model_validator(mode="after")
    def _of_one_run(self) -> "RunDocument":
        """Refuse rows of another run: an import would write into that one."""
        named = [row.run for row in self.cells] + [row.run for row in self.trials] + [row.run for row in self.facts]
        named += [row.run for row in self.results] + [row.run for row in self.annotations]
        named += [row.run for row in self.acknowledgements]
        others = set(named) - {self.run.id}
        if others:
            raise ValueError(f"it is of run {self.run.id}, and has rows of run {', '.join(sorted(others))}")
        return self

    @model_validator(mode="after")
    def _judge_former_counts(self) -> Self:
        doubtful = [trial for trial in self.trials if trial.has_surplus]
        if not doubtful:
            return self
        return self.model_copy(update={"results": tuple(judged_again(result, doubtful) for result in self.results)})

    @field_validator("annotations")
    @classmethod
    def _are_as_they_are_kept(cls, annotations: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
        """Refuse labels and notes that nfvbed would not have kept."""
        for entry in annotations:
            try:
                same = entry.mark is Mark.HIDDEN or checked(entry.mark, entry.text) == entry.text
            except UsageError as error:
                raise ValueError(f"{error.what}: {error.observed}") from error
            if not same:
                raise ValueError(f"this is no {entry.mark.value} for a run: {entry.text!r}")
        return annotations

    @field_validator("cells")
    @classmethod
    def _name_what_they_lack(cls, cells: tuple[CellRecord, ...]) -> tuple[CellRecord, ...]:
        return tuple(named(cell) for cell in cells)


def export_run(store: Store, run: RunRecord) -> RunDocument:
    """Return a run of a store as a document, with all that it refers to."""
    cells = store.cells(run.id)
    kinds = {run.plan_hash: "plan", run.host_hash: "host", run.doctor_hash: "doctor"}
    kinds |= {cell.config_hash: "variant" for cell in cells} | {cell.rig_hash: "rig" for cell in cells}
    return RunDocument(
        run=run,
        cells=tuple(cells),
        trials=tuple(store.trials(run.id)),
        facts=tuple(store.facts(run.id)),
        results=tuple(store.results(run.id)),
        blobs={digest: StoredBlob(kind=kind, value=store.get_blob(digest)) for digest, kind in kinds.items() if digest},
        annotations=tuple(store.annotations(run.id)),
        acknowledgements=tuple(word for word in store.acknowledgements() if word.run == run.id),
    )


def read_run(text: str, where: str) -> RunDocument:
    """Return the run of an export.

    Raises:
        ConfigurationError: the text is no export, or one of its values was changed.
    """
    try:
        document = RunDocument.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        other = _made_by(text)
        raise ConfigurationError(
            "this is no run that nfvbed exported",
            where=f"{where}{' at ' + place if place and not other else ''}",
            observed=f"it is a result of {other}, which is not imported" if other else first["msg"],
            fix="nfvbed foreign FILE shows it beside others; it never becomes a measurement" if other else EXPORTED,
        ) from error
    except (TypeError, AttributeError, LookupError, ArithmeticError) as error:
        # Counts of earlier versions are corrected before they are checked, and may be no counts at all.
        raise ConfigurationError(
            "this is no run that nfvbed exported",
            where=where,
            observed=f"{type(error).__name__}: {error}",
            fix=EXPORTED,
        ) from error
    _refuse_controls(document, where)
    for digest, blob in document.blobs.items():
        if (found := _hash_of(blob)) != digest:
            raise ConfigurationError(
                "a value of this exported run is not what its hash says",
                where=f"{where} at blobs.{digest}",
                observed=f"its hash is {found}" if found else "it has a number that JSON has not",
                fix="export it again; an exported run is not to be edited",
            )
    return document


def _hash_of(blob: StoredBlob) -> str:
    """Return the hash of a value; empty: it has none, for one as infinity is among its numbers."""
    try:
        return content_hash(blob.value)
    except ValueError:
        return ""


def _refuse_controls(document: RunDocument, where: str) -> None:
    """Refuse names and remarks of people that would control a terminal; what programs said is shown with escapes.

    Numbers that no column holds are refused too.

    Raises:
        ConfigurationError: there is one; the message says where.
    """
    rows = document.model_dump(mode="json", exclude={"blobs": True, "trials": {"__all__": {"latency_hdr"}}})
    if place := next(_too_large(rows), None):
        raise ConfigurationError(
            "this exported run has a number that no store holds",
            where=f"{where} at {'.'.join(map(str, place))}",
            observed="an integer of more than 64 bits",
            fix=EXPORTED,
        )
    named = {digest: blob.value for digest, blob in document.blobs.items() if blob.kind not in _OF_HOSTS}
    kinds = {digest: blob.kind for digest, blob in document.blobs.items()}
    for place, character in (*unfit_in({**rows, "blobs": named}), *unfit_in(kinds, ("blobs",))):
        if not _of_programs(place):
            raise ConfigurationError(
                "this exported run has a character that no name may have",
                where=f"{where} at {'.'.join(map(str, place))}",
                observed=character,
                fix="leave it out where the run was measured, and measure again",
            )


def _too_large(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield each place of an integer that a column of a store does not hold."""
    if isinstance(value, int):
        if not -_LARGEST <= value < _LARGEST:
            yield place
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _too_large(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _too_large(item, (*place, index))


def _of_programs(place: Place) -> bool:
    return place[0] in ("trials", "facts") and len(place) > 2 and place[2] in _OF_PROGRAMS


def _made_by(text: str) -> str:
    """Return whose result a text is that is no export of nfvbed's; empty: it is not known."""
    first = text.lstrip().partition("\n")[0]
    if "throughput_rx_fps" in first:
        return "VSPERF (result_*.csv)"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    keys = set(found) if isinstance(found, dict) else set()
    return next((name for name, own in _OTHERS if own <= keys), "")


def import_run(store: Store, document: RunDocument) -> tuple[str, ...]:
    """Put an exported run into a store, all of it or nothing; return the other runs there that have its label.

    Raises:
        StoreError: the store has that run already.
    """
    if any(run.id == document.run.id for run in store.runs(EVERY)):
        raise StoreError(
            f"the store has run {document.run.id} already",
            where=str(store.location),
            observed="an exported run is imported once",
            fix=f"nothing to do; nfvbed report {document.run.id}",
        )
    for blob in document.blobs.values():
        store.put_blob(blob.kind, blob.value)
    said = StoredAnnotations(annotations=document.annotations, acknowledgements=document.acknowledgements)
    store.add_run_whole(document.run, document.cells, document.trials, document.facts, document.results, said)
    label = marks_of(document.annotations).get(document.run.id, Marks()).label
    return tuple(run for run in store.labelled(label) if run != document.run.id) if label else ()
