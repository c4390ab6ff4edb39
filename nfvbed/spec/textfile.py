"""Files that a user names: their kind is checked before they are opened, and the size that is read is bounded."""

import stat
from pathlib import Path
from typing import BinaryIO, Final

from nfvbed.errors import ConfigurationError

MOST_BYTES: Final = 10_000_000
"""The longest text, unless a reader says another bound: the largest YAML file that nfvbed's users have is a hundredth.
"""

_MAGIC: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
)
"""First bytes of what people give by mistake, and what it is called (file(1))."""
_KINDS: Final = {
    stat.S_IFDIR: "it is a folder",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFIFO: "it is a pipe",
}
_CHUNK: Final = 1 << 20
_USUAL_FIX: Final = "check name and rights"


def read_text(path: Path, fix: str = _USUAL_FIX, most: int = MOST_BYTES) -> str:
    """Read a file, or a pipe, as UTF-8 text, with or without a byte order mark.

    Args:
        fix: what to give instead, where it cannot be read.
        most: bytes that are read.

    Raises:
        ConfigurationError: it is not there, may not be read, is no file, is too long, or is not UTF-8 text (what it is,
            if known).
    """
    return decoded(read_bytes(path, fix, most), str(path), fix)


def read_bytes(path: Path, fix: str = _USUAL_FIX, most: int = MOST_BYTES) -> bytes:
    """Read a file, or a pipe; bytes are counted as they are read, whatever size it claims.

    Args:
        fix: what to give instead, where it cannot be read.

    Raises:
        ConfigurationError: it is not there, may not be read, is no file, or is too long.
    """
    return _bounded(_pieces_of(path, most + 1, fix), str(path), fix, most)


def read_stream(stream: BinaryIO, where: str, fix: str = _USUAL_FIX, most: int = MOST_BYTES) -> bytes:
    """Read a stream that a user gives, to its end.

    Args:
        stream: for example standard input.
        where: its name in messages.
        fix: what to give instead.
        most: bytes that are read.

    Raises:
        ConfigurationError: it is too long.
    """
    return _bounded(_pieces(stream, most + 1), where, fix, most)


def read_beginning(path: Path, count: int, fix: str = _USUAL_FIX) -> bytes:
    """Read the first bytes of a file or a pipe.

    Args:
        count: how many at most.
        fix: what to give instead, where it cannot be read.

    Raises:
        ConfigurationError: it is not there, may not be read, or is no file.
    """
    return b"".join(_pieces_of(path, count, fix))


def require_file(path: Path, fix: str = _USUAL_FIX) -> None:
    """Refuse what is no ordinary file, pipes too: a device may have no end, and opening one may do something.

    Args:
        fix: what to give instead.

    Raises:
        ConfigurationError: it is not there, may not be looked at, or is something else; a pipe is, too.
    """
    _require(path, fix, (stat.S_IFREG,))


def kind_of(path: Path) -> str:
    """Return what kind of thing a path is, as "it is a device"; empty: nothing, or an ordinary file."""
    try:
        return _KINDS.get(stat.S_IFMT(path.stat().st_mode), "")
    except (OSError, ValueError):
        return ""


def decoded(content: bytes, where: str, fix: str) -> str:
    """Return UTF-8 text, with or without a byte order mark.

    Args:
        where: its name in messages.
        fix: what to give instead.

    Raises:
        ConfigurationError: it is no such text; what it is, if that is known.
    """
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        kind = next((name for magic, name in _MAGIC if content.startswith(magic)), "")
        raise ConfigurationError(
            f"{Path(where).name} cannot be read",
            where=where,
            observed=f"it is not UTF-8 text{f' ({kind})' if kind else ''}",
            fix=f"unpack it first, or {fix}" if kind in ("gzip", "bzip2", "xz", "zstd") else fix,
        ) from error


def _require(path: Path, fix: str, kinds: tuple[int, ...]) -> None:
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError) as error:
        raise _unreadable(path, _said(error), fix) from error
    if kind not in kinds:
        raise _unreadable(path, _KINDS.get(kind, "it is no file"), fix)


def _pieces_of(path: Path, count: int, fix: str) -> list[bytes]:
    _require(path, fix, (stat.S_IFREG, stat.S_IFIFO))
    try:
        with path.open("rb") as file:
            return _pieces(file, count)
    except (OSError, ValueError) as error:
        raise _unreadable(path, _said(error), fix) from error


def _pieces(stream: BinaryIO, count: int) -> list[bytes]:
    pieces, left = list[bytes](), count
    while left > 0 and (piece := stream.read(min(left, _CHUNK))):
        pieces.append(piece)
        left -= len(piece)
    return pieces


def _bounded(pieces: list[bytes], where: str, fix: str, most: int) -> bytes:
    if sum(map(len, pieces)) > most:
        raise ConfigurationError(
            f"{Path(where).name} is too long to be read",
            where=where,
            observed=f"more than {most} bytes",
            fix=fix,
        )
    return b"".join(pieces)


def _unreadable(path: Path, observed: str, fix: str) -> ConfigurationError:
    return ConfigurationError(f"{path.name or path} cannot be read", where=str(path), observed=observed, fix=fix)


def _said(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
