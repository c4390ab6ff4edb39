"""Programs that answer over a Unix socket: one line, one JSON document back, and the connection is closed."""

import json
import socket
from pathlib import Path
from typing import Any

_LONGEST_BYTES = 65536


def listens(path: Path) -> bool:
    """Return whether there is an answer on a socket; its file is there a moment earlier."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True


def ask(path: Path, line: str, patience_s: float) -> dict[str, Any]:
    """Ask a program one question.

    Args:
        line: question without its newline; empty: connecting is the question.
        patience_s: limit of each step.

    Raises:
        OSError: nothing listens, or there is no answer in time.
        ValueError: the answer is no JSON document.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(patience_s)
        connection.connect(str(path))
        if line:
            connection.sendall(f"{line}\n".encode())
        answer: dict[str, Any] = json.loads(_read_all(connection))
    return answer


def _read_all(connection: socket.socket) -> bytes:
    data = b""
    while (part := connection.recv(_LONGEST_BYTES)) and len(data) < _LONGEST_BYTES:
        data += part
    return data
