"""Tacker 8.0.0 from PyPI: the last release but two with the legacy API, and it has the SOL one too."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import Endpoint, File, Folder, Process, Service
from nfvbed.cloud.devcloud.services.settings import PORTS

_CONFIGURATION = ("--config-file", "/etc/tacker/tacker.conf")
SERVICE = Service(
    "tacker",
    files=(File("/etc/tacker/tacker.conf", "tacker.conf.j2", "root:tacker"),),
    folders=(
        Folder("/etc/tacker/vim/fernet_keys", "tacker:tacker", 0o700),
        Folder("/var/lib/tacker/csar_files", "tacker:tacker"),
        Folder("/var/lib/tacker/vnfpackages", "tacker:tacker"),
    ),
    databases=("tacker",),
    migrations=(
        Command(("/opt/tacker/bin/tacker-db-manage", *_CONFIGURATION, "upgrade", "head"), "tacker", timeout_s=300.0),
    ),
    processes=(
        Process("tacker-server", ("/opt/tacker/bin/tacker-server", *_CONFIGURATION), "tacker"),
        Process("tacker-conductor", ("/opt/tacker/bin/tacker-conductor", *_CONFIGURATION), "tacker", after_apis=True),
    ),
    endpoints=(
        Endpoint("nfv-orchestration", PORTS["tacker"]),
        # Deletion of a legacy VNF asks the catalogue for this one, and hangs in PENDING_DELETE where it is not.
        Endpoint("maintenance", PORTS["tacker"], "/maintenance"),
    ),
    user=True,
)
