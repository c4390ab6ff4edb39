"""The values for templates: addresses, ports and passwords of one cloud."""

import json
import os
import secrets
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.cloud.devcloud.services.service import File, Mechanism

REGION = "RegionOne"
LOOPBACK = "127.0.0.1"
MESSAGES_PORT = 5672
"""Port of RabbitMQ."""
_ABOVE = int(os.environ.get("NFVBED_DEVCLOUD_PORTS_ABOVE", "10000"))
_USUAL = {
    "keystone": 5000,
    "glance": 9292,
    "placement": 8778,
    "nova": 8774,
    "neutron": 9696,
    "heat": 8004,
    "heat-cfn": 8000,
    "tacker": 9890,
    "horizon": 8080,
}
DASHBOARD_PORT = int(os.environ.get("NFVBED_DASHBOARD_PORT", "8080"))
"""Port of nfvbed's own dashboard on this machine's loopback, which Horizon's panel asks and leads to."""
PORTS = {name: port + _ABOVE for name, port in _USUAL.items()}
"""Ports of the APIs: ten thousand above the default ones, so that they are free on this machine's loopback too. Two
clouds on one machine have different ones, by the environment variable NFVBED_DEVCLOUD_PORTS_ABOVE."""
SWITCH_PAGES = 256
"""Hugepages of 2 MiB that Open vSwitch may take: 256 MiB to begin with, more where there are many ports."""
PORT_CHAINS = ("flow_classifier", "sfc")
"""Service plugins of networking-sfc."""
OWN_MECHANISM = Mechanism("openvswitch")
"""Mechanism driver of the controller's own switch."""


@dataclass
class Secrets:
    """Passwords, each made when it is first needed, in a file that only its owner can read."""

    path: Path
    _known: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> "Secrets":
        """Read the passwords; none where there is no file yet."""
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
    """The settings of one cloud."""

    secret: Secrets
    host: str = "controller"
    reserved_pages: int = SWITCH_PAGES
    """Hugepages of 2 MiB of this machine that no guest on this host is promised."""
    mechanisms: tuple[Mechanism, ...] = ()
    """Mechanism drivers of the computes beside the controller."""
    port_chains: bool = False
    """Whether Neutron has networking-sfc, which makes chains of ports on networks of type `vxlan`."""

    @property
    def mechanism_drivers(self) -> tuple[str, ...]:
        """Neutron's mechanism drivers, in the order in which they are asked to bind a port."""
        return tuple(dict.fromkeys(one.name for one in (OWN_MECHANISM, *self.mechanisms)))

    @property
    def service_plugins(self) -> tuple[str, ...]:
        """Neutron's service plugins."""
        chains = PORT_CHAINS if self.port_chains else ()
        return ("qos", *chains, *dict.fromkeys(name for one in self.mechanisms for name in one.service_plugins))

    @property
    def api_workers(self) -> int:
        """Processes that answer Neutron's requests; 0: the server itself, which is smaller."""
        return int(any(one.forks for one in self.mechanisms))

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
        return f"rabbit://nfvbed:{self.secret('rabbitmq')}@{LOOPBACK}:{MESSAGES_PORT}/"

    def render(self, file: File, **more: object) -> str:
        """Return a rendered file.

        Args:
            more: values for this template beside those for all.
        """
        return (
            _templates(file.package)
            .get_template(file.template)
            .render(
                cloud=self,
                secret=self.secret,
                ports=PORTS,
                address=LOOPBACK,
                region=REGION,
                dashboard_port=DASHBOARD_PORT,
                **more,
            )
        )


@cache
def _templates(package: str) -> Environment:
    return Environment(
        loader=PackageLoader(package, "templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
