"""What a descriptor of one VNF is made from. Both forms read this and nothing else, so that they cannot drift."""

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from nfvbed.cloud.novaflavor import PREFIX
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.machines import DEFAULT_FLAVOUR
from nfvbed.spec.textfile import read_text, require_file
from nfvbed.spec.validate import suggestion
from nfvbed.spec.vnf import AS_THE_IMAGE, Forwarding, VnfChoice, VnfSpec

VDU = "VDU1"
"""Name of the virtual machine in both forms."""
SCALING = "machines"
"""What a VNF is scaled by: name of the policy (legacy) and of the aspect (SOL001)."""
VENDOR = "nfvbed"
FORWARD_WORD = "vloop.forward="
"""Word of the image's agent, on the kernel's command line and in user data (`images/README.md`)."""
_NEEDS_MORE = {
    "router": "a router needs addresses and routes, which no descriptor carries",
    "xdp": "it is done by processes, and not by the image",
}
_IDENTIFIERS = uuid.UUID("6f0f7b0c-4f0d-5c0e-9c3a-0e5b1a6e8a11")
"""Name space of descriptors' ids."""
_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class DescriptorPort:
    """A port of the VNF, on a network of the cloud."""

    name: str
    """Name of the connection point in both forms: the port's in `vnf.yml`."""
    network: str
    """Neutron's name of the network."""
    order: int
    """Place among the instance's NICs, from 0; those of the path come first."""
    management: bool
    vnic: Literal["normal", "direct"] = "normal"
    """Neutron's `binding:vnic_type`; direct: a virtual function."""


@dataclass(frozen=True)
class DescriptorRequest:
    """All that a descriptor of one VNF is made from."""

    vnf: VnfSpec
    flavor: Flavor
    forwarding: Forwarding
    ports: tuple[DescriptorPort, ...]
    image: str
    """Glance's name of the image; in a package with an image: the name that it gets."""
    image_file: Path | None = None
    """Image to be put into the package; None: Glance has one of that name."""
    checksums: Mapping[str, str] = field(default_factory=dict)
    """Of the image, by algorithm: `sha256`, `sha512`."""
    availability_zone: str = ""
    """Nova's; empty: any."""
    extra_specs: Mapping[str, str] = field(default_factory=dict)
    """Nova's extra specs of the flavor."""
    most_instances: int = 1
    """Up to how many instances the VNF can be scaled; 1: it cannot."""
    version: str = "1"
    """Of the VNF's software: the image's."""
    agent: bool = True
    """Whether the image reads how it is to forward."""
    inherits_port_security: bool = False
    """Whether ports of the path say nothing of port security, as their networks have none: to turn it off takes the
    role of an administrator, or the networks to be one's own."""
    purpose: str = ""
    """What separates packages of the same content: Tacker 8.0.0 takes an id once, also when it was deleted."""

    @property
    def flavor_name(self) -> str:
        """Nova's name of the flavor."""
        return PREFIX + self.flavor.name

    @property
    def user_data(self) -> str:
        """What the image reads at its boot; empty: it is asked for nothing.

        One line of plain words: heat-translator writes HOT without quotes, and Tacker passes descriptors on as texts.
        """
        return f"{FORWARD_WORD}{self.forwarding}" if self.agent and self.forwarding != AS_THE_IMAGE else ""

    @property
    def networks(self) -> tuple[str, ...]:
        """Names of the networks, each once, in the order of the ports."""
        return tuple(dict.fromkeys(port.network for port in self.ports))

    @property
    def flavour_ids(self) -> tuple[str, ...]:
        """Ids of its deployment flavours: there is one."""
        return (DEFAULT_FLAVOUR,)

    @property
    def flavour_title(self) -> str:
        """Description of the flavour."""
        return self.flavor.title

    @property
    def outer_points(self) -> tuple[str, ...]:
        """Connection points, all of which are on networks of the cloud."""
        return tuple(port.name for port in self.ports)

    @property
    def descriptor_id(self) -> str:
        """Id of the descriptor: the same for the same request. Tacker takes an id once."""
        said: dict[str, Any] = {
            "vnf": self.vnf.model_dump(mode="json"),
            "flavor": self.flavor.model_dump(mode="json"),
            "forwarding": self.forwarding,
            "ports": [vars(port) for port in self.ports],
            "image": [self.image, self.image_file is not None, dict(self.checksums), self.agent, self.version],
            "zone": self.availability_zone,
            "extra_specs": dict(self.extra_specs),
            "most": self.most_instances,
            "purpose": self.purpose,
        }
        if self.inherits_port_security:
            said["inherits_port_security"] = True
        return id_of(said)


def id_of(said: Mapping[str, Any]) -> str:
    """Return the id of a descriptor that says this."""
    return str(uuid.uuid5(_IDENTIFIERS, json.dumps(said, sort_keys=True)))


