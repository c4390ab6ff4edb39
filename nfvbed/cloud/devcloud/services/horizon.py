"""Horizon, under uWSGI, with nfvbed's panel."""

from nfvbed.cloud.devcloud.services import library
from nfvbed.cloud.devcloud.services.service import File, Process, Service

SERVICE = Service(
    "horizon",
    files=(
        File("/etc/openstack-dashboard/local_settings.d/_99_devcloud.py", "horizon.py.j2", "root:www-data"),
        File("/etc/openstack-dashboard/devcloud-uwsgi.ini", "horizon-uwsgi.ini.j2", "root:www-data"),
    ),
    copies=library.PANEL,
    processes=(
        Process(
            "horizon",
            ("/usr/bin/uwsgi_python3", "--ini", "/etc/openstack-dashboard/devcloud-uwsgi.ini"),
            "www-data",
            library.ENVIRONMENT,
        ),
    ),
)
