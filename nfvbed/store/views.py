"""The views by which other programs read a store: documented names, and columns that stay."""

from pathlib import Path
from typing import Final

VIEWS_VERSION: Final = 1
"""Raised where a column or a view is added; one whose meaning changes gets another name."""
_STATEMENTS: Final = Path(__file__).with_name("views.sql")


def views_text() -> str:
    """Return the statements that make them, temporary, in a connection to a store of the newest format."""
    return _STATEMENTS.read_text(encoding="utf-8")
