"""A connection to a bridge, over which rules are set and counters read."""

import contextlib
import itertools
import select
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from nfvbed.dataplanes.ovs import openflow, tablerules
from nfvbed.errors import DeployError
from nfvbed.patience import patient

PATIENCE_S = patient(30.0)
"""A switch that has ended closes the connection; one that sets up many rules, or waits for a core, answers late."""
BUNDLE_PATIENCE_S = patient(60.0)
_BUNDLED = tablerules.BUNDLE_CONTROL
_GROUP = 500
"""Messages of a bundle that are sent in one piece."""


class RefusedError(DeployError):
    """The bridge answered with an error; the connection goes on."""


class BridgeConnection:
    """Speaks OpenFlow 1.4 to one bridge. Requests are answered in order; one thread uses it at a time.

    Args:
        connected: a socket to the bridge; closed with this connection.
        where: what the bridge is called in messages.
    """

    def __init__(self, connected: socket.socket, where: str) -> None:
        """Agree with the bridge on the version of OpenFlow.

        Raises:
            DeployError: the other side does not answer in OpenFlow 1.4.
        """
        self._socket = connected
        self._where = where
        self._buffer = b""
        self._xid = 0
        self._socket.settimeout(PATIENCE_S)
        try:
            self._send(openflow.HELLO)
            if self._receive().type != openflow.HELLO:
                raise _failure("the bridge did not begin with HELLO", where)
        except DeployError:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def datapath_id(self) -> int:
        """Return the number by which controllers know the bridge."""
        return int.from_bytes(self._exchange(openflow.FEATURES_REQUEST, b"", openflow.FEATURES_REPLY)[:8], "big")

    def add_rules(self, rules: list[openflow.Rule]) -> None:
        """Set rules; all of them are in force when this returns.

        Raises:
            DeployError: the bridge refused one.
        """
        for rule in rules:
            self._send(openflow.FLOW_MOD, openflow.add_rule(rule))
        self._confirm()

    def add_bundle(self, flow_mods: Iterable[bytes], patience_s: float = BUNDLE_PATIENCE_S) -> int:
        """Set rules in one bundle: all come into force together, or none where one is refused.

        Args:
            flow_mods: bodies of FLOW_MOD messages.
            patience_s: how long the bridge may take to put them into force.

        Returns:
            The number of rules.

        Raises:
            DeployError: the bridge refused one, or took longer.
        """
        self._exchange(tablerules.BUNDLE_CONTROL, tablerules.bundle_control(1, tablerules.BUNDLE_OPEN), _BUNDLED)
        count = 0
        self._socket.settimeout(patience_s)
        try:
            for group in _in_groups(flow_mods):
                self._send_bundled(group)
                count += len(group)
            # A message that cannot be added is refused by itself, and a commit would put the others into force.
            self._confirm()
            commit = tablerules.bundle_control(1, tablerules.BUNDLE_COMMIT)
            self._exchange(tablerules.BUNDLE_CONTROL, commit, _BUNDLED)
        except RefusedError:
            self._discard_bundle()
            raise
        finally:
            self._socket.settimeout(PATIENCE_S)
        return count

    def _send_bundled(self, bodies: Sequence[bytes]) -> None:
        """Send messages in one bundle; a refusal is read before the bundle is committed."""
        data = bytearray()
        for body in bodies:
            self._xid += 1
            data += openflow.message(tablerules.BUNDLE_ADD, self._xid, tablerules.bundle_add(1, self._xid, body))
        self._transmit(data)

    def _discard_bundle(self) -> None:
        """Discard the open bundle, so that another one may be opened."""
        self._send(tablerules.BUNDLE_CONTROL, tablerules.bundle_control(1, tablerules.BUNDLE_DISCARD))
        with contextlib.suppress(RefusedError):  # One whose commit was refused is gone.
            self._confirm()

    def wait(self, seconds: float) -> None:
        """Wait until the bridge sends something, or the time is over; other threads may use the connection then."""
        select.select([self._socket], [], [], seconds)

    def answer(self) -> None:
        """Read what the bridge has sent unasked, and keep the connection alive.

        Raises:
            DeployError: the connection has ended.
        """
        while self._buffer or select.select([self._socket], [], [], 0)[0]:
            self._answer(self._receive())

    def remove_all_rules(self) -> None:
        """Remove every rule; a bridge that is `secure` then drops every frame."""
        self._send(openflow.FLOW_MOD, openflow.delete_all_rules())
        self._confirm()

    def installed_rules(self) -> tuple[openflow.InstalledRule, ...]:
        """Read the rules with all that they match, do, and have counted."""
        bodies = self._multipart(openflow.flow_request())
        return tuple(rule for body in bodies for rule in openflow.parse_installed(body))

    def rule_count(self) -> int:
        """Read how many rules all tables hold."""
        return openflow.parse_rule_count(self._multipart(openflow.aggregate_request())[0])

    def rules(self) -> dict[int, openflow.RuleCounters]:
        """Read what the rules have matched, by cookie."""
        bodies = self._multipart(openflow.flow_request())
        return {rule.cookie: rule for body in bodies for rule in openflow.parse_rules(body)}

    def ports(self) -> dict[int, openflow.PortCounters]:
        """Read the ports' counters, by OpenFlow port number."""
        bodies = self._multipart(openflow.port_request())
        return {port.port: port for body in bodies for port in openflow.parse_ports(body)}

    def links(self) -> dict[int, bool]:
        """Read which ports have a link, by OpenFlow port number."""
        bodies = self._multipart(openflow.description_request())
        return {number: up for body in bodies for number, up in openflow.parse_links(body).items()}

    def _confirm(self) -> None:
        """Wait until the bridge has done all that it was sent; other answers are left for later.

        Raises:
            RefusedError: the first that it refused.
            DeployError: it does not answer.
        """
        barrier, first = self._send(openflow.BARRIER_REQUEST), None
        while True:
            try:
                self._await(openflow.BARRIER_REPLY, barrier)
                break
            except RefusedError as refusal:
                first = first or refusal
        if first is not None:
            raise first

    def _multipart(self, request: bytes) -> list[bytes]:
        bodies = [self._exchange(openflow.MULTIPART_REQUEST, request, openflow.MULTIPART_REPLY)]
        while openflow.more_follows(bodies[-1]):
            bodies.append(self._await(openflow.MULTIPART_REPLY, self._xid))
        return bodies

    def _exchange(self, kind: int, body: bytes, answer: int) -> bytes:
        return self._await(answer, self._send(kind, body))

    def _send(self, kind: int, body: bytes = b"") -> int:
        self._xid += 1
        self._transmit(openflow.message(kind, self._xid, body))
        return self._xid

    def _transmit(self, data: bytes | bytearray) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise _failure(str(error), self._where) from error

    def _await(self, kind: int, xid: int) -> bytes:
        """Wait for the answer to a request; keep the connection alive meanwhile."""
        while True:
            message = self._receive()
            if message.type == openflow.ERROR:
                raise _failure(openflow.error_text(message.body), self._where, RefusedError)
            if message.type == kind and message.xid == xid:
                return message.body
            self._answer(message)

    def _answer(self, message: openflow.Message) -> None:
        if message.type == openflow.ECHO_REQUEST:
            self._transmit(openflow.message(openflow.ECHO_REPLY, message.xid, message.body))

    def _receive(self) -> openflow.Message:
        header = self._read(openflow.HEADER.size)
        _, kind, length, xid = openflow.HEADER.unpack(header)
        if length < openflow.HEADER.size:
            raise _failure(f"a message of {length} bytes", self._where)
        return openflow.Message(kind, xid, self._read(length - openflow.HEADER.size))

    def _read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            try:
                data = self._socket.recv(65536)
            except OSError as error:
                raise _failure(str(error), self._where) from error
            if not data:
                raise _failure("the connection was closed", self._where)
            self._buffer += data
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return data


class BridgeController(BridgeConnection):
    """A connection to a bridge's management socket."""

    def __init__(self, path: Path) -> None:
        """Connect and agree on the version.

        Raises:
            DeployError: nothing answers, or not in OpenFlow 1.4.
        """
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connected.settimeout(PATIENCE_S)
        try:
            connected.connect(str(path))
        except OSError as error:
            connected.close()
            raise _failure(str(error), str(path)) from error
        super().__init__(connected, str(path))


def _failure(observed: str, where: str, kind: type[DeployError] = DeployError) -> DeployError:
    return kind(
        "the bridge does not do what OpenFlow asks",
        where=where,
        observed=observed,
        fix="read ovs-vswitchd.log in the run directory",
    )


def _in_groups(bodies: Iterable[bytes]) -> Iterator[Sequence[bytes]]:
    left = iter(bodies)
    while group := tuple(itertools.islice(left, _GROUP)):
        yield group
