"""Open vSwitch with DPDK: no kernel module, bridges of the datapath netdev, guests on vhost-user."""

from nfvbed.sites.openstack.nodes.channel import Command
from nfvbed.sites.openstack.services.service import Folder, Process, Service

DATABASE = "/var/lib/openvswitch/conf.db"
BRIDGES = {"mgmt": "br-mgmt", "data0": "br-data0", "data1": "br-data1", "tenant": "br-tenant"}
"""Of each physical network, by its name in Neutron."""
_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
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
_SWITCH = Process(
    "ovs-vswitchd",
    (
        "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk",
        _SOCKET,
        "--pidfile=/run/openvswitch/ovs-vswitchd.pid",
    ),
)
SERVICE = Service(
    "openvswitch",
    folders=(Folder("/run/openvswitch", "root:root", 0o755), Folder("/var/lib/openvswitch", "root:root", 0o755)),
    processes=(_SERVER, _SWITCH),
)


def create_database() -> Command:
    """Return what makes an empty database."""
    return Command(("/usr/bin/ovsdb-tool", "create", DATABASE, _SCHEMA))


def configure(socket_mem_mib: int, pmd_mask: int) -> Command:
    """Return what says how DPDK is started; before the switch runs.

    Args:
        socket_mem_mib: hugepage memory to begin with.
        pmd_mask: cores of the polling threads.
    """
    settings = {
        "dpdk-init": "true",
        "dpdk-socket-mem": str(socket_mem_mib),
        "dpdk-hugepage-dir": "/dev/hugepages",
        "dpdk-extra": "--no-pci --iova-mode=va",
        "pmd-cpu-mask": hex(pmd_mask),
        # Polling threads may sleep while the cloud has no traffic: they would take a core from its services.
        "pmd-maxsleep": "300",
        "userspace-tso-enable": "false",
        # Else the first port takes 750 MiB: a pool for more packets than all guests here can hold.
        "per-port-memory": "true",
    }
    words = [f'other_config:{key}="{value}"' for key, value in settings.items()]
    return _vsctl("--no-wait", "init", "--", "set", "Open_vSwitch", ".", *words)


def add_bridges() -> Command:
    """Return what makes the physical networks' bridges."""
    words: list[str] = []
    for bridge in BRIDGES.values():
        words += ["--", "--may-exist", "add-br", bridge]
        words += ["--", "set", "Bridge", bridge, "datapath_type=netdev", "fail-mode=secure"]
    return _vsctl(*words[1:])


def dpdk_state() -> Command:
    """Return what prints whether DPDK runs."""
    return _vsctl("get", "Open_vSwitch", ".", "dpdk_initialized")


def _vsctl(*words: str) -> Command:
    return Command(("/usr/bin/ovs-vsctl", "--timeout=20", *words), timeout_s=30.0)
