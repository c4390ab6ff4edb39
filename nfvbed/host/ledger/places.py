"""Where the lab keeps its things on the host."""

import os
import stat
from pathlib import Path

from nfvbed.errors import PrerequisiteError

RUN_DIRECTORY = Path("/run/nfvbed")
"""Run directories, one a workspace, and the host lock; it is there only while something is deployed."""

LIBXDP_DIRECTORY = Path("/run/xdp")
"""Where libxdp locks while it attaches a program; it makes it, and never removes it."""

LOCK_NAME = "lock"
LEDGER_NAME = "ledger.jsonl"
POOL_LOCK = Path("/run/nfvbed-hugepages.lock")
"""Is there while a pool of hugepages is changed."""
DEPLOYMENT_NAME = "deployment.json"
"""In the run directory of a persistent workspace whose deployment is complete."""

TRIAL_PREFIX = "trial-"
"""Says that a process is in a trial: `trial-<pid>-<start time>-<number>`."""

UNBORN_PREFIX = ".new-"
"""A run directory that has no ledger yet: `.new-<pid>-<start time>`."""


def make_run_directory(directory: Path) -> None:
    """Make the run directory, where it is not there.

    Raises:
        PrerequisiteError: another user has made it, or may write in it.
        OSError: it cannot be made.
    """
    directory.mkdir(mode=0o755, exist_ok=True)
    if not is_own(directory):
        raise PrerequisiteError(
            "what is deployed and measured is not written down where another user may write",
            where=str(directory),
            observed=f"it is of user {directory.lstat().st_uid}, mode {stat.S_IMODE(directory.lstat().st_mode):04o}",
            fix=f"remove it; only root should be able to write in {directory.parent}",
        )


def is_own(directory: Path) -> bool:
    """Return whether a directory is root's or one's own, with no other user allowed to write in it."""
    found = directory.lstat()
    is_theirs = found.st_uid not in (0, os.geteuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and not is_theirs
