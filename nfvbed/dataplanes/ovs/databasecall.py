"""One request to a database's server (RFC 7047), and its answer."""

import errno
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from ovs.jsonrpc import Connection, Message
from ovs.poller import Poller
from ovs.stream import Stream

from nfvbed.errors import DeployError

_LOOK_AROUND_MS: Final = 50


def call(socket: Path, method: str, parameters: Sequence[Any], check: Callable[[], None], within_s: float) -> Any:
    """Return the answer to a request, as JSON.

    Args:
        check: called while waiting; raises when waiting has become pointless.

    Raises:
        DeployError: no server answers in time, or it refuses the request.
    """
    deadline = time.monotonic() + within_s
    connection, request = _connected(socket, check, deadline), Message.create_request(method, list(parameters))
    try:
        error = connection.send(request)
        while not error and time.monotonic() < deadline:
            connection.run()
            error, reply = connection.recv()
            if error == errno.EAGAIN:
                check()
                error = 0
                _wait(connection)
            elif not error and reply.id == request.id:
                if reply.type == Message.T_REPLY:
                    return reply.result
                raise failure(socket, f"the server refuses {method}", str(reply.error))
    finally:
        connection.close()
    raise failure(socket, f"no answer to {method} came", os.strerror(error) if error else f"in {within_s:g} s")


def _connected(socket: Path, check: Callable[[], None], deadline: float) -> Connection:
    """Return a connection; a server that has just started has a socket before it listens."""
    while True:
        left_ms = max(1, int(1000 * (deadline - time.monotonic())))
        error, stream = Stream.open_block(Stream.open(f"unix:{socket}"), left_ms)
        if not error:
            return Connection(stream)
        check()
        if time.monotonic() > deadline:
            raise failure(socket, "no database answers", os.strerror(error))
        time.sleep(_LOOK_AROUND_MS / 1000)


def _wait(connection: Connection) -> None:
    poller = Poller()
    poller.timer_wait(_LOOK_AROUND_MS)
    connection.wait(poller)
    connection.recv_wait(poller)
    poller.block()


def failure(socket: Path, what: str, observed: str) -> DeployError:
    """Return the error of a server that does not do what it is asked."""
    return DeployError(what, where=str(socket), observed=observed, fix="read ovsdb-server.log beside that socket")
