"""The files of a job's folder: whole or not there."""

import os
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from nfvbed.errors import StoreError
from nfvbed.records import Record

Written = TypeVar("Written", bound=Record)


def write(path: Path, record: Record) -> None:
    """Write a record so that readers see all of it or none.

    Raises:
        OSError: it cannot be written.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with new.open("wb") as file:
        file.write(record.model_dump_json().encode())
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)


def read(path: Path, kind: type[Written]) -> Written | None:
    """Return the record in a file; None where there is no file.

    Raises:
        StoreError: the record is damaged.
    """
    try:
        return kind.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise StoreError(
            "what is written down of a job cannot be read", where=str(path), observed=str(error.errors()[0]["msg"]),
            fix="remove its folder, and look with nfvbed destroy --dry-run whether it left something",
        ) from error  # fmt: skip


def tail(path: Path, most: int) -> str:
    """Return the last bytes of a log as text, from the beginning of a line; empty where there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            data = file.read(most)
    except FileNotFoundError:
        return ""
    text = data.decode("utf-8", "replace")
    return text if size <= most else text.partition("\n")[2]
