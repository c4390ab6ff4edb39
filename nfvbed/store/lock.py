"""One writer at a time: a lock beside the results file that names its holder."""

import contextlib
import fcntl
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import BusyError, StoreError
from nfvbed.store.private import open_own

PATIENCE_S = 0.3
"""A reader that asks who writes holds the lock for a moment; a writer waits that long for it."""


@dataclass(frozen=True)
class LockHolder:
    """Who writes."""

    pid: int
    command: str


class WriterLock:
    """An exclusive lock that ends with its process, however that ends.

    Args:
        path: the lock file; it stays behind, since removing it would let two writers hold "the" lock.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            BusyError: another process or another store of this process writes.
            StoreError: the lock file cannot be written.
        """
        try:
            descriptor = open_own(self.path)
        except OSError as error:
            raise StoreError(
                "the results file cannot be locked for writing",
                where=str(self.path),
                observed=error.strerror or str(error),
                fix="make the folder writable, or name another file with --store",
            ) from error
        if not _locked(descriptor):
            holder = _read(descriptor)
            os.close(descriptor)
            raise BusyError(
                "another nfvbed writes to this results file",
                where=str(self.path),
                observed=f"process {holder.pid}: {holder.command}" if holder else "its process could not be named",
                fix="wait until it ends, or name another file with --store",
            )
        self._descriptor = descriptor
        self._name_holder(descriptor)

    def release(self) -> None:
        """Give the lock back; idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _name_holder(self, descriptor: int) -> None:
        text = json.dumps({"pid": os.getpid(), "command": " ".join(sys.argv)})
        # The name only helps others' messages: on a full disk the write of the results itself reports the fault.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, text.encode(), 0)


def holder_of(path: Path) -> LockHolder | None:
    """Return who holds a lock now; None when no process does."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor) or LockHolder(0, "unknown")
    else:
        return None
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.02)
        else:
            return True


def _read(descriptor: int) -> LockHolder | None:
    try:
        value = json.loads(os.pread(descriptor, 65536, 0))
        return LockHolder(int(value["pid"]), str(value["command"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
