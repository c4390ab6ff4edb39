"""The host's side of a guest node's port. Protocol `nfvbed-node/1`, JSON lines.

The guest begins with `{"event": "ready", "schema", "kernel", "refused"}`; refused: modules that could not be loaded.
The host's requests carry an `id` of its own choice and a `do`:

    run     argv, directory, environment     start a program
    signal  to (id of a run), number         to all of its processes
    read    path                             send a file
    write   path, begin, data                append to a file, or begin it (data: base64)

The guest answers with any number of `{"event": "output", "id", "stream", "data"}` (stream: stdout, stderr or file;
data: base64) and one `{"event": "ended", "id", "status"}` (negative: the signal); or with `{"event": "refused", "id",
"observed"}`. A signal has no answer.
"""

import base64
import json
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nfvbed.errors import DeployError

_LOOK_S = 0.5
"""How often a wait looks whether the guest still lives."""
_LINE_BYTES = 1024 * 1024


class NodeChannel:
    """A connection to a guest node's agent; one thread uses it.

    Args:
        check: raises when the guest's process has ended.
    """

    def __init__(self, path: Path, check: Callable[[], None]) -> None:
        self._path = path
        self._check = check
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._heard = bytearray()

    def connect(self, within_s: float) -> None:
        """Connect as soon as QEMU listens.

        Raises:
            DeployError: it does not.
        """
        deadline = time.monotonic() + within_s
        while True:
            self._check()
            try:
                self._socket.connect(str(self._path))
                self._socket.settimeout(_LOOK_S)
                return
            except OSError as failure:
                if time.monotonic() > deadline:
                    raise DeployError(
                        "QEMU does not listen", where=str(self._path), observed=str(failure), fix="read node.log there"
                    ) from failure
            time.sleep(0.02)

    def close(self) -> None:
        """Close the connection; the guest then ends."""
        self._socket.close()

    def send(self, request: Mapping[str, Any]) -> None:
        """Send one request.

        Raises:
            DeployError: the guest is gone.
        """
        try:
            self._socket.settimeout(None)
            self._socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError as failure:
            raise self._gone(str(failure)) from failure
        finally:
            self._socket.settimeout(_LOOK_S)

    def receive(self, deadline: float | None) -> dict[str, Any]:
        """Return the guest's next message.

        Args:
            deadline: by the monotonic clock; None: wait as long as the guest lives.

        Raises:
            DeployError: the guest is gone, or says nothing in time.
        """
        while True:
            line, found, rest = bytes(self._heard).partition(b"\n")
            if found:
                self._heard = bytearray(rest)
                message: dict[str, Any] = json.loads(line)
                return message
            if deadline is not None and time.monotonic() > deadline:
                raise self._gone("it says nothing")
            self._check()
            self._hear()

    def _hear(self) -> None:
        try:
            chunk = self._socket.recv(_LINE_BYTES)
        except TimeoutError:
            return
        except OSError as failure:
            raise self._gone(str(failure)) from failure
        if not chunk:
            self._check()
            raise self._gone("it closed its port")
        self._heard += chunk

    def _gone(self, observed: str) -> DeployError:
        return DeployError(
            "the guest node does not answer", where=str(self._path), observed=observed, fix="read console.log there"
        )


def data_of(message: Mapping[str, Any]) -> bytes:
    """Return the bytes of a message of output."""
    return base64.b64decode(message["data"])


def encoded(data: bytes) -> str:
    """Return bytes as a request carries them."""
    return base64.b64encode(data).decode("ascii")
