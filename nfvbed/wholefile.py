"""Files that are there whole or not at all: written to a draft and renamed, or appended line by line."""

import errno
import fcntl
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from nfvbed.errors import StoreError


def write_whole(path: Path, content: bytes | str, mode: int | None = None) -> None:
    """Write a file; where that fails, what was there before stays as it was, and no draft is left.

    A link is followed and stays one. What is no regular file (`/dev/stdout`, a pipe) is written in place: a rename
    would put a file where the device was. The content is on the disk before the name is.

    Args:
        content: a text is written as UTF-8.
        mode: its rights. None: those that it has, or what the umask leaves of 0666.

    Raises:
        OSError: it cannot be written, for one because the disk is full; `filename` is the path.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        place = Path(os.path.realpath(path))
        known = place.stat() if place.exists() else None
        if known is not None and not stat.S_ISREG(known.st_mode):
            with path.open("wb") as file:
                file.write(data)
            return
        _replace(place, data, mode if mode is not None or known is None else stat.S_IMODE(known.st_mode))
    except OSError as failure:
        failure.filename, failure.filename2 = str(path), None
        raise


def write_output(path: Path, content: bytes | str, what: str, fix: str = "name another file with --output") -> None:
    """Write a file that a user asked for, as `write_whole` does.

    Args:
        content: a text is written as UTF-8.
        what: what is written ("the export"), for the message.

    Raises:
        StoreError: it cannot be written, for one because the disk is full.
    """
    try:
        write_whole(path, content)
    except OSError as failure:
        raise not_written(what, failure, fix) from failure


def append_whole(path: Path, line: bytes, mode: int = 0o600) -> None:
    """Append a line to a file; it is on the disk when this returns. Where that fails, nothing of it is in the file.

    Args:
        path: made where it is missing.
        line: with its line feed.
        mode: rights of a file that is made.

    Raises:
        OSError: it cannot be written, for one because the disk is full; `filename` is the path.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, mode)
        try:
            # Who else appends waits, so that no other's line is behind one that is taken back.
            fcntl.flock(handle, fcntl.LOCK_EX)
            _append(handle, line)
        finally:
            os.close(handle)
    except OSError as failure:
        failure.filename = str(path)
        raise


def is_full(failure: OSError) -> bool:
    """Return whether something could not be written because there is no room for it."""
    return failure.errno in (errno.ENOSPC, errno.EDQUOT)


def not_written(what: str, failure: OSError, fix: str) -> StoreError:
    """Return the error of something that could not be written.

    Args:
        what: what was to be written ("the report"), for the message.
    """
    return StoreError(
        f"{what} could not be written",
        where=str(failure.filename or ""),
        observed=failure.strerror or str(failure),
        fix=fix,
    )


def _replace(place: Path, data: bytes, mode: int | None) -> None:
    draft = place.with_name(f".{place.name[:200]}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        draft.rename(place)
    except BaseException:
        with suppress(FileNotFoundError):
            draft.unlink()
        raise


def _append(handle: int, line: bytes) -> None:
    size = os.fstat(handle).st_size
    try:
        if os.write(handle, line) != len(line):
            # A disk that runs full takes the beginning of a line.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise
