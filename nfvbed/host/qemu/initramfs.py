"""Initial ramdisks: archives in the kernel's "newc" form of cpio (Documentation/driver-api/early-userspace)."""

from collections.abc import Iterable
from dataclasses import dataclass

_MAGIC = b"070701"
_TRAILER = "TRAILER!!!"
_DIRECTORY = 0o040755
_FILE = 0o100755


@dataclass(frozen=True)
class Member:
    """A folder (no content) or an executable file."""

    path: str
    """Without a leading slash."""
    content: bytes | None = None


def archive(members: Iterable[Member]) -> bytes:
    """Return an archive of members; equal members give equal bytes.

    Args:
        members: each folder before its content.
    """
    entries = [_entry(number, member) for number, member in enumerate(members, 1)]
    return b"".join([*entries, _record(_TRAILER, b"", 0, 0)])


def _entry(number: int, member: Member) -> bytes:
    mode = _DIRECTORY if member.content is None else _FILE
    return _record(member.path, member.content or b"", mode, number)


def _record(path: str, content: bytes, mode: int, number: int) -> bytes:
    name = path.encode() + b"\0"
    links = 1 if mode else 0
    # inode, mode, owner, group, links, time, size, device (major, minor), its own device (the same), name, check sum
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name), 0)
    header = _MAGIC + b"".join(b"%08X" % field for field in fields)
    return _padded(header + name) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
