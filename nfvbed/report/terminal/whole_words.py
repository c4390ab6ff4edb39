"""Tables of a terminal whose words stay whole: columns as wide as their longest word, or rows as paragraphs."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nfvbed.report.terminal.columns import paragraph

GAP = 2
"""Columns of the terminal that a column of a table takes beside its text."""
EDGES = 2
"""What the table takes beside its columns. With less room a column's words would be cut, its last ones first."""


def with_whole_words(parts: Sequence[RenderableType], width: int) -> list[RenderableType]:
    """Return parts of an output with their tables fitted to a terminal of this width."""
    return [_fitted(part, width) if isinstance(part, Table) else part for part in parts]


def _fitted(table: Table, width: int) -> RenderableType:
    """Return the table with columns that no word is wider than; where it cannot have them, a paragraph for each row."""
    texts = [[_plain(column.header), *(_plain(cell) for cell in column.cells)] for column in table.columns]
    whole = [max(_longest(text.splitlines()) for text in column) for column in texts]
    words = [max(_longest(text.split()) for text in column) for column in texts]
    room = width - GAP * len(texts) - EDGES
    # Lines of a cell that is not to be wrapped stay whole as long as there is room for them.
    least = [line if column.no_wrap else word for column, line, word in zip(table.columns, whole, words, strict=True)]
    if sum(least) > room:
        least = words
    if sum(least) > room:
        return _paragraphs(table, texts, width)
    for column, number in zip(table.columns, least, strict=True):
        column.min_width = number
        column.no_wrap = column.no_wrap and least is not words
    return table


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def _longest(texts: Sequence[str]) -> int:
    return max((len(text) for text in texts), default=0)


def _paragraphs(table: Table, texts: Sequence[Sequence[str]], width: int) -> Group:
    """Return each row as its first cell and then what each heading says of it; empty cells are left out."""
    lines = [Text(line, "italic") for line in paragraph(str(table.title or ""), width)]
    headings = [" ".join(column[0].split()) for column in texts]
    for row in zip(*(column[1:] for column in texts), strict=True):
        first, *others = (" ".join(cell.split()) for cell in row)
        reported = [f"{heading} {cell}".strip() for heading, cell in zip(headings[1:], others, strict=True) if cell]
        lines += [Text(line) for line in paragraph(f"{first}: {'; '.join(reported)}", width, "  ")]
    return Group(*lines, Text(""))
