"""Nova: one cell, one compute service beside the APIs, others on nodes of their own."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import Endpoint, File, Folder, Process, Service
from nfvbed.cloud.devcloud.services.settings import PORTS

GUEST_RING_SIZE = 1024
"""Ring size of guests' vhost-user ports, descriptors (`rx_queue_size`)."""
_MANAGE = "/usr/bin/nova-manage"
_CONTROL = ("--config-file", "/etc/nova/nova.conf")
_COMPUTE = (*_CONTROL, "--config-file", "/etc/nova/nova-compute.conf")


def _manage(*words: str) -> Command:
    return Command((_MANAGE, *words), "nova", timeout_s=300.0)


_COMPUTE_FILE = File("/etc/nova/nova-compute.conf", "nova-compute.conf.j2", "root:nova")
_COMPUTE_PROCESS = Process("nova-compute", ("/usr/bin/nova-compute", *_COMPUTE), after_apis=True)
_INSTANCES = Folder("/var/lib/nova/instances", "nova:nova", 0o755)
SERVICE = Service(
    "nova",
    files=(
        File("/etc/nova/nova.conf", "nova.conf.j2", "root:nova"),
        _COMPUTE_FILE,
    ),
    folders=(_INSTANCES,),
    databases=("nova_api", "nova", "nova_cell0"),
    migrations=(
        _manage("api_db", "sync"),
        _manage("cell_v2", "map_cell0"),
        _manage("db", "sync"),
        _manage("cell_v2", "create_cell", "--name=cell1"),
    ),
    processes=(
        Process("nova-conductor", ("/usr/bin/nova-conductor", *_CONTROL), "nova"),
        Process("nova-scheduler", ("/usr/bin/nova-scheduler", *_CONTROL), "nova"),
        Process("nova-api", ("/usr/bin/nova-api", *_CONTROL), "nova"),
        _COMPUTE_PROCESS,
    ),
    endpoints=(Endpoint("compute", PORTS["nova"], "/v2.1"),),
    user=True,
)
COMPUTE = Service(
    "nova",
    files=(File("/etc/nova/nova.conf", "nova-of-compute.conf.j2", "root:nova"), _COMPUTE_FILE),
    folders=(_INSTANCES,),
    processes=(_COMPUTE_PROCESS,),
)
"""On a node of its own."""


def discover_hosts() -> Command:
    """Return the command that tells the scheduler of new computes."""
    return _manage("cell_v2", "discover_hosts")
