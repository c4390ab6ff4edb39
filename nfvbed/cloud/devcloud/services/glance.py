"""Glance, with images in files."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import Endpoint, File, Folder, Process, Service
from nfvbed.cloud.devcloud.services.settings import PORTS

SERVICE = Service(
    "glance",
    files=(File("/etc/glance/glance-api.conf", "glance-api.conf.j2", "root:glance"),),
    folders=(Folder("/var/lib/glance/images", "glance:glance"),),
    databases=("glance",),
    migrations=(Command(("/usr/bin/glance-manage", "db_sync"), "glance", timeout_s=180.0),),
    processes=(Process("glance-api", ("/usr/bin/glance-api",), "glance"),),
    endpoints=(Endpoint("image", PORTS["glance"]),),
    user=True,
)