@dataclass(frozen=True)
class CloudImage:
    """The image that a descriptor names."""

    name: str
    file: Path | None = None
    """To be packed; None: Glance has it."""
    checksums: Mapping[str, str] = field(default_factory=dict)
    version: str = "1"


def checksums(path: Path) -> dict[str, str]:
    """Return the digests of an image, as Glance and SOL001 want them.

    Raises:
        ConfigurationError: it cannot be read.
    """
    found = {"sha256": hashlib.sha256(), "sha512": hashlib.sha512()}
    with _opened(path) as file:
        while piece := file.read(_CHUNK):
            for digest in found.values():
                digest.update(piece)
    return {name: digest.hexdigest() for name, digest in found.items()}


def read_image(path: Path) -> bytes:
    """Return an image's content.

    Raises:
        ConfigurationError: it cannot be read.
    """
    with _opened(path) as file:
        return file.read()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        require_file(path)
        with path.open("rb") as file:
            yield file
    except (OSError, ConfigurationError) as failure:
        observed = failure.observed if isinstance(failure, ConfigurationError) else failure.strerror
        raise ConfigurationError(
            "the image cannot be read",
            where=str(path),
            observed=observed or str(failure),
            fix="make images, or name another image",
        ) from failure


def version_of(path: Path) -> str:
    """Return the version of an image that was built here, from the file beside it; `1` of any other."""
    try:
        found = json.loads(read_text(path.with_suffix(".json")))
    except (ConfigurationError, ValueError, RecursionError):
        return "1"
    return str(found.get("version", "1")) if isinstance(found, dict) else "1"


def request_of(
    choice: VnfChoice,
    networks: Mapping[str, str],
    image: CloudImage,
    extra_specs: Mapping[str, str],
    *,
    direct: bool = False,
) -> DescriptorRequest:
    """Return what a descriptor is made from.

    Args:
        choice: the VNF as it will run.
        networks: of the cloud, by the names of the VNF's ports.
        image: as Glance knows it, or as it is packed.
        extra_specs: of the flavor; see `novaflavor.extra_specs`.
        direct: whether data ports are virtual functions.

    Raises:
        ConfigurationError: a port has no network, or there is no port of a name.
        UnsupportedError: the VNF does not run in a virtual machine, or cannot be asked to forward so.
    """
    vnf = choice.vnf
    if VnfKind.VM not in vnf.kinds:
        raise UnsupportedError(
            f"VNF {vnf.name} cannot be described for a cloud",
            where=f"kinds of vnfd/{vnf.name}/vnf.yml",
            observed=", ".join(vnf.kinds),
            fix="give it the kind vm and an image",
        )
    disk = choice.image or vnf.image
    agent = disk is None or disk.agent
    if agent and choice.forwarding in _NEEDS_MORE:
        raise UnsupportedError(
            f"VNF {vnf.name} cannot be asked to forward as {choice.forwarding!r} in a cloud",
            where=f"forwarding of {vnf.name}",
            observed=_NEEDS_MORE[choice.forwarding],
            fix="choose io, mac, macswap or bridge",
        )
    return DescriptorRequest(
        vnf=vnf,
        flavor=choice.flavor,
        forwarding=choice.forwarding,
        ports=_ports(vnf, networks, "direct" if direct else "normal"),
        image=image.name,
        image_file=image.file,
        checksums=dict(image.checksums),
        extra_specs=dict(extra_specs),
        version=image.version,
        agent=agent,
    )


def _ports(vnf: VnfSpec, networks: Mapping[str, str], vnic: Literal["normal", "direct"]) -> tuple[DescriptorPort, ...]:
    names = [port.name for port in vnf.ports]
    for name in networks:
        if name not in names:
            raise ConfigurationError(
                f"VNF {vnf.name} has no port {name!r}",
                where=f"ports of vnfd/{vnf.name}/vnf.yml",
                observed=", ".join(names),
                fix=suggestion(name, names),
            )
    lacking = [name for name in names if name not in networks]
    if lacking:
        raise ConfigurationError(
            f"port {lacking[0]!r} of VNF {vnf.name} has no network",
            where=f"ports of vnfd/{vnf.name}/vnf.yml",
            observed=f"networks are given for {', '.join(networks) or 'no port'}",
            fix=f"name one: {lacking[0]}=NETWORK",
        )
    # The image's agent takes the first two NICs as its path.
    ordered = sorted(vnf.ports, key=lambda port: port.role == "management")
    return tuple(
        DescriptorPort(
            name=port.name,
            network=networks[port.name],
            order=place,
            management=port.role == "management",
            vnic="normal" if port.role == "management" else vnic,
        )
        for place, port in enumerate(ordered)
    )
