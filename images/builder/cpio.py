"""Writes the initial ramdisk: the kernel's own archive form (cpio "newc"), sorted and without time stamps."""

import stat
from pathlib import Path

_CONSOLE = (0o600 | stat.S_IFCHR, 5, 1)


def archive(folder: Path) -> bytes:
    """Return the folder as an archive owned by root; `/dev/console` is added, as the kernel opens it first."""
    parts = []
    number = 1
    entries: list[tuple[str, int, bytes, tuple[int, int]]] = [("dev", 0o755 | stat.S_IFDIR, b"", (0, 0))]
    mode, major, minor = _CONSOLE
    entries.append(("dev/console", mode, b"", (major, minor)))
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            entries.append((name, 0o777 | stat.S_IFLNK, str(path.readlink()).encode(), (0, 0)))
        elif path.is_dir():
            entries.append((name, 0o755 | stat.S_IFDIR, b"", (0, 0)))
        else:
            bits = 0o755 if path.stat().st_mode & 0o100 else 0o644
            entries.append((name, bits | stat.S_IFREG, path.read_bytes(), (0, 0)))
    for name, entry_mode, content, device in entries:
        parts.append(_entry(number, name, entry_mode, content, device))
        number += 1
    parts.append(_entry(0, "TRAILER!!!", 0, b"", (0, 0)))
    return b"".join(parts)


def _entry(number: int, name: str, mode: int, content: bytes, device: tuple[int, int]) -> bytes:
    """One entry: a header of thirteen hexadecimal numbers, the name, the content, each filled to four bytes."""
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = [number, mode, 0, 0, links, 0, len(content), 0, 0, *device, len(name) + 1, 0]
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _filled(header + name.encode() + b"\0") + _filled(content)


def _filled(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
