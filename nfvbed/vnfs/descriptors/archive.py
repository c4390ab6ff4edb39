"""A foreign zip archive: its directory is checked, it is read in pieces, and nothing is unpacked.

What the directory says of sizes is not believed: it is held against the file's own size, members are counted while they
are read, and only what Python can unpack in pieces of a bounded size (deflate) is unpacked at all.
"""

import hashlib
import io
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from nfvbed.errors import ConfigurationError
from nfvbed.spec.boundedzip import DAMAGES, NO_ARCHIVE, BoundedReads
from nfvbed.spec.textfile import require_file

MOST_MEMBERS = 2000
MOST_BYTES = 16 * 2**30
"""The most bytes of all members, unpacked: images are among them."""
MOST_TEXT_BYTES = 4 * 2**20
"""The largest member that is read as a text."""
MOST_DIRECTORY_BYTES = 2 * 2**20
"""The largest directory at the archive's end: a kilobyte for each member."""
MOST_RATIO = 200
"""The largest ratio of a member's size to what it is packed into: texts have 3 to 10, an empty disk image has 1000."""
MOST_NAME = 1024
"""Characters of a member's path."""
_FREE_BYTES = 2**20
"""Size up to which a member may be packed more tightly."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_METHOD_NAMES = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "LZMA", 9: "deflate64", 93: "zstd", 95: "xz"}
_CHUNK = 2**20
_ENCRYPTED = 0x1
_DELETE = 0x7F


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    with BoundedReads(io.FileIO(path), MOST_DIRECTORY_BYTES) as file, zipfile.ZipFile(file) as archive:
        yield archive


class Archive:
    """An archive whose directory has passed all checks.

    Raises:
        ConfigurationError: it is no zip archive, a member would be written outside, or it would unfold without measure.
    """

    def __init__(
        self, path: Path, *, shown: str = "", folder: "tempfile.TemporaryDirectory[str] | None" = None
    ) -> None:
        """Read the directory of an archive.

        Args:
            shown: its place for messages; empty: its path.
            folder: holds the file, and goes with this object; None: the file is a user's.
        """
        self.path = path
        self._shown, self._folder = shown or str(path), folder
        require_file(path, "give a zip archive (CSAR)")
        try:
            with _opened(path) as archive:
                members = [one for one in archive.infolist() if not one.is_dir()]
        except NO_ARCHIVE as failure:
            raise ConfigurationError(
                f"{path.name} cannot be read as a VNF package",
                where=self._shown,
                observed=str(failure) or type(failure).__name__,
                fix="give a zip archive (CSAR)",
            ) from failure
        self._check_size(members)
        self.sizes: dict[str, int] = {}
        """Members by path, with their sizes unpacked."""
        self._digests: dict[tuple[str, str], str] = {}
        for member in members:
            self._check(member)
            self.sizes[member.filename] = member.file_size

    def has(self, member: str) -> bool:
        """Return whether there is a member of this path."""
        return member in self.sizes

    def where(self, member: str, line: int | None = None) -> str:
        """Return the place of a member, or of a line in it, for messages."""
        return f"{self._shown}!{member}" + (f":{line}" if line else "")

    def text(self, member: str) -> str:
        """Return a member as text.

        Raises:
            ConfigurationError: it is too large, damaged or not UTF-8.
        """
        return self.decoded(member, self.content(member, MOST_TEXT_BYTES))

    def decoded(self, member: str, content: bytes) -> str:
        """Return content as text.

        Raises:
            ConfigurationError: it is not UTF-8.
        """
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as failure:
            raise self.fault(f"{member} is no text", member, str(failure), "write it in UTF-8") from failure

    def content(self, member: str, most: int) -> bytes:
        """Return a member's content.

        Raises:
            ConfigurationError: it is larger than that, or damaged.
        """
        if self.sizes[member] > most:
            raise self.fault(
                f"{member} is too large to be read",
                member,
                f"{self.sizes[member]} bytes unpacked; at most {most} are read",
                "what is this large is no descriptor: take it out, or name it as an artifact",
            )
        return b"".join(self._pieces(member))

    def copy(self, member: str, to: Path) -> None:
        """Write a member's content into a file, in pieces.

        Raises:
            ConfigurationError: it is damaged.
        """
        with to.open("wb") as file:
            for piece in self._pieces(member):
                file.write(piece)

    def digest(self, member: str, algorithm: str) -> str:
        """Return a member's digest; it is read in pieces, and only once, however often it is named.

        Raises:
            ConfigurationError: it is damaged.
        """
        if (member, algorithm) not in self._digests:
            found = hashlib.new(algorithm)
            for piece in self._pieces(member):
                found.update(piece)
            self._digests[member, algorithm] = found.hexdigest()
        return self._digests[member, algorithm]

    def fault(self, what: str, member: str, observed: str, fix: str, line: int | None = None) -> ConfigurationError:
        """Return an error about a member."""
        return ConfigurationError(what, where=self.where(member, line), observed=observed, fix=fix)

    def _pieces(self, member: str) -> Iterator[bytes]:
        """Yield a member's content in pieces; no more than its size, which was checked against the bounds."""
        left = self.sizes[member]
        try:
            with _opened(self.path) as archive, archive.open(member) as content:
                while piece := content.read(_CHUNK):
                    left -= len(piece)
                    if left < 0:
                        raise zipfile.BadZipFile(f"it has more than the {self.sizes[member]} bytes that were announced")
                    yield piece
        except DAMAGES as failure:
            raise self._damaged(member, failure) from failure

    def _damaged(self, member: str, failure: Exception) -> ConfigurationError:
        return self.fault(f"{member} is damaged", member, str(failure), "get the package again")

    def _check_size(self, members: list[zipfile.ZipInfo]) -> None:
        total, packed = sum(one.file_size for one in members), sum(one.compress_size for one in members)
        there = self.path.stat().st_size
        reasons = {
            f"{len(members)} members; {MOST_MEMBERS} are read": len(members) > MOST_MEMBERS,
            f"{total} bytes unpacked; {MOST_BYTES} are read": total > MOST_BYTES,
            f"members of {packed} bytes in a file of {there}: they lie over each other": packed > there,
        }
        for observed, applies in reasons.items():
            if applies:
                raise ConfigurationError(
                    f"{self.path.name} would unfold without measure",
                    where=self._shown,
                    observed=observed,
                    fix="get the package from who made it; this one is not what it seems",
                )

    def _check(self, member: zipfile.ZipInfo) -> None:
        name, parts = member.filename, PurePosixPath(member.filename).parts
        kind = stat.S_IFMT(member.external_attr >> 16)
        method = _METHOD_NAMES.get(member.compress_type, f"method {member.compress_type}")
        reasons = {
            f"its path has {len(name)} characters; {MOST_NAME} are read": len(name) > MOST_NAME,
            "its path has a control character": any(ord(one) < ord(" ") or ord(one) == _DELETE for one in name),
            "its path is absolute": name.startswith("/") or (len(name) > 1 and name[1] == ":"),
            "its path climbs out of the archive": ".." in parts,
            "its path has a backslash": "\\" in name or "\\" in (member.orig_filename or ""),
            "it is a link": kind == stat.S_IFLNK,
            "it is a device, socket or pipe": kind not in (0, stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR),
            "it is encrypted": bool(member.flag_bits & _ENCRYPTED),
            "there are two of this path": name in self.sizes,
            f"it is packed with {method}; deflate is read, and what is not packed": member.compress_type
            not in _METHODS,
            f"{member.file_size} bytes in {member.compress_size}: more than {MOST_RATIO} times": member.file_size
            > max(MOST_RATIO * member.compress_size, _FREE_BYTES),
        }
        for observed, applies in reasons.items():
            if applies:
                raise self.fault(
                    f"{self.path.name} holds a member that is refused",
                    repr(name[:MOST_NAME]),
                    observed,
                    "build the package again with plain files at relative paths; nothing was unpacked",
                )
