"""What templates are given: tables, notes and notices of plain text, which the templates escape."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """What is below a table once, and as a letter in the cells that it is about."""

    id: str
    letter: str
    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table, or a heading."""

    text: str
    kind: str = ""
    """Its class in the style sheet: `n` for numbers, `point`, `whole`, `limits`, `verdict`."""
    tone: str | None = None
    """Class of the text alone, as `warning` or a verdict; None: the cell's."""
    below: str | None = None
    """In small letters below the text."""
    words: bool = False
    """Whether what is below may break between its words: a figure and an interval stay whole."""
    note: Note | None = None
    more: tuple[str, ...] = ()
    """Further lines of the text."""
    span: int = 1
    """How many columns it takes."""


@dataclass(frozen=True)
class Table:
    """A table that scrolls on its own; the first cell of each row names it."""

    caption: str
    headings: tuple[Cell, ...]
    """Empty for names and values, which need none."""
    rows: tuple[tuple[Cell, ...], ...]
    label: str = ""
    """For screen readers, where the caption is too long for it."""
    mark: str = ""
    """The mark of a simulation, before the caption; empty: nothing is simulated."""


@dataclass(frozen=True)
class Notice:
    """A warning, or what became of a row, in a box of its own."""

    name: str
    text: str
    count: str = ""
    advice: str = ""


def plain_table(title: str, headings: Iterable[str], rows: Iterable[Sequence[str]], mark: str = "") -> Table:
    """Return a table of texts alone."""
    cells = tuple(tuple(Cell(text) for text in row) for row in rows)
    return Table(title, tuple(Cell(text) for text in headings), cells, mark=mark)


def fact_table(title: str, facts: dict[str, str]) -> Table:
    """Return names and values."""
    return plain_table(title, (), facts.items())
