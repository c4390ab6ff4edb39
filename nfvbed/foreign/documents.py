"""JSON documents of others: bounded, and refused with the place of what is not as it should be."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from nfvbed.characters import unfit_in
from nfvbed.errors import ConfigurationError
from nfvbed.spec.textfile import decoded, read_bytes

MOST_BYTES: Final = 64 * 2**20
"""A run of NFVbench with all its statistics has some hundred kilobytes; a CSIT test a few."""
_FIX: Final = "give a result file as CSIT, NFVbench or VSPERF wrote it"


def read_document(path: Path) -> tuple[Any, str]:
    """Return a JSON document, and the SHA-256 of its file.

    Raises:
        ConfigurationError: it is not there, too long, or no JSON, or a text in it controls a terminal.
    """
    content = read_bytes(path, _FIX, MOST_BYTES)
    try:
        document = json.loads(decoded(content, str(path), _FIX))
    except (ValueError, RecursionError) as error:
        raise refused(str(path), f"it is no JSON: {error}") from error
    if found := next(unfit_in(document), None):
        raise refused(f"{path} at {'.'.join(map(str, found[0]))}", f"it has the character {found[1]}")
    return document, hashlib.sha256(content).hexdigest()


@contextmanager
def as_written_by(tool: str, path: Path) -> Iterator[None]:
    """Turn what a document lacks into an error that says which tool's it was taken for.

    Raises:
        ConfigurationError: a key is missing, or a value is of another type.
    """
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise refused(str(path), f"as a result of {tool} it lacks something: {type(error).__name__} {error}") from error


def refused(where: str, observed: str) -> ConfigurationError:
    """Return the error of a file that is no result of a tool whose results are read."""
    what = "this is no result of another tool that is read"
    return ConfigurationError(what, where=where, observed=observed[:400], fix=_FIX)
