"""Text of a file that a user names."""

from pathlib import Path
from typing import Final

from nfvbed.errors import ConfigurationError

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


def read_text(path: Path, fix: str = "check name and rights") -> str:
    """Read a file as UTF-8 text, with or without a byte order mark.

    Args:
        path: the user's.
        fix: what to give instead, where it cannot be read.

    Raises:
        ConfigurationError: it is not there, may not be read, is no file, or is not UTF-8 text (what it is, if known).
    """
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        observed = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigurationError(
            f"{path.name or path} cannot be read", where=str(path), observed=observed or str(error), fix=fix
        ) from error
    return decoded(content, str(path), fix)


def decoded(content: bytes, where: str, fix: str) -> str:
    """Return UTF-8 text, with or without a byte order mark.

    Args:
        content: of a file or of standard input.
        where: it is from.
        fix: as for `read_text`.

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
