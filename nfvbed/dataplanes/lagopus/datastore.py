"""Lagopus's datastore: one line over TCP, one JSON document back (`{"ret": "OK", "data": ...}`), as lagosh asks it."""

import json
import socket
from typing import Any

from nfvbed.dataplanes.lagopus.configuration import BRIDGE, interface_name
from nfvbed.errors import DeployError
from nfvbed.host.network.namespaces import inside

ADDRESS = ("127.0.0.1", 12345)
_PATIENCE_S = 5.0
_PART_BYTES = 8192


class Datastore:
    """The datastore of the Lagopus in one network namespace.

    Args:
        netns: path of the namespace; the datastore listens at its 127.0.0.1.
    """

    def __init__(self, netns: str) -> None:
        self._netns = netns

    def listens(self) -> bool:
        """Return whether the datastore can be reached."""
        try:
            self._connect().close()
        except OSError:
            return False
        return True

    def flows(self) -> int:
        """Return how many rules the bridge has.

        Raises:
            DeployError: it does not answer, or refuses.
        """
        (bridge,) = self._ask(f"flow {BRIDGE}")
        return sum(len(table["flows"]) for table in bridge["tables"])

    def statistics(self, port: int) -> dict[str, int]:
        """Read the counters of a port's interface (`rx_packets`, `tx_dropped`, ...), by its OpenFlow number.

        Raises:
            DeployError: it does not answer, or refuses.
        """
        (found,) = self._ask(f"interface {interface_name(port)} stats")
        return {key.replace("-", "_"): int(value) for key, value in found.items() if key != "name"}

    def _connect(self) -> socket.socket:
        def connect() -> socket.socket:
            return socket.create_connection(ADDRESS, timeout=_PATIENCE_S)

        # A socket stays in the namespace in which it was made, whichever process uses it then.
        return inside(self._netns, connect)

    def _ask(self, line: str) -> Any:
        try:
            with self._connect() as connection:
                connection.sendall(f"{line}\n".encode())
                answer = _read_document(connection)
        except (OSError, ValueError) as failure:
            raise DeployError("Lagopus's datastore does not answer", where=line, observed=repr(failure)) from failure
        if answer.get("ret") != "OK":
            raise DeployError("Lagopus's datastore refuses", where=line, observed=json.dumps(answer))
        return answer.get("data")


def _read_document(connection: socket.socket) -> dict[str, Any]:
    """Read until what came is a whole document: the datastore keeps the connection and sends no length."""
    data = b""
    while part := connection.recv(_PART_BYTES):
        data += part
        try:
            document: dict[str, Any] = json.loads(data)
        except ValueError:
            continue
        return document
    raise ValueError(f"the connection ended after {len(data)} bytes")
