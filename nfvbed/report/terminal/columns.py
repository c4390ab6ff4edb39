"""Lines of columns for a terminal: what does not fit is dropped as a whole column, and no name is ever broken."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final

from rich.text import Text

from nfvbed.report.labels import NO_BREAK, unbroken

GAP: Final = 2
"""Spaces between columns."""
INDENT: Final = 2
"""Indent of the rows below the line that names their traffic point."""
ALWAYS: Final = 0
"""The place of a column that is never dropped."""


@dataclass(frozen=True)
class Column:
    """A heading, and when the column goes."""

    heading: str
    right: bool = False
    dropped: int = ALWAYS
    """Columns go in the order of this number, 1 first, until the rest fits; those of one number go together."""


@dataclass(frozen=True)
class Cell:
    """A text of one line, and its style."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Row:
    """A line with a cell for each column."""

    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Banner:
    """A line over all columns; it is cut between words where it is too long."""

    text: str
    style: str = ""
    indent: int = 0


Line = Row | Banner


def lay_out(columns: Sequence[Column], lines: Sequence[Line], width: int) -> list[Text]:
    """Return a heading and lines as text in columns.

    Args:
        width: the terminal's, in columns.
    """
    rows = [line for line in lines if isinstance(line, Row)]
    widths = [
        max([len(column.heading), *(len(row.cells[place].text) for row in rows)])
        for place, column in enumerate(columns)
    ]
    kept = _kept(columns, rows, widths, width)
    placed = [(place, columns[place].right, widths[place]) for place in kept]
    heading = Row(tuple(Cell(column.heading, "dim") for column in columns))
    return [
        _row(line, placed) if isinstance(line, Row) else Text(cut(" " * line.indent + line.text, width), line.style)
        for line in (heading, *lines)
    ]


def _kept(columns: Sequence[Column], rows: Sequence[Row], widths: Sequence[int], width: int) -> list[int]:
    """Return the columns that fit; one without any text is left out."""
    kept = [
        place
        for place, column in enumerate(columns)
        if column.dropped == ALWAYS or any(row.cells[place].text for row in rows)
    ]
    for number in sorted({columns[place].dropped for place in kept} - {ALWAYS}):
        if INDENT + sum(widths[other] + GAP for other in kept) - GAP <= width:
            break
        kept = [place for place in kept if columns[place].dropped != number]
    return kept


def _row(row: Row, placed: Iterable[tuple[int, bool, int]]) -> Text:
    text = Text(" " * INDENT)
    for number, (place, right, width) in enumerate(placed):
        cell = row.cells[place]
        padded = cell.text.rjust(width) if right else cell.text.ljust(width)
        text.append(" " * GAP if number else "")
        text.append(padded, cell.style)
    text.rstrip()
    return text


def cut(text: str, width: int) -> str:
    """Cut a text to one line, between words; the first word stays whole."""
    if len(text) <= width:
        return text
    head, space, _ = text[: width - 1].rpartition(" ")
    return f"{head if head.strip() else text.split()[0]} …" if space else text


def paragraph(text: str, width: int, indent: str = "") -> list[str]:
    """Return a text as lines, broken between words; a word that is wider than the line stays whole.

    Args:
        width: the terminal's, in columns.
        indent: indent of all lines but the first.
    """
    lines = wrap(unbroken(text), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace(NO_BREAK, " ") for line in lines]
