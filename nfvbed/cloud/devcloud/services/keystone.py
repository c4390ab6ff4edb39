"""Keystone, under uWSGI."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import Endpoint, File, Folder, Process, Service
from nfvbed.cloud.devcloud.services.settings import LOOPBACK, PORTS, REGION

_MANAGE = "/usr/bin/keystone-manage"
_USER = ("--keystone-user", "keystone", "--keystone-group", "keystone")
SERVICE = Service(
    "keystone",
    files=(
        File("/etc/keystone/keystone.conf", "keystone.conf.j2", "root:keystone"),
        File("/etc/keystone/devcloud-uwsgi.ini", "keystone-uwsgi.ini.j2", "root:keystone"),
    ),
    folders=(Folder("/etc/keystone", "keystone:keystone"),),
    databases=("keystone",),
    migrations=(
        Command((_MANAGE, "db_sync"), "keystone", timeout_s=180.0),
        Command((_MANAGE, "fernet_setup", *_USER)),
        Command((_MANAGE, "credential_setup", *_USER)),
    ),
    processes=(
        Process("keystone", ("/usr/bin/uwsgi_python3", "--ini", "/etc/keystone/devcloud-uwsgi.ini"), "keystone"),
    ),
    endpoints=(Endpoint("identity", PORTS["keystone"]),),
)


def bootstrap(password: str) -> Command:
    """Return the command that makes the administrator; the password is in no argument.

    The address has no `/v3`: clients add one, and fail with two.
    """
    url = f"http://{LOOPBACK}:{PORTS['keystone']}/"
    words = [word for kind in ("admin", "internal", "public") for word in (f"--bootstrap-{kind}-url", url)]
    argv = (_MANAGE, "bootstrap", *words, "--bootstrap-region-id", REGION)
    return Command(argv, environment=(("OS_BOOTSTRAP_PASSWORD", password),))
