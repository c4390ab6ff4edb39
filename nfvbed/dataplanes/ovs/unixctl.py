"""Commands to a running Open vSwitch daemon over its control socket (JSON-RPC), without ovs-appctl.

The client of the package `ovs` is not used: without its compiled parser it takes time that grows with the square of an
answer's length (docs/evidence/ovn.md), and the connections of 100,000 flows are 200,000 lines.
"""

import contextlib
import json
import os
import socket as sockets
from pathlib import Path
from typing import Any

from nfvbed.errors import DeployError

_AT_ONCE = 1 << 20
"""Most bytes that are taken from the socket at once."""


def command(socket: Path, name: str, *arguments: str) -> str:
    """Run one command and return its text.

    Raises:
        DeployError: nothing answers, or the daemon refused.
    """
    request = json.dumps({"id": 0, "method": name, "params": list(arguments)}).encode()
    try:
        with contextlib.closing(_connected(socket)) as client:
            client.sendall(request)
            reply = _reply(client)
    except OSError as failure:
        raise _error(socket, name, os.strerror(failure.errno) if failure.errno else str(failure)) from failure
    if reply is None:
        raise _error(socket, name, "the connection was closed")
    refusal = reply.get("error")
    if refusal is not None:
        raise _error(socket, name, str(refusal).strip())
    return str(reply.get("result"))


def _connected(path: Path) -> sockets.socket:
    client = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        client.connect(str(path))
    except OSError:
        client.close()
        raise
    return client


def _reply(client: sockets.socket) -> dict[str, Any] | None:
    """Return the first whole message; None: the other side closed before."""
    received = bytearray()
    while chunk := client.recv(_AT_ONCE):
        received += chunk
        # Only what ends as an object does can be whole: a long text that comes in parts is not parsed each time.
        if received.rstrip().endswith(b"}"):
            with contextlib.suppress(ValueError):
                found: dict[str, Any] = json.loads(received)
                return found
    return None


def _error(socket: Path, name: str, observed: str) -> DeployError:
    return DeployError(f"Open vSwitch does not answer {name}", where=str(socket), observed=observed)
