"""Neutron: ML2 on Open vSwitch's userspace datapath, with a DHCP agent; and agents for compute nodes."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services import library
from nfvbed.cloud.devcloud.services.service import Endpoint, File, Folder, Process, Service
from nfvbed.cloud.devcloud.services.settings import PORTS

SERVER = ("--config-file", "/etc/neutron/neutron.conf")
_ML2 = "/etc/neutron/plugins/ml2/ml2_conf.ini"
_AGENT = "/etc/neutron/plugins/ml2/openvswitch_agent.ini"
_DHCP = "/etc/neutron/dhcp_agent.ini"
_DRIVER = f"{library.FOLDER}/nfvbed-0.1.0.dist-info"
"""Neutron finds mechanism drivers by the entry points of what is installed."""
SERVICE = Service(
    "neutron",
    files=(
        File("/etc/neutron/neutron.conf", "neutron.conf.j2", "root:neutron"),
        File(_ML2, "ml2_conf.ini.j2", "root:neutron"),
        File(_AGENT, "openvswitch_agent.ini.j2", "root:neutron"),
        File(_DHCP, "dhcp_agent.ini.j2", "root:neutron"),
        File(f"{_DRIVER}/entry_points.txt", "neutron-entry-points.txt.j2", "root:neutron"),
        File(f"{_DRIVER}/METADATA", "neutron-metadata.txt.j2", "root:neutron"),
    ),
    folders=(Folder("/var/lib/neutron", "neutron:neutron", 0o755),),
    databases=("neutron",),
    migrations=(
        Command(
            ("/usr/bin/neutron-db-manage", *SERVER, "--config-file", _ML2, "upgrade", "heads"),
            "neutron",
            library.ENVIRONMENT,
            timeout_s=300.0,
        ),
    ),
    processes=(
        Process(
            "neutron-server",
            ("/usr/bin/neutron-server", *SERVER, "--config-file", _ML2),
            "neutron",
            library.ENVIRONMENT,
        ),
        Process(
            "neutron-openvswitch-agent",
            ("/usr/bin/neutron-openvswitch-agent", *SERVER, "--config-file", _AGENT),
            after_apis=True,
        ),
        Process(
            "neutron-dhcp-agent", ("/usr/bin/neutron-dhcp-agent", *SERVER, "--config-file", _DHCP), after_apis=True
        ),
    ),
    endpoints=(Endpoint("network", PORTS["neutron"]),),
    user=True,
)


def agent(kind: str, package: str = __package__) -> Service:
    """Return one of Neutron's own agents, for a node with a compute service and no server.

    Args:
        kind: `X` of `neutron-X-agent`.
        package: the one with the template of the agent's file.
    """
    program, file = f"neutron-{kind}-agent", f"/etc/neutron/plugins/ml2/{kind}_agent.ini"
    return Service(
        "neutron",
        files=(
            File("/etc/neutron/neutron.conf", "neutron-of-agent.conf.j2", "root:neutron"),
            File(file, f"{kind}_agent.ini.j2", "root:neutron", package=package),
        ),
        folders=(Folder("/var/lib/neutron", "neutron:neutron", 0o755),),
        processes=(Process(program, (f"/usr/bin/{program}", *SERVER, "--config-file", file), after_apis=True),),
    )
