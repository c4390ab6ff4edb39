"""Whose program is at the other end of a connection within this machine."""

import ipaddress
import os
import pwd
import struct
from pathlib import Path
from typing import Final

from starlette.types import Scope

TABLES: Final = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
"""Connections of this network namespace (proc(5))."""
ESTABLISHED: Final = "01"


def user_of(scope: Scope) -> int | None:
    """Return the user id of the program that sent a request; None where it is of another machine, or not known."""
    client, server = scope.get("client"), scope.get("server")
    if not client or not server or server[1] is None:
        return None
    try:
        wanted = (_written(client[0], client[1]), _written(server[0], server[1]))
    except ValueError:
        return None
    return next((user for table in TABLES if (user := _owner(table, wanted)) is not None), None)


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
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if (words[1], words[2]) == wanted and words[3] == ESTABLISHED:
            return int(words[7])
    return None


def _written(address: str, port: int) -> str:
    """Return an end of a connection as the kernel writes it: words of 32 bits in the machine's order."""
    packed = ipaddress.ip_address(address).packed
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
