"""From the file of a VNF of one virtual machine, and a cloud's values, to its descriptor."""

from collections.abc import Mapping
from typing import Literal

from nfvbed.cloud.novaflavor import nova_name
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.machines import DEFAULT_FLAVOUR
from nfvbed.spec.validate import suggestion
from nfvbed.spec.vnf import AS_THE_IMAGE, VnfChoice, VnfSpec
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.model import ConnectionPoint, Flavour, Link, Machine, Size, VnfDescriptor

VDU = "VDU1"
"""Name of the virtual machine in all forms."""
FORWARD_WORD = "vloop.forward="
"""Word of the image's agent, on the kernel's command line and in user data (`images/README.md`)."""
MANAGE_WORD = "vloop.manage=dhcp"
"""Word of the same agent: the port beyond the path's two gets an address."""
_NEEDS_MORE = {
    "router": "a router needs addresses and routes, which no descriptor carries",
    "xdp": "it is done by processes, and not by the image",
}


def descriptor_of(
    choice: VnfChoice,
    networks: Mapping[str, str],
    image: CloudImage,
    extra_specs: Mapping[str, str],
    *,
    direct: bool = False,
    zone: str = "",
    most_instances: int = 1,
) -> VnfDescriptor:
    """Return the descriptor of a VNF of one machine.

    Args:
        networks: names of networks in the cloud, by the names of the VNF's ports.
        image: the image as it is in Glance, or as it is packed.
        extra_specs: extra specs of the flavor; see `novaflavor.extra_specs`.
        direct: whether data ports are virtual functions.
        zone: Nova's availability zone; empty: any.
        most_instances: number of instances to which the VNF can be scaled; 1: it cannot.

    Raises:
        ConfigurationError: a port has no network, or there is no port of a name.
        UnsupportedError: the VNF does not run in a virtual machine, or cannot be asked to forward so.
    """
    vnf = choice.vnf
    agent = _reads_user_data(choice)
    links = _links(vnf, networks)
    machine = Machine(
        name=VDU,
        title=vnf.title,
        flavor=nova_name(choice.flavor),
        size=Size.of(choice.flavor),
        extra_specs=dict(extra_specs),
        image=image,
        ports=_ports(vnf, links, networks, "direct" if direct else "normal"),
        user_data=_user_data(choice) if agent else "",
        zone=zone,
        most_instances=most_instances,
        monitoring=vnf.monitoring,
        is_only=True,
    )
    flavour = Flavour(
        name=DEFAULT_FLAVOUR,
        title=choice.flavor.title,
        summary=choice.flavor.summary or choice.flavor.title,
        machines=(machine,),
        links=tuple(links.values()),
    )
    said = {
        "vnf": vnf.model_dump(mode="json"),
        "flavor": choice.flavor.model_dump(mode="json"),
        "forwarding": choice.forwarding,
        "ports": [_said(port) for port in machine.ports],
        "image": [image.name, image.file is not None, dict(image.checksums), agent, image.version],
        "zone": zone,
        "extra_specs": dict(extra_specs),
        "most": most_instances,
    }
    return VnfDescriptor(vnf, (flavour,), said, image.version)


def _said(port: ConnectionPoint) -> dict[str, object]:
    return {key: getattr(port, key) for key in ("name", "network", "order", "management", "vnic")}


def _reads_user_data(choice: VnfChoice) -> bool:
    """Return whether the image reads from user data how it forwards.

    Raises:
        UnsupportedError: the VNF has no image, or its image cannot forward so.
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
    return agent


def _user_data(choice: VnfChoice) -> str:
    forward = f"{FORWARD_WORD}{choice.forwarding}" if choice.forwarding != AS_THE_IMAGE else ""
    return " ".join(filter(None, (forward, MANAGE_WORD if choice.vnf.is_managed else "")))


def _links(vnf: VnfSpec, networks: Mapping[str, str]) -> dict[str, Link]:
    """Return a link for each network, by the network's name, in the order of the ports."""
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
    ordered = sorted(vnf.ports, key=lambda port: port.role == "management")
    found = dict.fromkeys(networks[port.name] for port in ordered)
    return {network: Link(str(number), network) for number, network in enumerate(found)}


def _ports(
    vnf: VnfSpec, links: Mapping[str, Link], networks: Mapping[str, str], vnic: Literal["normal", "direct"]
) -> tuple[ConnectionPoint, ...]:
    # The image's agent takes the first two NICs as its path.
    ordered = sorted(vnf.ports, key=lambda port: port.role == "management")
    return tuple(
        ConnectionPoint(
            name=port.name,
            link=links[networks[port.name]].name,
            network=networks[port.name],
            order=place,
            management=port.role == "management",
            data=port.role != "management",
            vnic="normal" if port.role == "management" else vnic,
        )
        for place, port in enumerate(ordered)
    )
