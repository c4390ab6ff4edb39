"""Finds and removes what a dead nfvbed left on this host, by the ids in its ledger."""

import logging
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from nfvbed.errors import DeployError, InternalError
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.ledger.places import DEPLOYMENT_NAME, LEDGER_NAME, RUN_DIRECTORY, UNBORN_PREFIX
from nfvbed.host.ledger.processes import is_alive
from nfvbed.host.workspace.trialsign import remove_signs_of_the_dead
from nfvbed.host.workspace.workspace import Workspace, remove_run_directory

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReapedLeftovers:
    """What was found of one dead nfvbed and removed."""

    workspace: str
    owner: str
    """Pid, since when, and command."""
    problems: tuple[str, ...]
    """What could not be removed and why."""

    def __str__(self) -> str:
        text = f"removed what a dead nfvbed had left (workspace {self.workspace}, {self.owner})"
        return text + "".join(f"\n  still there: {p}" for p in self.problems)


def workspaces() -> list[Workspace]:
    """Return all workspaces on this host, newest first: what a newer one took was added to what others had.

    A ledger that cannot be read is reported and left alone.
    """
    found: list[Workspace] = []
    for path in RUN_DIRECTORY.glob(f"[!.]*/{LEDGER_NAME}"):
        try:
            found.append(Workspace.attach(path.parent))
        except DeployError:
            continue  # its nfvbed has just removed it
        except (ValidationError, InternalError) as failure:
            _log.warning("ledger %s cannot be read and is left alone: %s", path, failure)
    return sorted(found, key=lambda workspace: workspace.ledger.owner.made_ns, reverse=True)


def is_deployed(workspace: Workspace) -> bool:
    """Return whether a workspace is a complete deployment that is meant to outlive its nfvbed."""
    ledger = workspace.ledger
    return ledger.owner.persistent and ledger.this_boot and (workspace.directory / DEPLOYMENT_NAME).is_file()


def abandoned() -> list[Workspace]:
    """Return workspaces whose nfvbed is dead and which are not meant to outlive it."""
    return [w for w in workspaces() if not w.ledger.owner_alive and not is_deployed(w)]


def remove_unreadable() -> list[str]:
    """Remove run directories whose ledger cannot be read; it cannot be known what such a ledger named.

    Returns:
        What could not be removed and why.
    """
    known = {w.directory for w in workspaces()}
    unknown = [p for p in RUN_DIRECTORY.glob("[!.]*") if p.is_dir() and p not in known]
    return [problem for path in unknown for problem in remove_run_directory(path)]


def reap(lock: HostLock) -> list[ReapedLeftovers]:
    """Undo all workspaces of dead nfvbeds but for existing deployments, and log that.

    Args:
        lock: held by the caller, so that two processes never undo the same.

    Raises:
        InternalError: the lock is not held.
    """
    if not lock.held:
        raise InternalError("what was left behind can only be removed under the host lock")
    results = [_undo(w) for w in abandoned()]
    for result in results:
        _log.warning("%s", result)
    _remove_unborn()
    return results


def close_own() -> list[ReapedLeftovers]:
    """Undo this process's own workspaces that are not meant to stay, at its end."""
    this = os.getpid()
    own = [w for w in workspaces() if w.ledger.owner.pid == this and w.ledger.owner_alive and not is_deployed(w)]
    _remove_unborn(this)
    return [_undo(w) for w in own]


def _undo(workspace: Workspace) -> ReapedLeftovers:
    owner = workspace.ledger.owner
    who = f"pid {owner.pid} since {owner.since}: {owner.command}"
    return ReapedLeftovers(workspace.id, who, tuple(workspace.close()))


def _remove_unborn(pid: int | None = None) -> None:
    """Remove empty run directories whose nfvbed, perhaps this one, ended before it made a ledger."""
    for path in RUN_DIRECTORY.glob(f"{UNBORN_PREFIX}*"):
        owner_pid, _, started = path.name.removeprefix(UNBORN_PREFIX).partition("-")
        if int(owner_pid) == pid or not is_alive(int(owner_pid), int(started)):
            shutil.rmtree(path, ignore_errors=True)
    remove_signs_of_the_dead()
    _remove_if_empty(RUN_DIRECTORY)


def _remove_if_empty(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
