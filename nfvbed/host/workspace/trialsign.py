"""Whether a trial is going on this host, and whose: others here, as a dashboard, must be still meanwhile.

A process that measures has a file in the run directory while a trial lasts; only the owner may read or make files
there. The file's name has the process and its start time, so one that a kill left behind says nothing. The next nfvbed
that takes the host lock removes it.
"""

import contextlib
import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.ledger.places import RUN_DIRECTORY, TRIAL_PREFIX, is_own, make_run_directory
from nfvbed.host.ledger.processes import is_alive

_numbers = itertools.count()


@dataclass(frozen=True)
class OngoingTrial:
    """A trial that a process of this host is in now."""

    pid: int
    command: str = ""
    """Empty: another user's, which cannot be read."""
    run: str = ""
    """The run's id; empty: not said."""
    since: str = ""
    """UTC, ISO 8601: when the trial began."""

    def __str__(self) -> str:
        run = f"run {self.run}, " if self.run else ""
        since = f", since {self.since}" if self.since else ""
        return f"{run}pid {self.pid}{f' ({self.command})' if self.command else ''}{since}"


@contextlib.contextmanager
def trial_going(run: str = "") -> Iterator[None]:
    """Show that a trial is going while the block runs; where that is impossible, as without root, just run it."""
    path = _sign(run)
    try:
        yield
    finally:
        if path is not None:
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # something else is in it
                path.parent.rmdir()


def going_trial() -> OngoingTrial | None:
    """Return the trial that a living process of this host is in; the first of several."""
    return next((trial for path in _signs() if (trial := _read(path)) is not None), None)


def trial_is_going() -> bool:
    """Return whether any process of this host is in a trial."""
    return going_trial() is not None


def remove_signs_of_the_dead() -> None:
    """Remove the files of processes that were killed in a trial."""
    for path in _signs():
        if _read(path) is None:
            path.unlink(missing_ok=True)


def _sign(run: str) -> Path | None:
    owner = this_process()
    path = RUN_DIRECTORY / f"{TRIAL_PREFIX}{owner.pid}-{owner.start_time}-{next(_numbers)}"
    content = json.dumps({"command": owner.command, "run": run, "since": owner.since})
    for _ in range(100):
        try:
            make_run_directory(path.parent)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue  # the last user has just removed the directory
        except (OSError, PrerequisiteError):
            return None
        with os.fdopen(handle, "w") as file:
            file.write(content)
        return path
    return None


def _signs() -> list[Path]:
    try:
        if not is_own(RUN_DIRECTORY):
            return []
        return [Path(entry.path) for entry in os.scandir(RUN_DIRECTORY) if entry.name.startswith(TRIAL_PREFIX)]
    except OSError:
        return []


def _read(path: Path) -> OngoingTrial | None:
    pid, started, *_ = (int(part) for part in path.name.removeprefix(TRIAL_PREFIX).split("-"))
    if not is_alive(pid, started):
        return None
    try:
        said = json.loads(path.read_text())
    except (OSError, ValueError):
        return OngoingTrial(pid)  # another user's, or half written
    return OngoingTrial(pid, said["command"], said["run"], said["since"])
