"""Userspace Open vSwitch: no kernel module, bridges of datapath netdev; with DPDK, guests on vhost-user."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.nodes.inside import file_in
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.services.service import Folder, Process, Service

DATABASE = "/var/lib/openvswitch/conf.db"
BRIDGES = {"mgmt": "br-mgmt", "data0": "br-data0", "data1": "br-data1", "tenant": "br-tenant"}
"""Bridge of each physical network, by the network's name in Neutron."""
SOCKET_MEM_MIB = 256
"""Hugepage memory of a switch with DPDK at its start."""
_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
_DPDK = "dpdk-init"
_SOCKET = "unix:/run/openvswitch/db.sock"
_SERVER = Process(
    "ovsdb-server",
    (
        "/usr/sbin/ovsdb-server",
        DATABASE,
        "--remote=punix:/run/openvswitch/db.sock",
        "--remote=ptcp:6640:127.0.0.1",
        "--remote=db:Open_vSwitch,Open_vSwitch,manager_options",
        "--pidfile=/run/openvswitch/ovsdb-server.pid",
    ),
)
PROGRAM = "ovs-vswitchd-dpdk"
"""Program of the daemon; its control socket has the same name, with the daemon's id."""
_PID_FILE = "/run/openvswitch/ovs-vswitchd.pid"
_SWITCH = Process(
    "ovs-vswitchd",
    (f"/usr/lib/openvswitch-switch-dpdk/{PROGRAM}", _SOCKET, f"--pidfile={_PID_FILE}"),
)
SERVICE = Service(
    "openvswitch",
    folders=(Folder("/run/openvswitch", "root:root", 0o755), Folder("/var/lib/openvswitch", "root:root", 0o755)),
    processes=(_SERVER, _SWITCH),
)


@dataclass(frozen=True)
class SwitchSetup:
    """What the switch of a compute node has before Neutron's agent comes to it."""

    dpdk: bool = False
    """Whether it has DPDK: guests on vhost-user, and hugepages of its own."""
    learning: bool = False
    """Whether the bridges of physical networks learn addresses by themselves; else Neutron's agent writes their
    rules, and without it they pass no frame."""
    external_ids: tuple[tuple[str, str], ...] = ()
    """What the agent reads there."""


PLAIN = SwitchSetup()
"""Without DPDK, with Neutron's Open vSwitch agent."""


def control_socket(node: Node) -> str:
    """Return the node's path of the daemon's control socket, whose name has the daemon's id there."""
    pid = file_in(node, _PID_FILE).read_text().strip()
    return f"/run/openvswitch/{PROGRAM}.{pid}.ctl"


def create_database() -> Command:
    """Return the command that makes an empty database."""
    return Command(("/usr/bin/ovsdb-tool", "create", DATABASE, _SCHEMA))


def dpdk_settings(socket_mem_mib: int, pmd_mask: int) -> dict[str, str]:
    """Return the settings (`other_config`) of a switch with DPDK at its start.

    Args:
        socket_mem_mib: hugepage memory at the start.
        pmd_mask: cores of the polling threads, as a bit mask.
    """
    return {
        _DPDK: "true",
        "dpdk-socket-mem": str(socket_mem_mib),
        "dpdk-hugepage-dir": "/dev/hugepages",
        "dpdk-extra": "--no-pci --iova-mode=va",
        "userspace-tso-enable": "false",
        # Else the first port takes 750 MiB: a pool for more packets than all guests here can hold.
        "per-port-memory": "true",
        **plain_settings(pmd_mask),
    }


def plain_settings(pmd_mask: int) -> dict[str, str]:
    """Return the settings (`other_config`) of a switch without DPDK at its start.

    Args:
        pmd_mask: cores of the polling threads, as a bit mask.
    """
    return {
        "pmd-cpu-mask": hex(pmd_mask),
        # Polling threads may sleep while the cloud has no traffic: they would take a core from its services.
        "pmd-maxsleep": "300",
    }


def with_dpdk(settings: Mapping[str, str]) -> bool:
    """Return whether a switch with these settings has DPDK."""
    return settings.get(_DPDK) == "true"


def configure(settings: Mapping[str, str]) -> Command:
    """Return the command that sets `other_config` before the switch runs."""
    words = [f'other_config:{key}="{value}"' for key, value in settings.items()]
    return _vsctl("--no-wait", "init", "--", "set", "Open_vSwitch", ".", *words)


def identify(setup: SwitchSetup) -> Command:
    """Return the command that sets what the agent reads (`external_ids`), before the switch runs."""
    words = [f'external_ids:{key}="{value}"' for key, value in setup.external_ids]
    return _vsctl("--no-wait", "set", "Open_vSwitch", ".", *words)


def add_bridges(setup: SwitchSetup) -> Command:
    """Return the command that makes the physical networks' bridges."""
    words: list[str] = []
    fail_mode = "standalone" if setup.learning else "secure"
    for bridge in BRIDGES.values():
        words += ["--", "--may-exist", "add-br", bridge]
        words += ["--", "set", "Bridge", bridge, "datapath_type=netdev", f"fail-mode={fail_mode}"]
    return _vsctl(*words[1:])


def add_port(bridge: str, device: str) -> Command:
    """Return the command that adds a network device to a bridge."""
    return _vsctl("--may-exist", "add-port", bridge, device)


def dpdk_state() -> Command:
    """Return the command that prints whether DPDK runs."""
    return _vsctl("get", "Open_vSwitch", ".", "dpdk_initialized")


def _vsctl(*words: str) -> Command:
    return Command(("/usr/bin/ovs-vsctl", "--timeout=20", *words), timeout_s=30.0)
