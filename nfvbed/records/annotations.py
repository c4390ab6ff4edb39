"""What people noted on runs: a label, a note, or that a run is hidden."""

import re
from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from nfvbed.characters import unfit
from nfvbed.errors import UsageError
from nfvbed.records.trial import Record, RunId

LATEST: Final = "latest"
"""In place of a run's name: the newest one."""
LONGEST_LABEL: Final = 40
LONGEST_NOTE: Final = 2000
_LABEL: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._+-]{{0,{LONGEST_LABEL - 1}}}")
_ID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Mark(StrEnum):
    """A kind of annotation."""

    LABEL = "label"
    """A name, by which the run is found as by its id."""
    NOTE = "note"
    HIDDEN = "hidden"
    """Nothing rests on it, and no list has it, unless it is asked for."""


class Annotation(Record):
    """A person's word on a run; of each mark the newest holds, and those before it stay."""

    run: RunId
    mark: Mark
    text: str
    """Text of the label or the note; empty: it is taken back. A hidden run has `yes`."""
    by: str
    at: str
    """UTC, ISO 8601."""


class Marks(Record):
    """The annotations in force for a run."""

    label: str = ""
    note: str = ""
    hidden: bool = False

    def text(self, mark: Mark) -> str:
        """Return the text of the annotation that says the same."""
        return {Mark.LABEL: self.label, Mark.NOTE: self.note, Mark.HIDDEN: hidden_text(self.hidden)}[mark]


def hidden_text(hidden: bool) -> str:
    """Return what an annotation has of a run that is, or is not, to be shown."""
    return "yes" if hidden else ""


def marks_of(entries: Iterable[Annotation]) -> dict[str, Marks]:
    """Return the marks that hold of each annotated run.

    Args:
        entries: from the oldest to the newest.
    """
    found: dict[str, dict[Mark, str]] = defaultdict(dict)
    for entry in entries:
        found[entry.run][entry.mark] = entry.text
    return {
        run: Marks(label=said.get(Mark.LABEL, ""), note=said.get(Mark.NOTE, ""), hidden=bool(said.get(Mark.HIDDEN, "")))
        for run, said in found.items()
    }


def checked(mark: Mark, text: str) -> str:
    """Return the text of an annotation as it is kept: without space around it, in one line.

    Raises:
        UsageError: a label that could not be told from an id or from `latest`, or a text that is too long, or has what
            controls a terminal.
    """
    kept = " ".join(text.split())
    if character := unfit(kept):
        raise UsageError(f"this is no {mark.value} for a run", observed=character, fix="leave this character out")
    if mark is Mark.NOTE and len(kept) > LONGEST_NOTE:
        raise UsageError(
            "this note is too long", observed=f"{len(kept)} characters", fix=f"give at most {LONGEST_NOTE}"
        )
    if mark is Mark.LABEL and kept and (not _LABEL.fullmatch(kept) or kept == LATEST or _ID.fullmatch(kept)):
        raise UsageError(
            "this is no label for a run",
            observed=repr(kept[: 2 * LONGEST_LABEL]),
            fix=f"give at most {LONGEST_LABEL} letters, digits and . _ + -, not `{LATEST}`, and not a run's id",
        )
    return kept
