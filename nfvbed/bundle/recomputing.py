"""A run's verdicts, tables and figures made again from its raw trials; and what the trials themselves must satisfy."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pydantic import ValidationError

from nfvbed.compare.comparison import Comparison, compare
from nfvbed.compare.verdict import Rules
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.records import TrialRecord
from nfvbed.records.results import LoadsPayload, ResultRecord
from nfvbed.records.words import Preset, ResultKind
from nfvbed.report.load import LoadedRuns, load, make_options, of_runs
from nfvbed.report.newest import AS_STORED
from nfvbed.store import Store
from nfvbed.store.transfer import RunDocument, import_run
from nfvbed.units import NS_PER_S

_TOLERANCE: Final = 1e-9
"""Relative; libraries of other machines may differ in a float's last digits."""


def compared(document: RunDocument) -> tuple[LoadedRuns, Comparison]:
    """Return the comparison of a run by the rules of its own experiment, as a new store gives it.

    Raises:
        DamagedError, StoreError, NotComparableError: it cannot be compared.
    """
    with TemporaryDirectory(prefix="nfvbed-bundle-") as folder:
        store = Store.open(Path(folder) / "nfvbed.sqlite")
        try:
            import_run(store, document)
            loaded = load(store, (document.run.id,), VariantModel)
        finally:
            store.close()
    with of_runs([document.run]):
        return loaded, compare(loaded.data, make_options(loaded, {**AS_STORED, "margin": Rules().margin}))


def verdicts_in(comparison: Comparison) -> int:
    """Return how many verdicts a comparison has."""
    return len(comparison.differences)


def contradictions(document: RunDocument) -> Iterator[tuple[str, str]]:
    """Yield what rows of a run contradict others: the place, and what was seen there.

    Frames of a trial are conserved, or it is no trial (`DirectionCounts`). Its rates follow from frames and time where
    the generator counted them. A load's point has the rate and the duration of the trial that it names.
    """
    trials = {trial.sequence: trial for trial in document.trials}
    for trial in document.trials:
        if _counts_frames(trial) and (fault := _wrong_rate(trial)):
            yield f"trial {trial.sequence}", fault
    for result in document.results:
        if result.kind.has_loads and result.payload:
            for fault in _wrong_points(result, trials):
                yield f"result of {result.cell}, round {result.round}, {result.test}", fault


def _counts_frames(trial: TrialRecord) -> bool:
    """Return whether a trial's rates are of the frames that it counts.

    Tools between sockets and in guests count messages, or nothing, and have the rates of interfaces.
    """
    preset = trial.preset
    return isinstance(preset, Preset) or preset is ResultKind.SEARCH or preset.has_loads


def _wrong_rate(trial: TrialRecord) -> str:
    """Return how a trial's rates do not follow from its counts; empty: they do. Those of a surplus are at most."""
    received = sum(way.received for way in trial.directions)
    in_time = sum(way.in_time for way in trial.directions)
    sent = sum(way.sent for way in trial.directions)
    forwarded = {_rate(received, trial.duration_ns), _rate(in_time, trial.duration_ns)}
    if trial.has_surplus:
        return "" if trial.forwarded_rate_pps <= max(forwarded) + 1 else _differs(trial.forwarded_rate_pps, forwarded)
    if not any(abs(trial.forwarded_rate_pps - rate) <= 1 for rate in forwarded):
        return _differs(trial.forwarded_rate_pps, forwarded)
    if abs(trial.offered_load_pps - _rate(sent, trial.duration_ns)) > 1:
        return f"offered {trial.offered_load_pps} frames/s; sent frames over time give {_rate(sent, trial.duration_ns)}"
    return ""


def _differs(said: int, forwarded: set[int]) -> str:
    return f"forwarded {said} frames/s; received frames over time give {' or '.join(map(str, sorted(forwarded)))}"


def _rate(frames: int, duration_ns: int) -> int:
    return frames * NS_PER_S // duration_ns if duration_ns else 0


def _wrong_points(result: ResultRecord, trials: Mapping[int, TrialRecord]) -> Iterator[str]:
    try:
        points = LoadsPayload.model_validate(result.payload).points
    except ValidationError as error:
        yield f"its payload is none of its kind: {error.errors(include_url=False)[0]['msg']}"
        return
    for point in points:
        trial = trials.get(point.sequence)
        if trial is None:
            yield f"a point of trial {point.sequence}, which the run does not have"
        elif (point.forwarded_rate_pps, point.duration_ns) != (trial.forwarded_rate_pps, trial.duration_ns):
            yield f"the point of trial {point.sequence} has another rate or duration than that trial"


def first_difference(said: Any, found: Any, place: str = "") -> str:
    """Return the first place where two JSON values differ, and how; empty: nowhere, but for a float's last digits."""
    if isinstance(said, dict) and isinstance(found, dict):
        for key in dict.fromkeys((*said, *found)):
            if key not in said or key not in found:
                return f"{place}.{key}: {'it is missing' if key not in said else 'it should not be there'}".lstrip(".")
            if difference := first_difference(said[key], found[key], f"{place}.{key}"):
                return difference
        return ""
    if isinstance(said, list) and isinstance(found, list):
        if len(said) != len(found):
            return f"{place}: it has {len(said)} entries; recomputed {len(found)}".lstrip(".")
        pairs = enumerate(zip(said, found, strict=True))
        return next((text for i, (a, b) in pairs if (text := first_difference(a, b, f"{place}[{i}]"))), "")
    if _is_number(said) and _is_number(found) and math.isclose(said, found, rel_tol=_TOLERANCE, abs_tol=0.0):
        return ""
    if type(said) is type(found) and said == found:
        return ""
    return f"{place}: {_short(said)}; recomputed {_short(found)}".lstrip(".")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:120]}..."
