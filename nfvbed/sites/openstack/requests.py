"""Requests to Tacker: the descriptor of one VNF of a path, in the form of the API."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.cloud.tacker.api import OnboardRequest, VnfIdentity
from nfvbed.sites.openstack.images import GlanceImage
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.descriptors import written
from nfvbed.vnfs.descriptors.model import VnfDescriptor
from nfvbed.vnfs.descriptors.onemachine import descriptor_of


@dataclass(frozen=True)
class VnfPlace:
    """The networks of a VNF's data ports, in the order of the path."""

    networks: tuple[str, str]
    inherits_port_security: bool = False
    """Whether these have no port security, and ports are to say nothing of it."""
    direct: bool = False
    """Whether its data ports are virtual functions."""
    most_instances: int = 1
    """Number of instances to which it can be scaled."""
    management: str = ""
    """The network of its management port, where it has one."""


def request(identity: VnfIdentity, choice: VnfChoice, place: VnfPlace, image: GlanceImage, form: str) -> OnboardRequest:
    """Return the request for one VNF.

    Args:
        form: `legacy` or `sol`.

    Raises:
        ConfigurationError, UnsupportedError: the VNF cannot be described so.
    """
    names = [port.name for port in choice.vnf.ports if port.role != "management"]
    managed = {port.name: place.management for port in choice.vnf.ports if port.role == "management"}
    described = descriptor_of(
        choice,
        dict(zip(names, place.networks, strict=True)) | managed,
        image.described,
        extra_specs(choice.flavor),
        direct=place.direct,
        most_instances=place.most_instances,
    )
    return of_descriptor(identity, described, form, inherits_port_security=place.inherits_port_security)


def of_descriptor(
    identity: VnfIdentity, descriptor: VnfDescriptor, form: str, *, inherits_port_security: bool
) -> OnboardRequest:
    """Return the request for a descriptor, whose text is then its owner's alone: Tacker takes a descriptor once.

    Args:
        form: `legacy` or `sol`.
        inherits_port_security: whether ports say nothing of port security, as their networks have none.

    Raises:
        ConfigurationError: its image cannot be read, or its SHA-512 is not known.
    """
    purpose = f"{identity.owner} {identity.name}"
    wanted = replace(descriptor, inherits_port_security=inherits_port_security, purpose=purpose)
    return written.for_api(identity, wanted, form)


def in_order(found: OnboardRequest, place_of: Callable[[str], int]) -> OnboardRequest:
    """Return a request whose networks are in the order of the path.

    Args:
        place_of: returns the place of a connection point, by its name.
    """
    return replace(found, networks=tuple(sorted(found.networks, key=lambda network: place_of(network[0]))))
