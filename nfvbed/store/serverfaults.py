"""What a database server says goes wrong, as an error that says what to do."""

import re
from typing import Final

from sqlalchemy.exc import DBAPIError

from nfvbed.errors import BusyError, NfvbedError, StoreError

KEPT: Final = "rows that were written earlier are kept"
AWAY: Final = (
    "connection failed",
    "connection refused",
    "could not connect",
    "connection is bad",
    "connection timeout",
    "is the server running",
    "server closed the connection",
    "terminating connection",
    "connection is lost",
    "the connection is closed",
    "starting up",
    "shutting down",
    "in recovery mode",
)
"""Parts of messages of a server that is not there, or was there a moment ago."""

START: Final = (
    "start the database server or see how it is reached (host, port, socket), then repeat; "
    "a run goes on with `nfvbed run --resume`"
)
PASSWORD: Final = (
    "correct the user or the password; best in ~/.pgpass, which only you can read, and not in the URL: "
    "others see what is on a command line"
)
FIXES: Final = (
    # By the server's words, as expressions: a table that is lacking is no user and no database.
    (("authentication failed", "no password supplied", "no pg_hba.conf entry"), PASSWORD),
    (
        (r'(?:role|user|database) "[^"]*" does not exist',),
        "make the user and its database (createuser, createdb -O), or correct the URL",
    ),
    (("permission denied",), "let this user own the database, or grant it CREATE on its schema public"),
    (("no space", "disk full"), "free space on the database server; then `nfvbed run --resume`"),
    (("read-only",), "this store was opened to be read, or the server is a standby: name one that can be written"),
)


def server_fault(error: DBAPIError, what: str, where: str) -> NfvbedError:
    """Return the error for a fault of a database server or of its connection.

    Args:
        what: what failed.
        where: the store, without its password.
    """
    observed = words_of(error)
    lower = observed.lower()
    if "lock timeout" in lower or "deadlock" in lower:
        return BusyError(
            what,
            where=where,
            observed=observed,
            fix="wait for the program that has it open, or end it if it is yours, then repeat",
        )
    fix = next((fix for parts, fix in FIXES if any(re.search(part, lower) for part in parts)), "")
    if not fix:
        away = error.connection_invalidated or any(part in lower for part in AWAY)
        fix = START if away else "see what the message says, then repeat"
    return StoreError(what, where=where, observed=observed, fix=f"{fix} ({KEPT})")


def words_of(error: DBAPIError) -> str:
    """Return what the database said, in one line."""
    return " ".join(str(error.orig).split())
