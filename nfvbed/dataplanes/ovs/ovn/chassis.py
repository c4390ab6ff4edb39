"""A chassis of a cloud: what OVN's southbound database and its Open vSwitch say of it, and checks of that."""

import re
from collections.abc import Sequence

from nfvbed.cloud.verify.checks import judged
from nfvbed.cloud.verify.commands import MachineCommands
from nfvbed.dataplanes.ovs.switchreading import rows
from nfvbed.records import Record
from nfvbed.records.findings import Finding

_FLOW = re.compile(r"\btable=(\d+),")
_IN_PORT = re.compile(r"\bin_port=\"?([^,\" ]+)")
_KEYS = ("datapath-type", "iface-types", "ovn-bridge-mappings")
"""What Neutron's driver reads of a chassis before it binds a port there."""
_LOGS = "nfvbed devcloud logs"


class BindingReading(Record):
    """A logical port, where it is bound."""

    name: str
    type: str
    """Empty: of an instance."""
    chassis: str
    """Empty: none."""
    up: bool


class ChassisReading(Record):
    """A chassis."""

    hostname: str
    """Empty: it is not registered."""
    own: dict[str, str] = {}
    """What ovn-controller says of itself (`other_config`)."""
    for_neutron: dict[str, str] = {}
    """What Neutron reads (`external_ids`)."""
    bindings: tuple[BindingReading, ...] = ()
    """Bindings of all logical ports."""
    plugged: dict[str, str] = {}
    """The interfaces of instances on its integration bridge by the logical port that they are plugged in for."""
    patches: tuple[str, ...] = ()
    """The logical ports of physical networks that a patch port of the integration bridge is for."""
    flows: dict[int, int] = {}
    """Number of OpenFlow rules by table of the integration bridge."""
    entered: tuple[str, ...] = ()
    """The interfaces whose frames a rule of the first table takes."""


class Chassis:
    """A chassis, through the tools on its machine.

    Args:
        southbound: the southbound database, as OVN's tools take it.
    """

    def __init__(self, name: str, commands: MachineCommands, southbound: str) -> None:
        self._name = name
        self._commands = commands
        self._southbound = southbound

    def publish(self) -> None:
        """Write down what Neutron reads of a chassis where it reads it.

        OVN keeps that in `other_config` since 20.06, and from 22.12 on no longer in `external_ids` as well, where
        Neutron's driver of Zed looks: without it, it binds no port of a physical network, nor one as vhost-user.

        Raises:
            DeployError: the database does not answer, or has no such chassis.
        """
        own = self._chassis()["other_config"]
        words = [f'external_ids:{key}="{own.get(key, "")}"' for key in _KEYS]
        self._ask("set", "Chassis", self._name, *words)

    def read(self, bridge: str) -> ChassisReading:
        """Read it.

        Args:
            bridge: the integration bridge.

        Raises:
            DeployError: a database or the switch does not answer.
        """
        columns = "--columns=_uuid,name,hostname,other_config,external_ids"
        all_chassis = rows(self._ask("--format=json", columns, "list", "Chassis"))
        found = next((one for one in all_chassis if one["name"] == self._name), None)
        names = {_uuid(one["_uuid"]): one["name"] for one in all_chassis}
        bound = rows(self._ask("--format=json", "--columns=logical_port,type,chassis,up", "list", "Port_Binding"))
        interfaces = rows(self._commands.vsctl("--columns=name,ofport,external_ids,error", "list", "Interface"))
        ports = rows(self._commands.vsctl("--columns=name,external_ids", "list", "Port"))
        own = set(self._commands.asked(("ovs-vsctl", "--timeout=20", "list-ports", bridge)).split())
        flows = self._commands.asked(("ovs-ofctl", "--no-names", "dump-flows", bridge))
        numbers = {str(one["ofport"]): one["name"] for one in interfaces if one["name"] in own}
        return ChassisReading(
            hostname=found["hostname"] if found else "",
            own=_texts(found["other_config"]) if found else {},
            for_neutron=_texts(found["external_ids"]) if found else {},
            bindings=tuple(
                BindingReading(
                    name=one["logical_port"],
                    type=one["type"],
                    chassis=names.get(_uuid(one["chassis"]), "") if one["chassis"] else "",
                    up=one["up"] is True,
                )
                for one in bound
            ),
            plugged={
                one["external_ids"]["iface-id"]: one["name"]
                for one in interfaces
                if one["name"] in own and "iface-id" in one["external_ids"]
            },
            patches=tuple(
                sorted(
                    one["external_ids"]["ovn-localnet-port"]
                    for one in ports
                    if one["name"] in own and "ovn-localnet-port" in one["external_ids"]
                )
            ),
            flows=tables_of(flows),
            entered=tuple(sorted(numbers[one] for one in entered_by(flows) if one in numbers)),
        )

    def _chassis(self) -> dict[str, dict[str, str]]:
        shown = self._ask("--format=json", "--columns=other_config", "list", "Chassis", self._name)
        (found,) = rows(shown)
        return found

    def _ask(self, *words: str) -> str:
        return self._commands.asked(("ovn-sbctl", f"--db={self._southbound}", "--timeout=20", *words))


