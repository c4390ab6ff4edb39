"""What the descriptor of a VNF of several machines is made from; both forms read this and nothing else."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from nfvbed.spec.flavor import Flavor
from nfvbed.spec.machines import LinkSpec, MachinesVnfSpec, PlacementSpec
from nfvbed.vnfs.descriptors.model import CloudImage, DescriptorPort, id_of


@dataclass(frozen=True)
class MachinePort(DescriptorPort):
    """A port of one machine, on a link."""

    link: str = ""
    """Name of the link."""
    address: str = ""
    """Fixed address; empty: Neutron's choice, also where the network is the cloud's and the guest sets its own."""
    data: bool = False
    """Whether the path goes over the link, so that frames with foreign addresses must pass."""


@dataclass(frozen=True)
class Machine:
    """A virtual machine of a deployment flavour (VDU)."""

    name: str
    title: str
    flavor: Flavor
    extra_specs: Mapping[str, str]
    image: CloudImage
    ports: tuple[MachinePort, ...]
    user_data: str
    zone: str = ""
    """Nova's availability zone; empty: any."""


@dataclass(frozen=True)
class Link:
    """A network between machines of a deployment flavour."""

    spec: LinkSpec
    network: str
    """Neutron's name of it."""
    made: bool
    """Whether it is made with the VNF."""


@dataclass(frozen=True)
class Group:
    """A server group of Nova's."""

    spec: PlacementSpec
    strict: bool
    """Whether an instance is refused that cannot be placed so."""

    @property
    def machines(self) -> tuple[str, ...]:
        """Names of its machines."""
        return self.spec.machines

    @property
    def policy(self) -> str:
        """Nova's name of the policy."""
        return self.spec.policy if self.strict else f"soft-{self.spec.policy}"


@dataclass(frozen=True)
class Flavour:
    """A deployment flavour: the VNF in one number of machines."""

    name: str
    title: str
    machines: tuple[Machine, ...]
    links: tuple[Link, ...]
    """Those that leave a machine."""
    groups: tuple[Group, ...]

    @property
    def outer(self) -> tuple[MachinePort, ...]:
        """Ports on networks of the cloud."""
        given = {link.spec.name for link in self.links if not link.made}
        return tuple(port for machine in self.machines for port in machine.ports if port.link in given)

    def group_of(self, machine: str) -> Group | None:
        """Return the server group of a machine; None: it is in none."""
        return next((group for group in self.groups if machine in group.machines), None)


@dataclass(frozen=True)
class MachinesRequest:
    """All that the descriptor is made from."""

    vnf: MachinesVnfSpec
    flavours: tuple[Flavour, ...]
    version: str = "1"
    """Of its software."""
    inherits_port_security: bool = False
    """Whether ports of the path say nothing of port security, as their networks have none."""
    purpose: str = ""
    """What separates packages of the same content: Tacker 8.0.0 takes an id once, also when it was deleted."""

    def flavour(self, name: str) -> Flavour:
        """Return the flavour of a name, which is known."""
        return next(one for one in self.flavours if one.name == name)

    @property
    def flavour_ids(self) -> tuple[str, ...]:
        """Ids of its deployment flavours."""
        return tuple(one.name for one in self.flavours)

    @property
    def flavour_title(self) -> str:
        """Description of the default flavour."""
        return self.flavours[0].title

    @property
    def outer_points(self) -> tuple[str, ...]:
        """Connection points of all flavours on networks of the cloud."""
        return tuple(dict.fromkeys(port.name for flavour in self.flavours for port in flavour.outer))

    @cached_property
    def descriptor_id(self) -> str:
        """Id of the descriptor: the same for the same request. Tacker takes an id once."""
        return id_of(
            {
                "vnf": self.vnf.model_dump(mode="json"),
                "flavours": [_plain(asdict(flavour)) for flavour in self.flavours],
                "version": self.version,
                "inherits_port_security": self.inherits_port_security,
                "purpose": self.purpose,
            }
        )


def _plain(data: Any) -> Any:
    """Return data with models in JSON's words."""
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(one) for one in data]
    if isinstance(data, Flavor | LinkSpec | PlacementSpec):
        return data.model_dump(mode="json")
    return data if isinstance(data, str | int | float | bool | None) else str(data)


@dataclass(frozen=True)
class Given:
    """What a cloud, or a command, gives to a VNF of several machines."""

    flavors: Mapping[str, Flavor]
    """By name; all that its machines name."""
    image: CloudImage
    """Of machines that have none of their own."""
    own_images: Mapping[str, CloudImage] = field(default_factory=dict)
    """Of machines that have one, by machine or guest."""
    networks: Mapping[str, str] = field(default_factory=dict)
    """The cloud's, by link; a link that is named here is not made."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """Availability zones, by placement group."""
    soft: bool = False
    """Whether placement is wished and not required: for a site with one compute."""
    direct: bool = False
    """Whether data ports are virtual functions."""
