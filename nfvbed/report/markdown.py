"""Tables in Markdown, for the comments and summaries of code hosts."""

from collections.abc import Sequence
from typing import Final

_MEANS_SOMETHING: Final = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|"})


def escaped(text: str) -> str:
    """Return a text of one line as Markdown shows it letter by letter."""
    return " ".join(text.split()).translate(_MEANS_SOMETHING)


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; texts are escaped."""
    lines = [heading, ["---"] * len(heading)]
    shown = [f"| {' | '.join(map(escaped, line))} |" for line in (lines[0], *rows)]
    return "\n".join([shown[0], f"| {' | '.join(lines[1])} |", *shown[1:]]) + "\n"
