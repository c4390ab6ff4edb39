"""Keeps a store's files for their owner alone: a user who opens one may hold a lock that stops a measurement.

SQLite's readers and writers meet in locks on a map beside the file (`-shm`), and writers of nfvbed in one on `.lock`; a
descriptor that may only read is enough for both. Others read a copy (`nfvbed export --format sqlite`).
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nfvbed.errors import StoreError

FILE: Final = 0o600
FOLDER: Final = 0o700
_OF_OTHERS: Final = 0o077
BESIDE: Final = ("", "-wal", "-shm", ".lock")
"""What the names of a store's files end with."""


def make_folder(folder: Path) -> None:
    """Make a folder for results, its owner's alone; one that is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=FOLDER, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _give_to_owner_of(folder.parent, handle)
    finally:
        os.close(handle)


def make_files(path: Path, tell: Callable[[str], None] | None) -> None:
    """Make a store's file, and take the rights of others away from those that are there.

    Args:
        tell: is told where rights were taken away.

    Raises:
        StoreError: a file is another user's, or no file; a link to the first one may be its owner's.
        OSError: it cannot be made.
    """
    if path.is_symlink():
        _require_own(path, path.lstat(), stat.S_ISLNK)
        path = path.resolve()
    if not path.exists():
        os.close(open_own(path))
    if tell is not None and path.parent.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
        tell(f"all users may write in {path.parent}, and replace these results: chmod o-w it, or name another one")
    for ending in BESIDE:
        tighten(path.with_name(path.name + ending), FILE, tell)


def open_own(path: Path) -> int:
    """Open a file to be read and written, make it where it is missing, and return its descriptor.

    A file that root makes in another user's folder is given to that user.

    Raises:
        StoreError: it is another user's, or no file.
        OSError: it cannot be opened.
    """
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, FILE)
    except FileExistsError:
        # Without O_CREAT: in a folder of all users the kernel refuses it of another one's file, with no reason.
        handle = os.open(path, flags)
        try:
            _require_own(path, os.fstat(handle))
        except BaseException:
            os.close(handle)
            raise
    else:
        _give_to_owner_of(path.parent, handle)
    return handle


def tighten(path: Path, mode: int, tell: Callable[[str], None] | None) -> None:
    """Take the rights of others away from a file or a folder that is there, where it may be done.

    Args:
        mode: the rights that it then has.
        tell: is told where it was done, or where it cannot be.

    Raises:
        StoreError: a file is another user's, or no file.
    """
    try:
        # Only its place is opened: to close a descriptor of the file would end the locks that this process has on it.
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC | (0 if mode == FOLDER else os.O_NOFOLLOW))
    except FileNotFoundError:
        return
    try:
        found = os.fstat(handle)
        if mode == FILE:
            _require_own(path, found)
        if not found.st_mode & _OF_OTHERS:
            return
        rights = f"{stat.S_IMODE(found.st_mode):04o}"
        try:
            Path(f"/proc/self/fd/{handle}").chmod(mode)
        except OSError as error:
            said = f"{path} has rights {rights}, and others could stop a measurement: chmod {mode:o} ({error.strerror})"
        else:
            said = f"{path} had rights {rights}: others could have stopped a measurement; it is its owner's alone now"
    finally:
        os.close(handle)
    if tell is not None:
        tell(said)


def _require_own(path: Path, found: os.stat_result, is_right: Callable[[int], bool] = stat.S_ISREG) -> None:
    owners = (os.geteuid(), path.parent.stat().st_uid)
    if is_right(found.st_mode) and found.st_uid in owners:
        return
    kind = f"of user {found.st_uid}" if is_right(found.st_mode) else "no file"
    raise StoreError(
        "results are not written into what another user may have put there",
        where=str(path),
        observed=f"it is {kind}; this is user {os.geteuid()}",
        fix="name a file in a folder of your own with --store",
    )


def _give_to_owner_of(folder: Path, handle: int) -> None:
    """Give what root makes in another user's folder to that user, who reads what was measured as root."""
    owner = folder.stat()
    if os.geteuid() == 0 and owner.st_uid != 0:
        os.fchown(handle, owner.st_uid, owner.st_gid)
