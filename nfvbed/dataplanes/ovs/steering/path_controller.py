"""The OpenFlow controller: gives the switch that connects the rules of one path.

It runs in a process of its own (`controller_process.py`). A switch that comes back gets the rules again; rules that it
still has keep their counters.
"""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nfvbed.dataplanes.ovs import openflow
from nfvbed.dataplanes.ovs.controller import BridgeConnection
from nfvbed.dataplanes.ovs.steering.path import path_rules
from nfvbed.dataplanes.ovs.steering.path_file import read_path
from nfvbed.errors import ConfigurationError, DeployError

_LOOK_AROUND_S = 0.5
"""How long the controller waits for the switch before it looks whether a message came with another's answer."""
_log = logging.getLogger(__name__)


class PathController:
    """One path for one switch: a second switch waits until the first has disconnected.

    Args:
        path_file: the path; `change` reads it again.
        listening: the socket that switches connect to.
    """

    def __init__(self, path_file: Path, listening: socket.socket) -> None:
        self._path_file = path_file
        self._listening = listening
        self._rules = path_rules(read_path(path_file))
        self._lock = threading.Lock()
        """A thread that has it may use the connection, and the fields below."""
        self._connection: BridgeConnection | None = None
        self._datapath_id = 0
        self._in_force = False
        self._error = ""

    def serve(self) -> None:
        """Steer the switches that connect, one after the other, for ever."""
        while True:
            connected, _ = self._listening.accept()
            try:
                with BridgeConnection(connected, "the switch that has connected") as connection:
                    self._steer(connection, connected)
            except DeployError as failure:
                _log.info("the switch is gone: %s", failure.observed)

    def status(self) -> dict[str, object]:
        """Return whether a switch is connected and how many rules it has confirmed."""
        with self._lock:
            connected = self._connection is not None
            return {
                "connected": connected,
                "datapath_id": f"{self._datapath_id:016x}" if connected else None,
                "rules": len(self._rules) if self._in_force else 0,
                "error": self._error,
            }

    def change(self) -> dict[str, object]:
        """Read the path's file again, and give the switch its rules in place of all others, in one bundle."""
        try:
            rules = path_rules(read_path(self._path_file))
        except ConfigurationError as failure:
            return {"error": str(failure)}
        with self._lock:
            if self._connection is None:
                return {"error": "no switch is connected"}
            with self._putting_into_force():
                self._connection.add_bundle([openflow.delete_all_rules(), *map(openflow.add_rule, rules)])
                self._rules = rules
        return {"error": ""}

    def counters(self) -> dict[str, object]:
        """Return what the rules have matched, as the switch reports it, in the order of the path."""
        with self._lock:
            if self._connection is None:
                return {"error": "no switch is connected"}
            try:
                found = self._connection.rules()
            except DeployError as failure:
                return {"error": f"the switch gave no counters: {failure.observed}"}
            hops = [
                {
                    "cookie": rule.cookie,
                    "in_port": rule.in_port,
                    "output": rule.output,
                    "packets": found[rule.cookie].packets,
                    "octets": found[rule.cookie].octets,
                }
                for rule in self._rules
                if rule.cookie in found
            ]
        return {"hops": hops}

    def _steer(self, connection: BridgeConnection, connected: socket.socket) -> None:
        """Give a switch the rules, and keep the connection alive until it ends.

        Raises:
            DeployError: it has ended.
        """
        try:
            with self._lock:
                self._datapath_id = connection.datapath_id()
                self._connection = connection
                _log.info("switch %016x has connected", self._datapath_id)
                with self._putting_into_force():
                    connection.add_rules(list(self._rules))
            while True:
                connection.wait(_LOOK_AROUND_S)
                with self._lock:
                    connection.answer()
        finally:
            with self._lock:
                self._connection, self._in_force = None, False

    @contextmanager
    def _putting_into_force(self) -> Iterator[None]:
        """Record at the end that the rules are in force, or why the switch refused them."""
        self._in_force, self._error = False, ""
        try:
            yield
        except DeployError as failure:
            self._error = str(failure.observed)
            _log.warning("the rules are not in force: %s", self._error)
        else:
            self._in_force = True
