"""The one file of a bundle: a ZIP archive that is read within bounds and never unpacked to disk.

Its comment is the SHA-256 of all of it without the comment, so that no byte can change unseen, be it one of the
headers. That finds accidents; who changes a bundle on purpose writes the comment anew, which signatures are for.
"""

import hashlib
import io
import os
import re
import stat
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from nfvbed.errors import ConfigurationError
from nfvbed.spec.boundedzip import DAMAGES, NO_ARCHIVE, BoundedReads

MOST_BYTES: Final = 256 * 2**20
"""The largest file that is read as a bundle."""
MOST_CONTENT: Final = 128 * 2**20
"""The largest file in a bundle, unpacked: as much as `nfvbed import` reads."""
MOST_UNPACKED: Final = 256 * 2**20
"""The most that all files of a bundle hold together, unpacked."""
MOST_FILES: Final = 100
MOST_DIRECTORY: Final = 64 * 2**10
"""Bytes of the archive's own directory: some hundred for each file."""

RUN: Final = "run.json"
"""The run as `nfvbed export` writes it."""
COMPARISON: Final = "comparison.json"
TABLE: Final = "comparison.csv"
DISCLOSED: Final = "DISCLOSED.md"
CRATE: Final = "ro-crate-metadata.json"
STATEMENT: Final = "statement.json"
"""An in-toto statement: the digests of all other files."""
ENVELOPE: Final = "statement.dsse.json"
"""The statement in its place in a signed bundle: a DSSE envelope."""
SPECIFICATION: Final = ".vl.json"
"""End of the names of figures as Vega-Lite specifications."""
PICTURE: Final = ".svg"

_FIXED: Final = frozenset((RUN, COMPARISON, TABLE, DISCLOSED, CRATE, STATEMENT, ENVELOPE))
_FIGURE: Final = re.compile(rf"figures/[a-z0-9-]{{1,60}}({re.escape(SPECIFICATION)}|{re.escape(PICTURE)})")
_CHUNK: Final = 2**15
_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""ZIP's first: a file's time says nothing that is not in the statement."""
_END_BYTES: Final = 22
"""Length of the record that ends an archive, without its comment."""
_SEAL: Final = b"nfvbed-bundle/1 sha256:"
_SEAL_BYTES: Final = len(_SEAL) + 64
_FIX: Final = "give a file that `nfvbed bundle` wrote"


@dataclass(frozen=True)
class OpenedArchive:
    """The files of an archive, and what is wrong with it."""

    files: dict[str, bytes]
    damaged: dict[str, str]
    """Files that cannot be unpacked, with the reason."""
    sealed: bool
    """Whether all bytes are those that were written, by the archive's own comment."""


def write_archive(files: Mapping[str, bytes]) -> bytes:
    """Return the archive of files, in the order given; equal files make equal bytes with one version of zlib."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, content)
    plain = made.getvalue()
    return plain[:-2] + _SEAL_BYTES.to_bytes(2, "little") + _seal_of(plain)


def is_bundle(path: Path) -> bool:
    """Return whether a file ends as bundles do; a pipe is none, as its end is not known before it is read.

    Raises:
        ConfigurationError: it may not be read.
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            file.seek(-min(path.stat().st_size, _SEAL_BYTES), os.SEEK_END)
            return file.read(len(_SEAL)) == _SEAL
    except OSError as error:
        raise ConfigurationError(
            f"{path.name} cannot be read", where=str(path), observed=error.strerror or "", fix="check name and rights"
        ) from error


def open_archive(content: bytes, where: str) -> OpenedArchive:
    """Return the files of a bundle's archive.

    Args:
        content: content of the bundle's file.

    Raises:
        ConfigurationError: it is no archive, or has what no bundle has: other names, links, encryption, too much.
    """
    try:
        with zipfile.ZipFile(BoundedReads(io.BytesIO(content), MOST_DIRECTORY)) as archive:
            entries = archive.infolist()
            _require_bounds(entries, where)
            files, damaged = _unpacked(archive, entries)
    except NO_ARCHIVE as error:
        raise ConfigurationError(
            "this is no bundle, or the directory at the end of its archive is damaged",
            where=where,
            observed=str(error),
            fix=f"have it sent again, or {_FIX}",
        ) from error
    return OpenedArchive(files, damaged, _is_sealed(content))


def _seal_of(plain: bytes) -> bytes:
    return _SEAL + hashlib.sha256(plain).hexdigest().encode()


def _is_sealed(content: bytes) -> bool:
    end = len(content) - _SEAL_BYTES
    if end < _END_BYTES or content[end - 2 : end] != _SEAL_BYTES.to_bytes(2, "little"):
        return False
    return content[end:] == _seal_of(content[: end - 2] + b"\0\0")


def _require_bounds(entries: list[zipfile.ZipInfo], where: str) -> None:
    names = [entry.filename for entry in entries]
    if len(names) > MOST_FILES:
        raise _unsafe(where, f"{len(names)} files, and a bundle has at most {MOST_FILES}")
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise _unsafe(where, f"{twice[:120]!r} is there twice")
    if (unpacked := sum(entry.file_size for entry in entries)) > MOST_UNPACKED:
        raise _unsafe(where, f"{unpacked} bytes when unpacked, and a bundle has at most {MOST_UNPACKED}")
    for entry in entries:
        if reason := _refusal(entry):
            raise _unsafe(where, f"{entry.filename[:120]!r}: {reason}")


def _refusal(entry: zipfile.ZipInfo) -> str:
    """Return why a file of an archive is none of a bundle's; empty: it is."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    reasons = {
        "no file of a bundle is named so": entry.filename not in _FIXED and not _FIGURE.fullmatch(entry.filename),
        "it is a link, or no file at all": kind not in (0, stat.S_IFREG),
        "it is encrypted": bool(entry.flag_bits & 0x41),
        "it is packed in a way that bundles are not": entry.compress_type
        not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED),
        f"more than {MOST_CONTENT} bytes when unpacked": entry.file_size > MOST_CONTENT,
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


def _unpacked(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> tuple[dict[str, bytes], dict[str, str]]:
    files, damaged = dict[str, bytes](), dict[str, str]()
    for entry in entries:
        try:
            with archive.open(entry) as file:
                # No more than the directory says comes of it, whatever the packed data would become.
                files[entry.filename] = b"".join(iter(partial(file.read, _CHUNK), b""))
        except DAMAGES as error:
            damaged[entry.filename] = str(error) or type(error).__name__
    return files, damaged


def _unsafe(where: str, observed: str) -> ConfigurationError:
    return ConfigurationError(
        "this archive has what no bundle has, and is not read", where=where, observed=observed, fix=_FIX
    )
