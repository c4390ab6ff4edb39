"""A config drive as Nova attaches it: an ISO 9660 file system with one file in two folders."""

import struct

SECTOR = 2048
_FIRST = 18
"""Sectors before: 16 for the system, the volume's descriptor, the end of descriptors."""


def config_drive(user_data: bytes, label: str = "config-2") -> bytes:
    """Return the CD with `openstack/latest/user_data`; Linux shows names of capitals in small letters."""
    root, openstack, latest, content, table = (_FIRST + place for place in range(5))
    folders = [
        _folder(root, root, [_record(b"OPENSTACK", openstack, SECTOR, folder=True)]),
        _folder(openstack, root, [_record(b"LATEST", latest, SECTOR, folder=True)]),
        _folder(latest, openstack, [_record(b"USER_DATA.;1", content, len(user_data), folder=False)]),
    ]
    assert len(user_data) <= SECTOR
    paths = b"".join(
        bytes([len(name), 0]) + struct.pack("<IH", where, parent) + name + b"\0" * (len(name) % 2)
        for name, where, parent in ((b"\0", root, 1), (b"OPENSTACK", openstack, 1), (b"LATEST", latest, 2))
    )
    blocks = table + 1
    volume = (
        b"".join(
            (
                b"\1CD001\1\0" + b" " * 32 + label.encode().ljust(32),
                b"\0" * 8 + _both(blocks, "I") + b"\0" * 32 + _both(1, "H") + _both(1, "H") + _both(SECTOR, "H"),
                _both(len(paths), "I") + struct.pack("<IIII", table, 0, 0, 0),
                _record(b"\0", root, SECTOR, folder=True),
            )
        ).ljust(881, b" ")
        + b"\1"
    )
    parts = [bytes(16 * SECTOR), volume, b"\xffCD001\1", *folders, user_data, paths]
    return b"".join(part.ljust(-(-max(len(part), 1) // SECTOR) * SECTOR, b"\0") for part in parts)


def _folder(own: int, above: int, records: list[bytes]) -> bytes:
    return b"".join((_record(b"\0", own, SECTOR, folder=True), _record(b"\1", above, SECTOR, folder=True), *records))


def _record(name: bytes, where: int, size: int, *, folder: bool) -> bytes:
    date = bytes([126, 1, 1, 0, 0, 0, 0])
    body = b"\0" + _both(where, "I") + _both(size, "I") + date + bytes([2 if folder else 0, 0, 0]) + _both(1, "H")
    body += bytes([len(name)]) + name + b"\0" * (1 - len(name) % 2)
    return bytes([len(body) + 1]) + body


def _both(value: int, size: str) -> bytes:
    return struct.pack(f"<{size}", value) + struct.pack(f">{size}", value)
