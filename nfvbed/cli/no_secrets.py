"""Refuses secrets on the command line, which every user of the machine can read."""

import re
from collections.abc import Iterable
from typing import Final

import click

from nfvbed.errors import UsageError

_PASSWORD: Final = re.compile(r"^[^:/?#]+://[^/?#@]*:(?!\d+(?:[/?]|$))[^@]+@|[?&](?:ssl)?password=", re.IGNORECASE)
"""In a URL: between user and host, or among its parameters. What is a port is none."""
_SECRET: Final = re.compile(r"pass(?:word|wd|phrase)|secret|token|credential|private.?key", re.IGNORECASE)
"""In the name of what is to be kept secret."""
_READABLE: Final = "all users of this machine can read it for as long as the command runs"


def without_password(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return the store that the command line names, if it holds no password.

    Raises:
        UsageError: its URL has one, which every user of the machine could read.
    """
    if value and _PASSWORD.search(value):
        raise UsageError(
            "a password does not belong on a command line",
            where="--store",
            observed=f"the URL has one; {_READABLE}",
            fix="leave it out of the URL, and put it into ~/.pgpass (mode 600), a file that PGPASSFILE names, or a "
            "service file (?service=NAME); or give the whole URL in NFVBED_STORE; and change it, if it is in use",
        )
    return value


def require_no_secret(option: str, names: Iterable[str], fix: str) -> None:
    """Refuse values whose names speak of a secret.

    Args:
        fix: how such values are given otherwise.

    Raises:
        UsageError: a name speaks of a secret.
    """
    found = [name for name in names if _SECRET.search(name)]
    if found:
        raise UsageError(
            "a secret does not belong on a command line",
            where=option,
            observed=f"{', '.join(found)}: {_READABLE}",
            fix=fix,
        )
