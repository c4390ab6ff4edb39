"""Requests to Tacker: the descriptor of one VNF of a path, in the form of the API."""

from dataclasses import dataclass, replace

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.cloud.tacker.api import OnboardRequest
from nfvbed.host.qemu.images import Image
from nfvbed.sites.openstack import images
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.descriptors import written
from nfvbed.vnfs.descriptors.onemachine import descriptor_of


@dataclass(frozen=True)
class VnfPlace:
    """The networks of a VNF's data ports, in the order of the path."""

    networks: tuple[str, str]
    inherits_port_security: bool = False
    """Whether these have no port security, and ports are to say nothing of it."""
    direct: bool = False
    """Whether its data ports are virtual functions."""


def request(
    identity: tuple[str, str], choice: VnfChoice, place: VnfPlace, image: tuple[str, Image], form: str
) -> OnboardRequest:
    """Return the request for one VNF.

    Args:
        identity: the owning deployment, and its name there.
        place: the networks of its data ports.
        image: its name in Glance, and its file.
        form: `legacy` or `sol`.

    Raises:
        ConfigurationError, UnsupportedError: the VNF cannot be described so.
    """
    names = [port.name for port in choice.vnf.ports if port.role != "management"]
    described = descriptor_of(
        choice,
        dict(zip(names, place.networks, strict=True)),
        images.described(*image),
        extra_specs(choice.flavor),
        direct=place.direct,
    )
    wanted = replace(described, inherits_port_security=place.inherits_port_security, purpose=" ".join(identity))
    return written.for_api(identity, wanted, form)
