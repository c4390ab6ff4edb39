"""Readings of a machine and of the cloud: the forms of sysfs and of the APIs' answers are known here."""

import re
from typing import Any

from keystoneauth1.exceptions import ClientException
from openstack.connection import Connection
from openstack.exceptions import SDKException

from nfvbed.cloud.verify.commands import MachineCommands
from nfvbed.errors import DeployError
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


class MachineReading(Record):
    """What sysfs of a machine says."""

    pages: dict[int, dict[int, tuple[int, int]]]
    """Hugepages: (all, free) by NUMA node and size in KiB."""
    functions: dict[str, int]
    """Virtual functions by the PCI address of their physical function."""


class AgentReading(Record):
    """A Neutron agent, or a Nova service."""

    host: str
    binary: str
    alive: bool
    enabled: bool


class PortReading(Record):
    """A Neutron port of an instance."""

    id: str
    host: str
    status: str
    vif_type: str


class CloudReading(Record):
    """What the cloud's APIs say."""

    agents: tuple[AgentReading, ...]
    services: tuple[AgentReading, ...]
    ports: tuple[PortReading, ...]


def read_machine(commands: MachineCommands) -> MachineReading:
    """Read hugepages and virtual functions of a machine."""
    return machine_of(commands.on_machine(("sh", "-c", _NUMBERS)).out)


def machine_of(text: str) -> MachineReading:
    """Parse the output of `grep -H` on these files."""
    found: dict[int, dict[int, dict[str, int]]] = {}
    for node, size, which, count in _PAGES.findall(text):
        found.setdefault(int(node), {}).setdefault(int(size), {"nr": 0, "free": 0})[which] = int(count)
    pages = {
        node: {size: (count["nr"], count["free"]) for size, count in sizes.items() if count["nr"]}
        for node, sizes in found.items()
    }
    return MachineReading(pages=pages, functions={pci: int(count) for pci, count in _FUNCTIONS.findall(text)})


def read_cloud(connection: Connection) -> CloudReading:
    """Read Neutron's and Nova's state.

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