def tables_of(flows: str) -> dict[int, int]:
    """Return the number of rules of each table, from the output of `ovs-ofctl dump-flows`."""
    found: dict[int, int] = {}
    for table in map(int, _FLOW.findall(flows)):
        found[table] = found.get(table, 0) + 1
    return dict(sorted(found.items()))


def entered_by(flows: str) -> frozenset[str]:
    """Return the numbers of the ports whose frames a rule of table 0 takes, from the same output."""
    first = (line for line in flows.splitlines() if "table=0," in line)
    return frozenset(port for line in first for port in _IN_PORT.findall(line))


def check(read: ChassisReading, host: str, mappings: str) -> tuple[Finding, ...]:
    """Check a chassis: registered, its instances' ports bound on it, and rules for their frames.

    Args:
        mappings: of physical networks to bridges, as the chassis was told.
    """
    return (
        judged(
            f"{host}: chassis",
            _wrong_of_chassis(read, host, mappings),
            f"{read.hostname}, with {mappings}",
            "asked OVN's southbound database",
            f"{_LOGS} {host}/ovn-controller; nfvbed deploy writes down again what Neutron reads",
        ),
        judged(
            f"{host}: port bindings",
            _wrong_of_bindings(read, host),
            f"{len(read.plugged)} ports of instances bound and up; physical networks: {len(read.patches)} joined",
            "asked OVN's southbound database and ovsdb",
            f"{_LOGS} {host}/ovn-controller, {_LOGS} ovn-northd, {_LOGS} neutron-server",
        ),
        judged(
            f"{host}: OpenFlow rules",
            _wrong_of_flows(read),
            f"{sum(read.flows.values())} in {len(read.flows)} tables",
            "asked the switch",
            f"{_LOGS} {host}/ovn-controller",
        ),
    )


def _wrong_of_chassis(read: ChassisReading, host: str, mappings: str) -> list[str]:
    if not read.hostname:
        return [f"the southbound database has no chassis {host}"]
    wrong = []
    if read.hostname != host:
        wrong.append(f"its host name is {read.hostname}, and not {host}")
    for where, said in (("it says", read.own), ("Neutron reads", read.for_neutron)):
        found = said.get("ovn-bridge-mappings", "")
        if set(found.split(",")) != set(mappings.split(",")):
            wrong.append(f"{where} ovn-bridge-mappings {found or 'none'}, and not {mappings}")
    return wrong


def _wrong_of_bindings(read: ChassisReading, host: str) -> list[str]:
    known = {one.name: one for one in read.bindings}
    wrong = []
    for port, interface in sorted(read.plugged.items()):
        one = known.get(port)
        if one is None:
            wrong.append(f"{interface} is plugged in for port {port}, which OVN does not have")
        elif one.chassis != host:
            wrong.append(f"port {port} is bound to {one.chassis or 'no chassis'}")
        elif not one.up:
            wrong.append(f"port {port} is bound and not up")
    plugged = set(read.plugged)
    wrong += [
        f"port {one.name} is bound here, and no interface is plugged in for it"
        for one in read.bindings
        if one.chassis == host and not one.type and one.name not in plugged
    ]
    networks = {one.name for one in read.bindings if one.type == "localnet"}
    wrong += [f"patch port for {name}, which no logical switch has" for name in read.patches if name not in networks]
    if read.plugged and not read.patches:
        wrong.append("no physical network is joined to the integration bridge")
    return wrong


def _wrong_of_flows(read: ChassisReading) -> list[str]:
    if not read.flows:
        return ["the integration bridge has no rule: every frame is dropped"]
    missing = sorted(set(read.plugged.values()) - set(read.entered))
    return [f"no rule takes frames of {name}" for name in missing]


def _uuid(value: object) -> str:
    return str(value[1]) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _texts(value: object) -> dict[str, str]:
    return {str(key): str(one) for key, one in value.items()} if isinstance(value, dict) else {}
