"""What Tacker is asked for: the descriptor of one VNF of a path, in the form of the API that takes it."""

from dataclasses import dataclass, replace

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.cloud.tacker.api import OnboardRequest
from nfvbed.host.qemu.images import Image
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.descriptors import csar, legacy, sol
from nfvbed.vnfs.descriptors.model import CloudImage, DescriptorRequest, checksums, request_of
from nfvbed.vnfs.descriptors.solvnfd import FLAVOUR, LEVEL


@dataclass(frozen=True)
class VnfPlace:
    """Where a VNF's data ports are, in the order of the path."""

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
        identity: the deployment that owns it, and its name there.
        choice: what it is.
        place: where its data ports are.
        image: its name in Glance, and its file.
        form: `legacy` or `sol`.

    Raises:
        ConfigurationError, UnsupportedError: the VNF cannot be described so.
    """
    described = describe(choice, place.networks, image, direct=place.direct)
    wanted = replace(described, inherits_port_security=place.inherits_port_security, purpose=" ".join(identity))
    owner, name = identity
    path = tuple((port.name, port.network) for port in wanted.ports if not port.management)
    descriptor = legacy.template(wanted) if form == "legacy" else csar.write(sol.files(wanted))
    parameters = sol.instantiation()["additionalParams"]
    return OnboardRequest(name, owner, descriptor, path, flavour=FLAVOUR, level=LEVEL, parameters=parameters)


def describe(
    choice: VnfChoice, networks: tuple[str, str], image: tuple[str, Image], *, direct: bool = False
) -> DescriptorRequest:
    """Return what both forms of a VNF's descriptor are made from; direct: its data ports are virtual functions."""
    names = [port.name for port in choice.vnf.ports if port.role != "management"]
    glance_name, file = image
    version = file.sidecar.version if file.sidecar else "1"
    return request_of(
        choice,
        dict(zip(names, networks, strict=True)),
        CloudImage(glance_name, checksums=checksums(file.path), version=version),
        extra_specs(choice.flavor),
        direct=direct,
    )
