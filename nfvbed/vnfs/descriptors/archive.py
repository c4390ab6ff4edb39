"""A zip archive of someone else's: what is in it is checked by its directory, and nothing is unpacked."""

import hashlib
import lzma
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from nfvbed.errors import ConfigurationError

MOST_MEMBERS = 2000
MOST_BYTES = 16 * 2**30
"""Of all members, unpacked: images are among them."""
MOST_TEXT_BYTES = 4 * 2**20
"""Of a member that is read as a text."""
_CHUNK = 2**20
_DAMAGES = (
    zipfile.BadZipFile,  # a header or a checksum is wrong
    EOFError,  # the archive ends within the member
    OSError,  # bz2 says so that its data are damaged; or the file cannot be read
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,  # packed in a way that zipfile does not know
)
"""What reading a member raises that is damaged, or packed in an unknown way."""
_NO_ARCHIVE = (
    zipfile.BadZipFile,
    OSError,  # the file cannot be read
    NotImplementedError,  # a later version of the format
    UnicodeDecodeError,  # a name that is marked as UTF-8, and is not
)
"""What reading the directory of a file raises that is no zip archive, or a damaged one."""
_ENCRYPTED = 0x1


class Archive:
    """An archive whose directory has passed all checks.

    Args:
        path: the file's.

    Raises:
        ConfigurationError: it is no zip archive, a member would be written outside, or it would unfold without measure.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as archive:
                members = [one for one in archive.infolist() if not one.is_dir()]
        except _NO_ARCHIVE as failure:
            raise ConfigurationError(
                f"{path.name} cannot be read as a VNF package",
                where=str(path),
                observed=str(failure) or type(failure).__name__,
                fix="give a zip archive (CSAR)",
            ) from failure
        self._check_size(members)
        self.sizes: dict[str, int] = {}
        """Members by path, with their sizes unpacked."""
        for member in members:
            self._check(member)
            self.sizes[member.filename] = member.file_size

    def has(self, member: str) -> bool:
        """Whether there is a member of this path."""
        return member in self.sizes

    def where(self, member: str, line: int | None = None) -> str:
        """Name the place of a member, or of a line in it."""
        return f"{self.path}!{member}" + (f":{line}" if line else "")

    def text(self, member: str) -> str:
        """Return a member that is a text.

        Raises:
            ConfigurationError: it is too large, damaged or not UTF-8.
        """
        return self.decoded(member, self.content(member, MOST_TEXT_BYTES))

    def decoded(self, member: str, content: bytes) -> str:
        """Return content as a text.

        Raises:
            ConfigurationError: it is not UTF-8.
        """
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as failure:
            raise self.fault(f"{member} is no text", member, str(failure), "write it in UTF-8") from failure

    def content(self, member: str, most: int) -> bytes:
        """Return a member.

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
        try:
            with zipfile.ZipFile(self.path) as archive:
                return archive.read(member)
        except _DAMAGES as failure:
            raise self._damaged(member, failure) from failure

    def digest(self, member: str, algorithm: str) -> str:
        """Return a member's digest; it is read piece by piece.

        Raises:
            ConfigurationError: it is damaged.
        """
        found = hashlib.new(algorithm)
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(member) as content:
                while piece := content.read(_CHUNK):
                    found.update(piece)
        except _DAMAGES as failure:
            raise self._damaged(member, failure) from failure
        return found.hexdigest()

    def fault(self, what: str, member: str, observed: str, fix: str, line: int | None = None) -> ConfigurationError:
        """Return an error about a member."""
        return ConfigurationError(what, where=self.where(member, line), observed=observed, fix=fix)

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
                    where=str(self.path),
                    observed=observed,
                    fix="get the package from who made it; this one is not what it seems",
                )

    def _check(self, member: zipfile.ZipInfo) -> None:
        name, parts = member.filename, PurePosixPath(member.filename).parts
        kind = stat.S_IFMT(member.external_attr >> 16)
        reasons = {
            "its path is absolute": name.startswith("/") or (len(name) > 1 and name[1] == ":"),
            "its path climbs out of the archive": ".." in parts,
            "its path has a backslash": "\\" in name or "\\" in (member.orig_filename or ""),
            "it is a link": kind == stat.S_IFLNK,
            "it is a device, socket or pipe": kind not in (0, stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR),
            "it is encrypted": bool(member.flag_bits & _ENCRYPTED),
            "there are two of this path": name in self.sizes,
        }
        for observed, applies in reasons.items():
            if applies:
                raise self.fault(
                    f"{self.path.name} holds a member that is refused",
                    repr(name),
                    observed,
                    "build the package again with plain files at relative paths; nothing was unpacked",
                )
