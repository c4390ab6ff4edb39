"""What is read of a machine and of the cloud: the forms of Open vSwitch's database and of sysfs are known here."""

import json
import re
from typing import Any

from keystoneauth1.exceptions import ClientException
from openstack.connection import Connection
from openstack.exceptions import SDKException

from nfvbed.cloud.verify.commands import MachineCommands
from nfvbed.dataplanes.ovs.rxq import COMMAND, QueueLoad, parse_loads
from nfvbed.errors import DeployError, InternalError
from nfvbed.records import Record

_SAID = 600
"""Characters of an API's answer that go into a message."""
_NUMBERS = (
    "grep -H . /sys/devices/system/node/node*/hugepages/hugepages-*/nr_hugepages"
    " /sys/devices/system/node/node*/hugepages/hugepages-*/free_hugepages"
    " /sys/bus/pci/devices/*/sriov_numvfs 2>/dev/null; true"
)
_PAGES = re.compile(r"node(\d+)/hugepages/hugepages-(\d+)kB/(nr|free)_hugepages:(\d+)$", re.MULTILINE)
_FUNCTIONS = re.compile(r"devices/([0-9a-f:.]+)/sriov_numvfs:(\d+)$", re.MULTILINE)


class InterfaceReading(Record):
    """An interface of Open vSwitch's."""

    name: str
    type: str
    error: str = ""
    status: dict[str, str] = {}

    @property
    def numa_node(self) -> int | None:
        """NUMA node of its NIC, or of the memory of the guest behind it; None: the switch does not say, or says -1."""
        said = self.status.get("numa_id", self.status.get("numa", ""))
        return int(said) if said.isdigit() else None


class SwitchReading(Record):
    """Open vSwitch of a machine."""

    bridges: dict[str, str]
    """Datapath type by bridge; empty: the kernel's."""
    settings: dict[str, str]
    """`other_config` of the whole switch."""
    interfaces: tuple[InterfaceReading, ...]
    threads: tuple[int, ...]
    """Cores of the polling threads that run."""
    queues: tuple[QueueLoad, ...]
    queues_unread: str = ""
    """Why the queues could not be read; empty: they were."""


class MachineReading(Record):
    """What sysfs of a machine says."""

    pages: dict[int, dict[int, tuple[int, int]]]
    """Hugepages: (all, free) by NUMA node and size in KiB."""
    functions: dict[str, int]
    """Virtual functions by the PCI address of their physical function."""


class AgentReading(Record):
    """An agent of Neutron's, or a service of Nova's."""

    host: str
    binary: str
    alive: bool
    enabled: bool


class PortReading(Record):
    """A port of Neutron's that an instance has."""

    id: str
    host: str
    status: str
    vif_type: str


class CloudReading(Record):
    """What the cloud's APIs say."""

    agents: tuple[AgentReading, ...]
    services: tuple[AgentReading, ...]
    ports: tuple[PortReading, ...]


def read_switch(commands: MachineCommands) -> SwitchReading:
    """Ask a machine's Open vSwitch.

    Raises:
        DeployError: it does not answer.
    """
    bridges = rows(commands.vsctl("--columns=name,datapath_type", "list", "Bridge"))
    (whole,) = rows(commands.vsctl("--columns=other_config", "list", "Open_vSwitch"))
    interfaces = rows(commands.vsctl("--columns=name,type,error,status", "list", "Interface"))
    shown = commands.appctl(COMMAND)
    queues, unread = _queues(shown)
    return SwitchReading(
        bridges={one["name"]: one["datapath_type"] for one in bridges},
        settings=whole["other_config"],
        interfaces=tuple(
            InterfaceReading(name=one["name"], type=one["type"], error=one["error"] or "", status=one["status"])
            for one in interfaces
        ),
        threads=tuple(
            int(core) for core in re.findall(r"^pmd thread numa_id -?\d+ core_id (\d+):", shown, re.MULTILINE)
        ),
        queues=queues,
        queues_unread=unread,
    )


def _queues(shown: str) -> tuple[tuple[QueueLoad, ...], str]:
    """Return the queues, or why they cannot be read: what else a switch says is checked all the same."""
    try:
        return parse_loads(shown).queues, ""
    except InternalError as failure:
        return (), f"{failure.what}: {failure.observed.strip()}"


def read_machine(commands: MachineCommands) -> MachineReading:
    """Read hugepages and virtual functions of a machine."""
    return machine_of(commands.on_machine(("sh", "-c", _NUMBERS)).out)


def machine_of(text: str) -> MachineReading:
    """Read what `grep -H` found of these files."""
    found: dict[int, dict[int, dict[str, int]]] = {}
    for node, size, which, count in _PAGES.findall(text):
        found.setdefault(int(node), {}).setdefault(int(size), {"nr": 0, "free": 0})[which] = int(count)
    pages = {
        node: {size: (count["nr"], count["free"]) for size, count in sizes.items() if count["nr"]}
        for node, sizes in found.items()
    }
    return MachineReading(pages=pages, functions={pci: int(count) for pci, count in _FUNCTIONS.findall(text)})


def read_cloud(connection: Connection) -> CloudReading:
    """Ask Neutron and Nova.

    Raises:
        DeployError: they do not answer, or refuse.
    """
    try:
        return _read_cloud(connection)
    except (SDKException, ClientException) as failure:
        raise DeployError(
            "the cloud's APIs were not read",
            observed=" ".join(str(failure).split())[:_SAID],
            fix="see whether Keystone, Neutron and Nova answer, and whether the account has the role admin",
        ) from failure


def _read_cloud(connection: Connection) -> CloudReading:
    network: Any = connection.network
    compute: Any = connection.compute
    agents = tuple(
        AgentReading(host=one.host, binary=one.binary, alive=bool(one.is_alive), enabled=bool(one.is_admin_state_up))
        for one in network.agents()
    )
    services = tuple(
        AgentReading(host=one.host, binary=one.binary, alive=one.state == "up", enabled=one.status == "enabled")
        for one in compute.services()
    )
    ports = tuple(
        PortReading(id=one.id, host=one.binding_host_id or "", status=one.status, vif_type=one.binding_vif_type or "")
        for one in network.ports()
        if (one.device_owner or "").startswith("compute:")
    )
    return CloudReading(agents=agents, services=services, ports=ports)


def rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of a table of Open vSwitch's database, in the JSON that `ovs-vsctl` writes (RFC 7047, 5.1)."""
    table = json.loads(text)
    return [dict(zip(table["headings"], map(_value, row), strict=True)) for row in table["data"]]


def _value(value: Any) -> Any:
    """Return a map as one, a set of one value or none as that, and all others as they are."""
    if isinstance(value, list) and value[:1] == ["map"]:
        return {str(key): _value(one) for key, one in value[1]}
    if isinstance(value, list) and value[:1] == ["set"]:
        values = [_value(one) for one in value[1]]
        return values if len(values) > 1 else (values[0] if values else None)
    return value
