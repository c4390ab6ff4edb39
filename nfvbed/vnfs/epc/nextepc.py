"""The places of nextepc's programs: Debian's packages, unpacked by `setup/nextepc`, never installed."""

import os
from pathlib import Path

from nfvbed.errors import PrerequisiteError

PLACE = ".nfvbed/nextepc"
VERSION = "0.3.10"
_LIBRARIES = "usr/lib/nextepc"
_OTHER_LIBRARIES = "usr/lib/x86_64-linux-gnu"


def program(function: str, root: Path) -> Path:
    """Find the program of a function.

    Args:
        function: `mme`, `hss`, ...

    Raises:
        PrerequisiteError: it is not unpacked.
    """
    path = root / PLACE / "usr/bin" / f"nextepc-{function}d"
    if not os.access(path, os.X_OK):
        raise PrerequisiteError(
            "nextepc is not unpacked", where=str(path), observed="no such program", fix="make build"
        )
    return path


def libraries(root: Path) -> Path:
    """Return the folder of nextepc's own libraries."""
    return root / PLACE / _LIBRARIES


def environment(root: Path) -> dict[str, str]:
    """Return the variables with which nextepc's programs find their libraries."""
    # libmongoc counts in a file of /dev/shm, which one that is killed would leave.
    without_counters = {"MONGOC_DISABLE_SHM": "1"}
    return {"LD_LIBRARY_PATH": f"{libraries(root)}:{root / PLACE / _OTHER_LIBRARIES}"} | without_counters
