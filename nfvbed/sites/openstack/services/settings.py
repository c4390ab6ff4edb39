"""What templates are rendered with: addresses, ports and passwords of one cloud."""

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from nfvbed.sites.openstack.places import write_private
from nfvbed.sites.openstack.services.service import File

REGION = "RegionOne"
LOOPBACK = "127.0.0.1"
PORTS = {
    "keystone": 15000,
    "glance": 19292,
    "placement": 18778,
    "nova": 18774,
    "neutron": 19696,
    "heat": 18004,
    "heat-cfn": 18000,
    "tacker": 19890,
    "horizon": 18080,
}
"""Of the APIs: ten thousand above the usual ones, so that they are free on this machine's loopback too."""
_TEMPLATES = Environment(
    loader=PackageLoader("nfvbed.sites.openstack.services", "templates"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)


@dataclass
class Secrets:
    """Passwords, each made when it is first asked for, and kept in a file that only its owner can read."""

    path: Path
    _known: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> "Secrets":
        """Read them; none yet where there is no file."""
        known = json.loads(path.read_text()) if path.is_file() else {}
        return cls(path, known)

    def __call__(self, name: str) -> str:
        """Return the password of that name."""
        if name not in self._known:
            self._known[name] = secrets.token_hex(16)
            write_private(self.path, json.dumps(self._known, indent=1))
        return self._known[name]


@dataclass(frozen=True)
class CloudSettings:
    """One cloud's."""

    secret: Secrets
    host: str = "controller"
    switch_pages: int = 192
    """Hugepages of 2 MiB that the switch may take: 256 MiB to begin with, more where there are many ports."""

    @property
    def auth_url(self) -> str:
        """Keystone's address, without a version."""
        return f"http://{LOOPBACK}:{PORTS['keystone']}"

    def database(self, name: str, user: str = "") -> str:
        """Return the URL of a database, as oslo.db reads it."""
        user = user or name
        return f"mysql+pymysql://{user}:{self.secret('database ' + user)}@{LOOPBACK}/{name}?charset=utf8"

    def messages(self) -> str:
        """Return the URL of RabbitMQ, as oslo.messaging reads it."""
        return f"rabbit://nfvbed:{self.secret('rabbitmq')}@{LOOPBACK}:5672/"

    def render(self, file: File) -> str:
        """Return a file's content."""
        return _TEMPLATES.get_template(file.template).render(
            cloud=self, secret=self.secret, ports=PORTS, address=LOOPBACK, region=REGION
        )
