"""Heat: both of its APIs, since stacks of scaling groups call the second, and one engine."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import Endpoint, File, Folder, Process, Service
from nfvbed.cloud.devcloud.services.settings import PORTS

DOMAIN = "heat"
DOMAIN_ADMIN = "heat_domain_admin"
SERVICE = Service(
    "heat",
    files=(
        File("/etc/heat/heat.conf", "heat.conf.j2", "root:heat"),
        File("/etc/heat/environment.d/devcloud.yaml", "heat-environment.yaml.j2", "root:heat"),
        File("/usr/lib/heat/nfvbed_notifications.py", "heat-plugin.py.j2", "root:heat"),
    ),
    folders=(Folder("/usr/lib/heat", "root:heat"),),
    databases=("heat",),
    migrations=(Command(("/usr/bin/heat-manage", "db_sync"), "heat", timeout_s=300.0),),
    processes=(
        Process("heat-engine", ("/usr/bin/heat-engine",), "heat"),
        Process("heat-api", ("/usr/bin/heat-api",), "heat"),
        Process("heat-api-cfn", ("/usr/bin/heat-api-cfn",), "heat"),
    ),
    endpoints=(
        Endpoint("orchestration", PORTS["heat"], "/v1/%(tenant_id)s"),
        Endpoint("cloudformation", PORTS["heat-cfn"], "/v1"),
    ),
    user=True,
)
