"""The lock by which one nfvbed at a time deploys and measures on a host."""

import contextlib
import fcntl
import os
from pathlib import Path

from pydantic import ValidationError

from nfvbed.errors import BusyError, PrerequisiteError
from nfvbed.host.ledger.entries import Owner
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.ledger.places import LOCK_NAME, RUN_DIRECTORY, make_run_directory
from nfvbed.signals import signals_held


class HostLock:
    """An flock on a file that names its holder. The kernel releases it when the holder ends, however it ends."""

    def __init__(self, directory: Path = RUN_DIRECTORY) -> None:
        self._path = directory / LOCK_NAME
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds it."""
        return self._handle is not None

    def acquire(self) -> None:
        """Take the lock; nothing to do when it is held already.

        Raises:
            BusyError: another nfvbed holds it; with its pid, command and since when.
            PrerequisiteError: no privilege to.
        """
        # A Ctrl-C between the file's making and our knowing that it is ours would leave it behind.
        with signals_held():
            while self._handle is None:
                self._handle = self._try()
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, this_process().model_dump_json().encode(), 0)

    def release(self) -> None:
        """Release the lock and remove the file, and the directory when nothing else is in it; idempotent."""
        if self._handle is None:
            return
        with signals_held():
            handle, self._handle = self._handle, None
            self._path.unlink(missing_ok=True)
            os.close(handle)
            with contextlib.suppress(OSError):  # something is deployed in it
                self._path.parent.rmdir()

    def _try(self) -> int | None:
        """Return the locked file; None when its last holder removed it between our open and our lock."""
        handle = self._open()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise self._busy() from None
        if self._is_current(handle):
            return handle
        os.close(handle)
        return None

    def _open(self) -> int:
        for _ in range(100):
            try:
                make_run_directory(self._path.parent)
                return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except FileNotFoundError:
                continue  # the last user has just removed the directory
            except PermissionError as failure:
                raise PrerequisiteError(
                    "deploying needs root", where=str(self._path), observed=str(failure), fix="run it with sudo"
                ) from failure
        raise BusyError("the run directory appears and disappears", where=str(self._path.parent), fix="try again")

    def _is_current(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False

    def _busy(self) -> BusyError:
        try:
            holder = Owner.model_validate_json(self._path.read_text())
            observed = f"pid {holder.pid} since {holder.since}: {holder.command}"
        except (OSError, ValidationError):
            observed = "its holder has not said yet who it is"
        return BusyError(
            "another nfvbed is at work on this host",
            where=str(self._path),
            observed=observed,
            fix="wait for it to end, or end it if it is yours (Ctrl-C); two at a time would measure each other",
        )
