"""The switch's database over OVSDB (RFC 7047): its settings, one bridge, its ports, and the state of each."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from ovs.db import idl
from ovs.poller import Poller

from nfvbed.dataplanes.ovs.schema import schema_of
from nfvbed.errors import DeployError
from nfvbed.patience import patient
from nfvbed.spec.variant import Variant
from nfvbed.units import USUAL_MTU

PATIENCE_S = patient(15.0)
_LOOK_AROUND_MS = 50
"""How often a wait looks whether the switch still lives."""

ROOT = "Open_vSwitch"
_COLUMNS = {
    ROOT: (
        "bridges",
        "cur_cfg",
        "next_cfg",
        "other_config",
        "external_ids",
        "dpdk_version",
        "dpdk_initialized",
        "iface_types",
    ),
    "Bridge": ("name", "ports", "datapath_type", "fail_mode", "protocols", "controller", "other_config"),
    "Controller": ("target", "connection_mode", "status"),
    "Port": ("name", "interfaces"),
    "Interface": (
        "name",
        "type",
        "options",
        "other_config",
        "external_ids",
        "ofport",
        "ofport_request",
        "error",
        "link_state",
        "status",
        "mtu_request",
    ),
}


@dataclass(frozen=True)
class PortRequest:
    """A port to add to the bridge."""

    name: str
    type: str
    number: int
    """Its OpenFlow port number."""
    options: Mapping[str, str] = field(default_factory=dict)
    other_config: Mapping[str, str] = field(default_factory=dict)
    mtu: int | None = None
    """Bytes of an Ethernet payload that it takes; None: Open vSwitch's default."""


def asked_mtu(variant: Variant) -> int | None:
    """Return the MTU for the ports of a variant's path; None: the default one, which Open vSwitch sets by itself."""
    return None if variant.mtu == USUAL_MTU else variant.mtu


@dataclass(frozen=True)
class InterfaceState:
    """An interface's state, as the switch reports it."""

    name: str
    number: int | None
    """Its OpenFlow port number; None while it is not open."""
    error: str
    link_up: bool
    status: dict[str, str]


@dataclass(frozen=True)
class SwitchState:
    """The switch's state, as it reports it."""

    dpdk_version: str
    dpdk_initialized: bool
    interface_types: frozenset[str] = frozenset()
    """That it was built with; empty until it has read its settings."""


