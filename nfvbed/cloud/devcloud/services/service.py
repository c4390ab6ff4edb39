"""A service of the cloud, declared; how services are started is the same for all, and is elsewhere."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.devcloud.nodes.channel import Command

OWN_USERS_FILE = 0o640


@dataclass(frozen=True)
class File:
    """A file that is rendered from a template."""

    path: str
    """In the node."""
    template: str
    """Its name in `templates/`."""
    owner: str = "root"
    """`user:group`."""
    mode: int = OWN_USERS_FILE
    package: str = __package__
    """Which has that folder: this one, or a data plane's room."""


@dataclass(frozen=True)
class Copy:
    """A file that exists already, and that all users of the node may read."""

    path: str
    """In the node."""
    source: Path
    """On this machine."""


@dataclass(frozen=True)
class Mechanism:
    """A mechanism driver of Neutron's server: it binds the ports of a data plane's instances."""

    name: str
    """Name in Neutron's configuration."""
    entry_point: str = ""
    """`module:Class` of a driver that Neutron does not bring."""
    copies: tuple[Copy, ...] = ()
    """Files that such a driver needs beside Neutron's server."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of its own section in ML2's file, which has its name."""
    service_plugins: tuple[str, ...] = ()
    """Neutron's service plugins, without which it does not come up."""
    forks: bool = False
    """Whether it connects in processes that Neutron's server has started; else the server itself answers requests."""
    services: tuple["Service", ...] = ()
    """What runs on the controller for it; Neutron's server connects to it when it starts."""
    on_demand: bool = False
    """Whether Neutron's server has it only where its compute node is started, for which the server is restarted."""


@dataclass(frozen=True)
class Folder:
    """A folder that the service needs."""

    path: str
    owner: str
    mode: int = 0o750


@dataclass(frozen=True)
class Process:
    """A program that stays in the foreground."""

    name: str
    argv: tuple[str, ...]
    user: str = "root"
    environment: tuple[tuple[str, str], ...] = ()
    after_apis: bool = False
    """It asks APIs when it starts, and ends where they do not answer."""


@dataclass(frozen=True)
class Endpoint:
    """An API in Keystone's catalogue."""

    type: str
    port: int
    path: str = "/"
    """What follows host and port."""


@dataclass(frozen=True)
class Service:
    """One service: what it needs and what it runs."""

    name: str
    files: tuple[File, ...] = ()
    copies: tuple[Copy, ...] = ()
    folders: tuple[Folder, ...] = ()
    databases: tuple[str, ...] = ()
    migrations: tuple[Command, ...] = ()
    """In this order, once the databases are there."""
    processes: tuple[Process, ...] = ()
    """In this order; APIs first, what needs them after."""
    endpoints: tuple[Endpoint, ...] = ()
    user: bool = False
    """Whether it has a user in Keystone, of its name."""
