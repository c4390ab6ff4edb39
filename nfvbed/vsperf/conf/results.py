"""Reads result files of VSPERF. Their numbers are VSPERF's, and never become trials of nfvbed."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from nfvbed.characters import unfit_in
from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import dotted
from nfvbed.spec.model import SpecModel
from nfvbed.spec.textfile import read_text
from nfvbed.vsperf.conf.columns import CONDITIONS, COUNTS, OWN_PREFIX, TRAFFIC

NUMBERS: Final = frozenset((*TRAFFIC, *COUNTS))
EMPTY: Final = frozenset(("", "n/a", "na", "none", "unknown", "nan"))
"""What generators write where they have no value."""
MOST_BYTES: Final = 4 * 2**20
MOST_ROWS: Final = 10_000
"""VSPERF writes one for each frame size of a test."""
REQUIRED: Final = ("type", "packet_size")
TIME_FORM: Final = "%Y-%m-%d %H:%M:%S"


class VsperfResult(SpecModel):
    """One line of a result file: one frame size of one test."""

    measured_by: Literal["vsperf"] = "vsperf"
    """Not nfvbed: no trial, no placement class, no repetition, no loss verification is behind it."""
    file: str
    line: int
    """Number of the line in the file, from 1."""
    type: str
    """TRAFFIC['traffic_type']."""
    packet_size_bytes: int
    """Frame size with FCS."""
    test: str | None = None
    """VSPERF's test ID; None where VSPERF ran its traffic generator alone, as for the next four."""
    deployment: str | None = None
    vswitch: str | None = None
    started_at: datetime | None = None
    """In the local time of VSPERF's host, which the file does not name."""
    ended_at: datetime | None = None
    streams: int = 1
    guest_loopback: tuple[str, ...] = ()
    numbers: Mapping[str, float]
    """By VSPERF's column; a column that is left out, empty or `N/A` is not there, never 0."""
    texts: Mapping[str, str] = {}
    """Columns that are no numbers and have no field here."""


def read_results(path: Path) -> tuple[VsperfResult, ...]:
    """Return the lines of one `result_*.csv` of VSPERF.

    Raises:
        ConfigurationError: unreadable, no such file of VSPERF's, exported by nfvbed itself, or a value that is none;
            with file, line and column.
    """
    text = read_text(path, most=MOST_BYTES)
    reader = csv.DictReader(io.StringIO(text), strict=True, restkey="")
    try:
        _check_header(path, list(reader.fieldnames or ()))
        return tuple(_result(path, reader.line_num, row) for row in _rows(path, reader))
    except csv.Error as error:
        raise _wrong(f"{path}:{reader.reader.line_num}", str(error), "give a CSV file as VSPERF wrote it") from error


def _rows(path: Path, reader: "csv.DictReader[str]") -> Iterator[Mapping[str, Any]]:
    for number, row in enumerate(reader, 1):
        if number > MOST_ROWS:
            raise _wrong(f"{path}:{reader.line_num}", f"more than {MOST_ROWS} lines", "give a result_*.csv of VSPERF")
        yield row


def _check_header(path: Path, header: list[str]) -> None:
    own = [name for name in header if name.startswith(OWN_PREFIX)]
    if own:
        fix = "import what `nfvbed export --format json` wrote; it holds the trials"
        raise _wrong(f"{path}:1", f"nfvbed exported it: columns {', '.join(own[:3])}", fix)
    missing = [name for name in REQUIRED if name not in header]
    if missing or not NUMBERS & set(header):
        observed = f"no column {', '.join(missing)}" if missing else "no column with a result"
        raise _wrong(f"{path}:1", observed, "give a result_*.csv of VSPERF")
    if len(set(header)) != len(header):
        raise _wrong(f"{path}:1", "a column is there twice", "give a result_*.csv of VSPERF")


def _result(path: Path, line: int, row: Mapping[str, Any]) -> VsperfResult:
    if "" in row or None in row.values():
        raise _wrong(f"{path}:{line}", "more or fewer values than columns", "give the file as VSPERF wrote it")
    where = f"{path}:{line}"
    if found := next(unfit_in(row), None):
        raise _wrong(f"{where} {dotted(found[0])}", found[1], "leave out characters that control a terminal")
    given = {name: value.strip() for name, value in row.items() if value.strip().lower() not in EMPTY}
    size = _number(where, "packet_size", given.get("packet_size", ""))
    if size != int(size) or size <= 0:
        raise _wrong(f"{where} packet_size", repr(given["packet_size"]), "give a frame size in bytes")
    if "type" not in given:
        raise _wrong(f"{where} type", "empty", "give the traffic type")
    return VsperfResult(
        file=str(path),
        line=line,
        type=given["type"],
        packet_size_bytes=int(size),
        test=given.get("id"),
        deployment=given.get("deployment"),
        vswitch=given.get("vswitch"),
        started_at=_time(where, "start_time", given.get("start_time")),
        ended_at=_time(where, "stop_time", given.get("stop_time")),
        streams=max(int(_number(where, "stream_count", given.get("stream_count", "0"))), 1),
        guest_loopback=tuple(given.get("guest_loopback_app", "").split()),
        numbers={name: _number(where, name, value) for name, value in given.items() if name in NUMBERS},
        texts={name: value for name, value in given.items() if name not in NUMBERS and name not in CONDITIONS}
        | {name: given[name] for name in ("traffic_type", "test_execution_time", "match_type") if name in given},
    )


def _number(where: str, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _wrong(f"{where} {column}", repr(text), "give a number, or leave it empty")
    return value


def _time(where: str, column: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.strptime(text, TIME_FORM)
    except ValueError as error:
        raise _wrong(f"{where} {column}", repr(text), "give it as 2026-01-31 12:00:00") from error


def _wrong(where: str, observed: str, fix: str) -> ConfigurationError:
    return ConfigurationError("this is no result file of VSPERF", where=where, observed=observed, fix=fix)