class SwitchDatabase:
    """A connection to one ovsdb-server; one thread uses it."""

    def __init__(self, socket: Path, check: Callable[[], None] = lambda: None) -> None:
        """Connect to the server.

        Args:
            check: called while waiting; raises when waiting has become pointless.

        Raises:
            DeployError: no database answers.
        """
        self._socket = socket
        self._check = check
        helper = idl.SchemaHelper(schema_json=schema_of(socket, ROOT, check, PATIENCE_S))
        for table, columns in _COLUMNS.items():
            helper.register_columns(table, list(columns))
        self._idl: Any = idl.Idl(f"unix:{socket}", helper)
        try:
            self._wait(self._idl.has_ever_connected, "no database answers")
        except BaseException:
            self._idl.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._idl.close()

    def initialise(self, other_config: Mapping[str, str]) -> None:
        """Make the root row with its settings. Call it before the switch runs, which reads DPDK's only at its start."""
        transaction = idl.Transaction(self._idl)
        row = transaction.insert(self._idl.tables[ROOT])
        row.other_config = dict(other_config)
        self._commit(transaction)

    def add_bridge(
        self,
        name: str,
        ports: Sequence[PortRequest],
        other_config: Mapping[str, str] | None = None,
        datapath: Literal["netdev", "system"] = "netdev",
    ) -> None:
        """Add a bridge with its ports, and wait until the switch has made them.

        Its fail mode is `secure`: it forwards only by its rules.

        Args:
            ports: those beside the bridge's own internal port.
            other_config: settings of the bridge (ovs-vswitchd.conf.db(5)).
            datapath: `netdev` is userspace's, `system` the kernel's.

        Raises:
            DeployError: a port could not be opened; the message holds the switch's own words.
        """
        transaction = idl.Transaction(self._idl)
        root = self._root()
        requests = [PortRequest(name, "internal", 0), *ports]
        bridge = transaction.insert(self._idl.tables["Bridge"])
        bridge.name = name
        bridge.datapath_type = datapath
        bridge.fail_mode = "secure"
        bridge.protocols = ["OpenFlow14"]
        bridge.other_config = dict(other_config or {})
        bridge.ports = [self._insert_port(transaction, request) for request in requests]
        root.bridges = [*root.bridges, bridge]
        self._apply(transaction, f"the switch did not make the bridge {name}")
        self._check_ports(ports)

    def add_port(self, bridge: str, request: PortRequest) -> None:
        """Add a port to a bridge that is deployed, and wait until the switch has opened it.

        Raises:
            DeployError: there is no such bridge, or the port could not be opened.
        """
        self.add_ports(bridge, [request])

    def add_ports(self, bridge: str, requests: Sequence[PortRequest]) -> None:
        """Add ports to a bridge that is deployed, all at once, and wait until the switch has opened them.

        Raises:
            DeployError: there is no such bridge, or a port could not be opened.
        """
        row = self._bridge(bridge)
        transaction = idl.Transaction(self._idl)
        row.ports = [*row.ports, *(self._insert_port(transaction, request) for request in requests)]
        self._apply(transaction, f"the switch did not add to {bridge}: {', '.join(r.name for r in requests)}")
        self._check_ports(requests)

    def remove_port(self, bridge: str, name: str) -> None:
        """Remove a port from a bridge, where it has one of that name.

        Raises:
            DeployError: there is no such bridge, or the switch did not do it.
        """
        row = self._bridge(bridge)
        kept = [port for port in row.ports if port.name != name]
        if len(kept) == len(row.ports):
            return
        transaction = idl.Transaction(self._idl)
        row.ports = kept
        self._apply(transaction, f"the switch did not remove port {name}")

    def set_controller(self, bridge: str, target: str | None) -> None:
        """Set the OpenFlow controller of a bridge; it forgets its rules when that changes.

        Args:
            target: `tcp:<address>:<port>`, as seen from the switch's network namespace; None: no controller.

        Raises:
            DeployError: there is no such bridge, or the switch did not take it.
        """
        row = self._bridge(bridge)
        if target is None and not row.controller:
            return
        transaction = idl.Transaction(self._idl)
        controllers = []
        if target is not None:
            controllers.append(transaction.insert(self._idl.tables["Controller"]))
            controllers[0].target = target
            # In-band, Open vSwitch would add rules of its own for the way to the controller.
            controllers[0].connection_mode = "out-of-band"
        row.controller = controllers
        self._apply(transaction, f"the switch did not take the controller of {bridge}")

    def allow_openflow(self, bridge: str, version: str) -> None:
        """Let a bridge speak one more version of OpenFlow (`OpenFlow15`).

        Raises:
            DeployError: there is no such bridge, or the switch did not do it.
        """
        row = self._bridge(bridge)
        transaction = idl.Transaction(self._idl)
        row.protocols = sorted({*row.protocols, version})
        self._apply(transaction, f"the switch does not let {bridge} speak {version}")

    def set_external_ids(self, switch: Mapping[str, str], interfaces: Mapping[str, Mapping[str, str]]) -> None:
        """Set what others read of the switch and of interfaces (`external_ids`).

        Args:
            interfaces: what is set, by interface.
        """
        transaction = idl.Transaction(self._idl)
        root = self._root()
        root.external_ids = {**root.external_ids, **switch}
        for row in self._idl.tables["Interface"].rows.values():
            if row.name in interfaces:
                row.external_ids = {**row.external_ids, **interfaces[row.name]}
        self._commit(transaction)

    def controller_status(self, bridge: str) -> str:
        """Return the state of the connection to a bridge's controller, in the switch's words; "" where it has none."""
        self._idl.run()
        rows = [row for row in self._idl.tables["Bridge"].rows.values() if row.name == bridge]
        for controller in (controller for row in rows for controller in row.controller):
            return f"{controller.target}: {_words(controller.status) or 'not tried yet'}"
        return ""

    def switch(self) -> SwitchState:
        """Read the switch's state."""
        root = self._root()
        return SwitchState(
            dpdk_version=_optional(root.dpdk_version),
            dpdk_initialized=bool(root.dpdk_initialized),
            interface_types=frozenset(root.iface_types),
        )

    def wait_for_switch(self, *, dpdk: bool = True) -> SwitchState:
        """Wait until the switch has read its settings and started DPDK; one that cannot start DPDK ends.

        Args:
            dpdk: whether it was asked to start DPDK.

        Raises:
            DeployError: it was not ready in time.
        """
        if dpdk:
            self._wait(lambda: self.switch().dpdk_initialized, "the switch did not bring DPDK up")
        else:
            self._wait(lambda: bool(self.switch().interface_types), "the switch did not read its settings")
        return self.switch()

    def wait_until_configured(self) -> None:
        """Wait until the restarted switch has made everything that is in the database.

        Raises:
            DeployError: nothing came in time.
        """
        transaction, root = idl.Transaction(self._idl), self._root()
        # Not increment(): a transaction that does nothing else is not sent.
        root.next_cfg = target = root.next_cfg + 1
        self._commit(transaction)
        self._wait(lambda: self._root().cur_cfg >= target, "the switch did not configure itself again")

    @property
    def other_config(self) -> dict[str, str]:
        """Settings of the whole switch, as they are now."""
        self._idl.run()
        return dict(self._root().other_config)

    def interfaces(self) -> dict[str, InterfaceState]:
        """Read the state of the interfaces, by name."""
        self._idl.run()
        return {row.name: _interface(row) for row in self._idl.tables["Interface"].rows.values()}

    def statuses(self) -> dict[str, dict[str, str]]:
        """Read the status of the interfaces, by name."""
        return {name: state.status for name, state in self.interfaces().items()}

    def _bridge(self, name: str) -> Any:
        row = next((row for row in self._idl.tables["Bridge"].rows.values() if row.name == name), None)
        if row is None:
            raise self._failure(f"there is no bridge {name}", "the database has none of that name")
        return row

    def _insert_port(self, transaction: Any, request: PortRequest) -> Any:
        interface = transaction.insert(self._idl.tables["Interface"])
        interface.name = request.name
        interface.type = request.type
        interface.options = dict(request.options)
        interface.other_config = dict(request.other_config)
        if request.number:
            interface.ofport_request = request.number
        if request.mtu is not None:
            interface.mtu_request = request.mtu
        port = transaction.insert(self._idl.tables["Port"])
        port.name = request.name
        port.interfaces = [interface]
        return port

    def _check_ports(self, requests: Sequence[PortRequest]) -> None:
        states = self.interfaces()
        for request in requests:
            state = states[request.name]
            if state.error or state.number != request.number:
                raise self._failure(
                    f"the switch cannot open port {request.name} ({request.type})",
                    state.error or f"OpenFlow port {state.number} instead of {request.number}",
                )

    def _root(self) -> Any:
        rows = list(self._idl.tables[ROOT].rows.values())
        if not rows:
            raise self._failure("the database is empty", f"no row in {ROOT}")
        return rows[0]

    def _apply(self, transaction: Any, failure: str) -> None:
        """Commit a transaction, and wait until the switch has carried it out."""
        self._root().increment("next_cfg")
        self._commit(transaction)
        target = transaction.get_increment_new_value()
        self._wait(lambda: self._root().cur_cfg >= target, failure)

    def _commit(self, transaction: Any) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (status := transaction.commit()) == idl.Transaction.INCOMPLETE and time.monotonic() < deadline:
            poller = Poller()
            poller.timer_wait(_LOOK_AROUND_MS)
            self._idl.wait(poller)
            transaction.wait(poller)
            poller.block()
            self._idl.run()
        if status != idl.Transaction.SUCCESS:
            observed = f"{idl.Transaction.status_to_string(status)} {transaction.get_error() or ''}"
            raise self._failure("a change of the switch's database failed", observed.strip())

    def _wait(self, condition: Callable[[], bool], failure: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self._idl.run()
            if condition():
                return
            self._check()
            if time.monotonic() > deadline:
                raise self._failure(failure, f"nothing within {PATIENCE_S:g} s")
            poller = Poller()
            poller.timer_wait(_LOOK_AROUND_MS)
            self._idl.wait(poller)
            poller.block()

    def _failure(self, what: str, observed: str) -> DeployError:
        return DeployError(
            what, where=str(self._socket), observed=observed, fix="read ovs-vswitchd.log beside that socket"
        )


def _interface(row: Any) -> InterfaceState:
    return InterfaceState(
        name=row.name,
        number=row.ofport[0] if row.ofport and row.ofport[0] > 0 else None,
        error=_optional(row.error),
        link_up=_optional(row.link_state) == "up",
        status=dict(row.status),
    )


def _optional(value: Sequence[str]) -> str:
    """Return an optional column's value; OVSDB has it as a set of none or one."""
    return value[0] if value else ""


def _words(status: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(status.items()))
