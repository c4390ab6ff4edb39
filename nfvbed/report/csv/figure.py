"""The numbers of a figure as CSV, for other programs."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from nfvbed.characters import guarded


def figure_to_csv(spec: Mapping[str, Any]) -> str:
    """Return what a figure draws, as rows, unrounded; those of different marks have different fields."""
    rows = [row for values in spec.get("datasets", {}).values() for row in values] + list(_data_of(spec))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: guarded(value) for name, value in row.items()})
    return text.getvalue()


def _data_of(part: object) -> Iterable[dict[str, Any]]:
    """Find the data of a specification and of its parts."""
    if isinstance(part, Mapping):
        data = part.get("data")
        if isinstance(data, Mapping):
            yield from data.get("values", ())
        for value in part.values():
            yield from _data_of(value) if value is not data else ()
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _data_of(value)
