"""Descriptors as text."""

from collections.abc import Mapping
from typing import Any

import yaml

_WIDTH = 120


def dump(document: Mapping[str, Any]) -> str:
    """Return a document as YAML, with keys in order; equal parts are repeated in full."""
    # PyYAML writes an alias where it meets an object again; a copy has none twice.
    text: str = yaml.safe_dump(copied(dict(document)), sort_keys=False, width=_WIDTH, allow_unicode=True)
    return text


def copied(data: Any) -> Any:
    """Return a copy of plain data that shares no mapping and no list, nor any between its own parts."""
    if isinstance(data, Mapping):
        return {key: copied(value) for key, value in data.items()}
    return [copied(value) for value in data] if isinstance(data, (list, tuple)) else data
