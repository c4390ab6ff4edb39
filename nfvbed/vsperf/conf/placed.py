"""Values with the places where they were written, and notes about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from nfvbed.errors import ConfigurationError


@dataclass(frozen=True)
class Place:
    """A line of a file, from 1."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    def __deepcopy__(self, memo: dict[int, Any]) -> "Place":
        return self


class PlacedDict(dict[Any, Any]):
    """A dictionary of a file, with the place of each key; copies keep the places."""

    def __init__(self, *values: Any, **more: Any) -> None:
        super().__init__(*values, **more)
        self.places: dict[Any, Place] = {}
        for value in values:
            self.places.update(places_of(value))

    def put(self, key: Any, value: Any, place: Place) -> None:
        """Set one key that is written at a place."""
        self[key] = value
        self.places[key] = place

    def update(self, *values: Any, **more: Any) -> None:
        """Set the keys of another dictionary, with its places."""
        super().update(*values, **more)
        for value in values:
            self.places.update(places_of(value))

    def copy(self) -> "PlacedDict":
        """Return a copy of the dictionary and the places, not of the values."""
        return PlacedDict(self)


def places_of(value: Any) -> Mapping[Any, Place]:
    """Return the places of a dictionary's keys; none where it has none."""
    return value.places if isinstance(value, PlacedDict) else {}


class NoteKind(StrEnum):
    """The weight of a note."""

    UNUSED = "not used"
    """Belongs to VSPERF alone: nfvbed has no use for it."""
    DIFFERS = "differs"
    """Done by nfvbed in another way, which can change the result."""


@dataclass(frozen=True)
class Note:
    """A note on something that was accepted, with what became of it."""

    kind: NoteKind
    name: str
    """The setting or key."""
    text: str
    place: Place | None = None
    """None: it is VSPERF's default, not written in a file that was read."""
    is_default: bool = False
    """Whether a file gives it, with VSPERF's own default."""

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        return f"{self.kind.value}: {self.name}: {self.text}{where}"


def lines_of_notes(notes: Sequence[Note]) -> Iterable[str]:
    """Yield a line for each note that differs, one for all that are not used for the same reason, and one for defaults.

    Settings that hold VSPERF's own default are counted: nothing was asked for with them.
    """
    for note in notes:
        if note.kind is NoteKind.DIFFERS:
            yield str(note)
    unused = [note for note in notes if note.kind is NoteKind.UNUSED]
    for reason in dict.fromkeys(note.text for note in unused if not note.is_default):
        alike = [note for note in unused if note.text == reason and not note.is_default]
        named = ", ".join(f"{note.name} ({note.place})" if note.place else note.name for note in alike)
        yield f"{NoteKind.UNUSED.value}: {named}: {reason}"
    defaults = sum(note.is_default for note in unused)
    if defaults:
        counted = "1 setting with VSPERF's default" if defaults == 1 else f"{defaults} settings with VSPERF's defaults"
        yield f"{NoteKind.UNUSED.value}: {counted}"


def refused(what: str, place: Place | None, observed: str, fix: str) -> ConfigurationError:
    """Return the error for something in a file of VSPERF's form."""
    return ConfigurationError(what, where=str(place) if place else "VSPERF's default", observed=observed, fix=fix)


SHOWN = 60
"""Characters of a wrong value that a message repeats."""


def shown(value: Any) -> str:
    """Return a value as a message repeats it."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
