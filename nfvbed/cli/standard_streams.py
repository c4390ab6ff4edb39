"""What `-` stands for where a verb is given a file or a folder."""

from pathlib import Path
from typing import Final

from nfvbed.errors import UsageError

STANDARD: Final = "-"
"""In place of a file: standard output; standard input where it is read."""


def require_folder(path: Path) -> None:
    """Refuse `-` where a folder is wanted.

    Raises:
        UsageError: `-` is given.
    """
    if str(path) == STANDARD:
        raise UsageError(
            "a folder cannot be written to standard output",
            where="--output",
            observed=repr(STANDARD),
            fix="name a folder; one of this name is ./-",
        )
