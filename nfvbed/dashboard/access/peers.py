"""Whose program is at the other end of a connection within this machine."""

import ipaddress
import os
import pwd
import socket
import struct
from pathlib import Path
from typing import Final, cast

from starlette.types import Scope

TABLES: Final = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
"""Connections of this network namespace (proc(5))."""
ESTABLISHED: Final = 1
SOCK_DIAG: Final = 4
"""Netlink's protocol that tells of sockets (sock_diag(7))."""
BY_FAMILY: Final = 20
REQUEST: Final = 1
HEAD: Final = struct.Struct("=IHHII")
"""Head of a Netlink message: length, type, flags, sequence, port."""
ASKED: Final = struct.Struct("=BBBxI2s2s16s16sI8s")
"""A socket that is asked for: family, protocol, extensions, states, its two ends, interface, cookie."""
TOLD: Final = struct.Struct("=BBxx2s2s16s16sI8s12xII")
"""What is told of it: family, state, its ends, interface, cookie, user, inode."""


def user_of(scope: Scope) -> int | None:
    """Return the user id of the program that sent a request; None where it is of another machine, or not known."""
    known = scope.get("state", {})
    if "user" in known:  # found when the connection was taken
        return cast("int | None", known["user"])
    client, server = scope.get("client"), scope.get("server")
    if not client or not server or server[1] is None:
        return None
    return user_between((client[0], client[1]), (server[0], server[1]))


def user_between(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """Return the user id of the program at the client's end of a connection; None as in `user_of`."""
    try:
        wanted = (_written(*client), _written(*server))
        found = _told(client, server)
    except ValueError:
        return None
    if found is not None:
        return found
    return next((user for table in TABLES if (user := _owner(table, wanted)) is not None), None)


def _told(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """Ask for one socket: to read the tables takes milliseconds where there are many; None where it is not told."""
    ends = tuple(_packed(address) for address, _ in (client, server))
    family = socket.AF_INET if len(ends[0]) == 4 else socket.AF_INET6
    ports = tuple(port.to_bytes(2, "big") for _, port in (client, server))
    padded = tuple(end.ljust(16, b"\0") for end in ends)
    asked = ASKED.pack(family, socket.IPPROTO_TCP, 0, 1 << ESTABLISHED, *ports, *padded, 0, b"\xff" * 8)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel:
            kernel.send(HEAD.pack(HEAD.size + len(asked), BY_FAMILY, REQUEST, 1, 0) + asked)
            answer = kernel.recv(4096, socket.MSG_DONTWAIT)
    except OSError:
        return None
    if len(answer) < HEAD.size + TOLD.size or HEAD.unpack_from(answer)[1] != BY_FAMILY:
        return None
    told = TOLD.unpack_from(answer, HEAD.size)
    # Where there is no such connection, the kernel may tell of who listens there.
    return int(told[-2]) if told[1] == ESTABLISHED and told[2:4] == ports else None


def name_of(user: int | None) -> str:
    """Return the account of a user id; empty where it is not known."""
    if user is None:
        return ""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def may_operate(user: int | None) -> bool:
    """Return whether it is the user that runs this server, or root."""
    return user is not None and user in (0, os.geteuid())


def _owner(table: Path, wanted: tuple[str, str]) -> int | None:
    try:
        text = table.read_text(encoding="ascii")
    except OSError:
        return None
    # Found in the whole text: to split thousands of lines takes longer than to answer.
    _, found, rest = text.partition(f" {wanted[0]} {wanted[1]} {ESTABLISHED:02X} ")
    return int(rest.split(maxsplit=4)[3]) if found else None


def _written(address: str, port: int) -> str:
    """Return an end of a connection as the kernel writes it: words of 32 bits in the machine's order."""
    packed = _packed(address)
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"


def _packed(address: str) -> bytes:
    return ipaddress.ip_address(address).packed
