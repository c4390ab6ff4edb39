"""Which functional tests run beside the others, on what is to them a machine without hugepages (`tests/apart`)."""

import os
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.spec.variant import Variant
from tests.functional.deployed_plane import Case

PROJECT = open_project()
NAMES = frozenset(PROJECT.variant_names)


def takes_hugepages(item: pytest.Item) -> bool:
    """Return whether a parameter of a test, itself or in a tuple, is a variant whose switch or generator takes some."""
    given = getattr(item, "callspec", None)
    return given is not None and any(map(_takes, given.params.values()))


def _takes(value: object) -> bool:
    if isinstance(value, Case):
        return _takes(value.variant)
    if isinstance(value, str):
        return value in NAMES and _takes(PROJECT.load_variant(value))
    if isinstance(value, Variant):
        return value.hugepages_mib > 0 or not value.port_kind.is_kernel
    return isinstance(value, tuple | list) and any(map(_takes, value))


def pools_written() -> dict[Path, int]:
    """Return when the files of the pools were last written, beside the others; nothing on the machine itself."""
    folder = os.environ.get("APART")
    return {} if folder is None else {path: path.stat().st_mtime_ns for path in Path(folder).rglob("nr_hugepages")}
