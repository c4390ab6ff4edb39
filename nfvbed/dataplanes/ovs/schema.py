"""The schema of a database, as its server tells it: that of its own release, whichever nfvbed itself was made with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nfvbed.dataplanes.ovs import databasecall


def schema_of(socket: Path, database: str, check: Callable[[], None], within_s: float) -> Any:
    """Return a database's schema (RFC 7047, 4.1.2), as JSON.

    Args:
        check: called while waiting; raises when waiting has become pointless.

    Raises:
        DeployError: no server answers in time, or it has no such database.
    """
    return databasecall.call(socket, "get_schema", [database], check, within_s)
