"""Trials out of their rows, read by columns: a comparison reads thousands, and a record made by itself takes long.

A column of one kind of value is validated in one go by the field of the record that it is of, and records are put
together from columns that are valid as they are. Where one value is not, every row is read by itself: its record then
corrects what former versions wrote, or the row is named.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import GenericAlias
from typing import Any, Final

from sqlalchemy import JSON, Text, cast

from nfvbed.records import TrialRecord
from nfvbed.records.models import adapter_of, assembled
from nfvbed.store.damage import parsed, read_together, rebuilt
from nfvbed.store.schema import TRIAL

TRIAL_COLUMNS: Final = tuple(cast(c, Text).label(c.name) if isinstance(c.type, JSON) else c for c in TRIAL.c)
"""What `trials_of` is given: nested values as the text that they are stored as, parsed without the database's layers.
"""
_NAMES: Final = tuple(column.name for column in TRIAL.c)
_NESTED: Final = frozenset(column.name for column in TRIAL.c if isinstance(column.type, JSON))
_REPEATED: Final = frozenset(
    ("run", "format", "cell", "preset", "renewed", "engine", "simulated", "warnings", "status", "reason")
)
"""Columns whose values are those of many rows of a run: each different one is validated once."""
_LATENCY: Final = "latency_hdr"
_NOT_VALID: Final = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)

Histograms = tuple[str | None, ...]
"""Latency histograms of one trial, in the order of directions."""


def trials_of(rows: Sequence[Sequence[Any]], latency_hdr: Mapping[int, Histograms] | None = None) -> list[TrialRecord]:
    """Return the trials that rows hold.

    Args:
        rows: the values of `TRIAL_COLUMNS` of each.
        latency_hdr: histograms by sequence; trials that are not named have none.

    Raises:
        RowError: a row has something that no trial has.
    """
    if not rows:
        return []
    known = latency_hdr or {}
    stored = dict(zip(_NAMES, zip(*rows, strict=True), strict=True))
    try:
        columns = [_valid(name, values) for name, values in stored.items()]
        histograms = _all_of(_LATENCY, [known.get(sequence, ()) for sequence in stored["sequence"]])
    except _NOT_VALID:
        return [_trial_of(row, known) for row in rows]
    names = (*_NAMES, _LATENCY)
    return [
        assembled(TrialRecord, dict(zip(names, values, strict=True)))
        for values in zip(*columns, histograms, strict=True)
    ]


def _valid(name: str, values: Sequence[Any]) -> Sequence[Any]:
    """Return the values of a column as the record has them.

    Raises:
        ValueError, TypeError: one of them is not what the record has, or may have to be corrected.
    """
    if name == "started_at" and any(datetime.fromisoformat(value).tzinfo is None for value in values):
        raise ValueError("a time without a zone")
    if name not in _REPEATED:
        return _all_of(name, values)
    different = tuple(dict.fromkeys(values))
    found = dict(zip(different, _all_of(name, different), strict=True))
    return [found[value] for value in values]


def _all_of(name: str, values: Sequence[Any]) -> Sequence[Any]:
    annotation = TrialRecord.model_fields[name].rebuild_annotation()
    adapter = adapter_of(GenericAlias(list, (annotation,)))
    if name in _NESTED:
        return read_together(values, adapter)
    found: Sequence[Any] = adapter.validate_python(values)
    return found


def _trial_of(row: Sequence[Any], latency_hdr: Mapping[int, Histograms]) -> TrialRecord:
    values = dict(zip(_NAMES, row, strict=True))
    for name in _NESTED:
        if values[name] is not None:
            values[name] = parsed(values[name])
    values[_LATENCY] = latency_hdr.get(values["sequence"], ())
    return rebuilt(TrialRecord, values, "trial", ("run", "sequence"))
