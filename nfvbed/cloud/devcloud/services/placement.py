"""Placement, under uWSGI."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import Endpoint, File, Process, Service
from nfvbed.cloud.devcloud.services.settings import PORTS

_CONFIGURATION = "/etc/placement/placement.conf"
SERVICE = Service(
    "placement",
    files=(
        File(_CONFIGURATION, "placement.conf.j2", "root:placement"),
        File("/etc/placement/devcloud-uwsgi.ini", "placement-uwsgi.ini.j2", "root:placement"),
    ),
    databases=("placement",),
    migrations=(
        Command(
            ("/usr/bin/placement-manage", "--config-file", _CONFIGURATION, "db", "sync"), "placement", timeout_s=180.0
        ),
    ),
    processes=(
        Process("placement-api", ("/usr/bin/uwsgi_python3", "--ini", "/etc/placement/devcloud-uwsgi.ini"), "placement"),
    ),
    endpoints=(Endpoint("placement", PORTS["placement"]),),
    user=True,
)
