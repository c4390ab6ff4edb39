"""The content of a VNF's descriptor, of one virtual machine or several, nfvbed's own or foreign.

All three writers (`legacy`, `sol`, `hot`) read this and nothing else, so that their forms cannot drift. A foreign file
is read into the same (`reading`), and passed on as it is.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, Literal

from nfvbed.spec.flavor import Flavor
from nfvbed.spec.vnf import MonitoringSpec, VnfSpec
from nfvbed.vnfs.descriptors.cloudimage import CloudImage

VENDOR = "nfvbed"
SCALING = "machines"
"""What a VNF is scaled by: name of the policy (legacy) and of the aspect (SOL001)."""
_IDENTIFIERS = uuid.UUID("6f0f7b0c-4f0d-5c0e-9c3a-0e5b1a6e8a11")
"""Name space of descriptors' ids."""


def link_name(link: str) -> str:
    """Return the name of a link's node in all forms, and of its network in a stack."""
    return f"VL_{link}"


def group_name(group: str) -> str:
    """Return the name of a placement group's policy, and of its server group."""
    return f"PG_{group}"


@dataclass(frozen=True)
class ConnectionPoint:
    """A port of a virtual machine."""

    name: str
    link: str
    """Name of the link that it is on."""
    network: str
    """Neutron's name of the network."""
    order: int
    """Place among the machine's NICs, from 0; those of the path come first."""
    management: bool
    data: bool
    """Whether the path goes over the link, so that frames with foreign addresses must pass."""
    vnic: str = "normal"
    """Neutron's `binding:vnic_type`; direct: a virtual function. A given file may have others."""
    address: str = ""
    """Fixed address; empty: Neutron's choice, also where the network is the cloud's and the guest sets its own."""


@dataclass(frozen=True)
class Size:
    """A virtual machine's size; None: not given."""

    vcpus: int | None = None
    memory_mib: int | None = None
    disk_gib: int | None = None

    @classmethod
    def of(cls, flavor: Flavor) -> "Size":
        """Return the size that a flavor gives."""
        return cls(flavor.vcpus, flavor.memory_mib, flavor.disk_gib)


@dataclass(frozen=True)
class Machine:
    """A virtual machine of a deployment flavour (VDU)."""

    name: str
    title: str
    flavor: str
    """Nova's name of the flavor; empty: none is named, and Tacker makes one of what is asked for."""
    size: Size
    extra_specs: Mapping[str, str]
    """Nova's, that are asked for: of the flavor."""
    image: CloudImage
    """The image; with an empty name none is named, or it is in a given package."""
    ports: tuple[ConnectionPoint, ...]
    user_data: str = ""
    """What the image reads at its boot; empty: nothing.

    One line of plain words: Tacker passes descriptors on as texts, and heat-translator writes HOT without quotes.
    """
    zone: str = ""
    """Nova's availability zone; empty: any."""
    most_instances: int | None = None
    """Up to how many instances it can be scaled; None: nothing is said of that."""
    monitoring: MonitoringSpec | None = None
    """By which it is respawned; None: it is not. Tacker's legacy API alone has it, and other forms leave it out."""
    is_only: bool = False
    """Whether its VNF has no other machine in any flavour, so that inputs need no machine's name."""
    places: Mapping[str, str] = field(default_factory=dict)
    """File and line of what a given file says of it: by field, extra spec, and connection point."""


@dataclass(frozen=True)
class Subnet:
    """The subnet of a network that is made with the VNF."""

    cidr: IPv4Network | IPv6Network
    pool: tuple[IPv4Address | IPv6Address, IPv4Address | IPv6Address] | None = None
    """Addresses that are left to DHCP, first and last; None: Neutron's choice, as some foreign files leave it."""


@dataclass(frozen=True)
class Link:
    """A network that machines are on (virtual link)."""

    name: str
    network: str
    """Neutron's name of it; empty: the file does not say it."""
    title: str = ""
    made: bool = False
    """Whether it is made with the VNF; else it is the cloud's."""
    subnet: Subnet | None = None
    """None: the network is the cloud's, or a foreign file says nothing of its addresses."""


@dataclass(frozen=True)
class Group:
    """A server group of Nova's."""

    name: str
    policy: Literal["affinity", "anti-affinity"]
    machines: tuple[str, ...]
    """Names of its machines."""
    strict: bool
    """Whether an instance is refused that cannot be placed so."""
    apart_from: tuple[str, ...] = ()
    """Names of groups whose computes are others than this one's."""

    @property
    def nova_policy(self) -> str:
        """Nova's name of the policy."""
        return self.policy if self.strict else f"soft-{self.policy}"


@dataclass(frozen=True)
class Flavour:
    """A deployment flavour: the VNF in one number of machines."""

    name: str
    title: str
    summary: str
    machines: tuple[Machine, ...]
    links: tuple[Link, ...]
    """Those that leave a machine."""
    groups: tuple[Group, ...] = ()

    @property
    def most_instances(self) -> int | None:
        """Up to how many instances a machine of it can be scaled; None: nothing is said of that."""
        return max((one.most_instances for one in self.machines if one.most_instances is not None), default=None)

    @property
    def ports(self) -> tuple[ConnectionPoint, ...]:
        """Connection points of all machines."""
        return tuple(port for machine in self.machines for port in machine.ports)

    @property
    def outer(self) -> tuple[ConnectionPoint, ...]:
        """Connection points on networks of the cloud."""
        given = {link.name for link in self.links if not link.made}
        return tuple(port for port in self.ports if port.link in given)

    def group_of(self, machine: str) -> Group | None:
        """Return the server group of a machine; None: it is in none."""
        return next((group for group in self.groups if machine in group.machines), None)


@dataclass(frozen=True)
class VnfDescriptor:
    """The source of every form of a descriptor."""

    vnf: VnfSpec
    flavours: tuple[Flavour, ...]
    """The first is the default."""
    said: Mapping[str, Any]
    """What was asked for, in JSON's words: the id is made of it."""
    version: str = "1"
    """Version of the VNF's software: the image's."""
    inherits_port_security: bool = False
    """Whether ports of the path say nothing of port security, as their networks have none: to turn it off takes the
    role of an administrator, or the networks to be one's own."""
    purpose: str = ""
    """What separates packages of the same content: Tacker 8.0.0 takes an id once, also when it was deleted."""

    def flavour(self, name: str) -> Flavour:
        """Return the flavour with a name that is known to exist."""
        return next(one for one in self.flavours if one.name == name)

    @property
    def only(self) -> Flavour:
        """The flavour of a descriptor that has one."""
        (found,) = self.flavours
        return found

    @property
    def outer_points(self) -> tuple[str, ...]:
        """Connection points of all flavours on networks of the cloud."""
        return tuple(dict.fromkeys(port.name for flavour in self.flavours for port in flavour.outer))

    @cached_property
    def descriptor_id(self) -> str:
        """Id of the descriptor: the same for the same request. Tacker takes an id once."""
        said = {**self.said, "purpose": self.purpose}
        if self.inherits_port_security:
            said["inherits_port_security"] = True
        return str(uuid.uuid5(_IDENTIFIERS, json.dumps(said, sort_keys=True)))
