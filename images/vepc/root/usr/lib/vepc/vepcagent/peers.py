"""Whether functions in other guests are up, before one that asks them is started.

The store takes connections when it is up. nextepc's gateways answer no echo request of GTP-C, so their guests' agents
take connections beside them, at the same address and the same number of a TCP port.
"""

import socket
import time

from agent.refusal import Refusal

GTPC_PORT = 2123
_PEER_S = 900.0
"""Another guest may boot later, and start its functions for minutes on an emulated processor."""
_ANSWER_S, _PAUSE_S = 2.0, 1.0


def show_up(address: str) -> socket.socket:
    """Take connections for a gateway that is up, as long as what is returned is kept.

    Raises:
        OSError: the kernel refuses it.
    """
    return socket.create_server((address, GTPC_PORT))


def wait_for(function: str, address: str, port: int, within_s: float = _PEER_S) -> None:
    """Wait until another guest's function is up.

    Args:
        function: its name.
        address: its address.
        port: its TCP port.
        within_s: for how long.

    Raises:
        Refusal: it is not.
    """
    deadline = time.monotonic() + within_s
    while not _takes_connections(address, port):
        if time.monotonic() > deadline:
            raise Refusal(f"the {function} is not up within {within_s:g} s", where=f"{address} port {port}")
        time.sleep(_PAUSE_S)


def _takes_connections(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), _ANSWER_S).close()
    except OSError:
        return False
    return True
