"""From the file of a VNF of several machines, and a cloud's values, to its descriptor."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nfvbed.cloud.novaflavor import extra_specs, nova_name
from nfvbed.errors import ConfigurationError, InternalError, UnsupportedError
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.machines import DEFAULT_FLAVOUR, LinkSpec, MachineSpec, MachinesVnfSpec, PlacementSpec
from nfvbed.spec.validate import suggestion
from nfvbed.spec.vnf import AS_THE_IMAGE, Forwarding, ImageSpec
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.machines import userdata
from nfvbed.vnfs.descriptors.model import (
    ConnectionPoint,
    Flavour,
    Group,
    Link,
    Machine,
    Size,
    Subnet,
    VnfDescriptor,
)
from nfvbed.vnfs.descriptors.onemachine import FORWARD_WORD
from nfvbed.vnfs.descriptors.seedword import with_seed


@dataclass(frozen=True)
class DeploymentInputs:
    """The values that a cloud, or a command, gives to a VNF of several machines."""

    flavors: Mapping[str, Flavor]
    """By name; all that its machines name."""
    image: CloudImage
    """Image of machines that have none of their own."""
    own_images: Mapping[str, CloudImage] = field(default_factory=dict)
    """Images of machines that have one, by machine or guest."""
    networks: Mapping[str, str] = field(default_factory=dict)
    """The cloud's, by link; a link that is named here is not made."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """Availability zones, by placement group."""
    zones_of_machines: Mapping[str, str] = field(default_factory=dict)
    """Availability zones of single virtual machines, by their names; they count more than those of groups."""
    soft: bool = False
    """Whether placement is wished and not required: for a site with one compute."""
    direct: bool = False
    """Whether data ports are virtual functions."""
    forwarding: Forwarding | None = None
    """Way of forwarding of machines in a row; None: the VNF's first."""
    seed: str = ""
    """Secret of the deployment, for a VNF whose machines make keys of one; empty: none is in the descriptor yet."""


@dataclass(frozen=True)
class Guest:
    """A virtual machine, with the machines of the file that it is or contains."""

    name: str
    title: str
    flavor: str
    image: ImageSpec | None
    holds: tuple[MachineSpec, ...]

    def ports_on(self, link: str) -> list[str]:
        """Return the addresses (empty: none) of its machines' ports on a link."""
        ports = [port for machine in self.holds for port in machine.ports if port.link == link]
        return [str(port.address or "") for port in ports]


def descriptor_of(vnf: MachinesVnfSpec, given: DeploymentInputs, flavours: Sequence[str] = ()) -> VnfDescriptor:
    """Return the descriptor of a VNF of several machines.

    Args:
        flavours: deployment flavours to include; empty: all.

    Raises:
        ConfigurationError: a link, a placement group or a flavour is named that there is not.
        UnsupportedError: groups are to be apart in a way that Nova has no rule for.
    """
    known = [DEFAULT_FLAVOUR, *(one.name for one in vnf.flavours)]
    _require_names(vnf, "flavours", flavours, known)
    _require_names(vnf, "links", given.networks, [one.name for one in vnf.links])
    made = [_flavour(vnf, name, given) for name in flavours or known]
    groups = {group.name for flavour in made for group in flavour.groups}
    _require_names(vnf, "placement", given.zones, sorted(groups))
    version = given.image.version
    said = {
        "vnf": vnf.model_dump(mode="json"),
        "flavours": [_said(vnf, flavour, given) for flavour in made],
        "version": version,
        "inherits_port_security": False,
    }
    return VnfDescriptor(vnf, tuple(made), said, version)


def guests_of(vnf: MachinesVnfSpec, flavour: str) -> tuple[Guest, ...]:
    """Return the virtual machines of a deployment flavour."""
    if flavour == DEFAULT_FLAVOUR:
        return tuple(Guest(one.name, one.title, one.flavor, one.image, (one,)) for one in vnf.machines)
    found = next(one for one in vnf.flavours if one.name == flavour)
    return tuple(
        Guest(one.name, one.title, one.flavor, one.image, tuple(vnf.machine(name) for name in one.holds))
        for one in found.machines
    )


def _flavour(vnf: MachinesVnfSpec, name: str, given: DeploymentInputs) -> Flavour:
    guests = guests_of(vnf, name)
    declared = next((one for one in vnf.flavours if one.name == name), None)
    placement = vnf.placement if declared is None else declared.placement
    title = vnf.title if declared is None else declared.title or vnf.title
    links = {link.name: _link(vnf, link, given) for link in vnf.links if _leaves(link, guests, given)}
    _require_apart(vnf, name, placement, given)
    zones = {machine: given.zones.get(group.name, "") for group in placement for machine in group.machines}
    zones |= given.zones_of_machines
    machines = tuple(_machine(vnf, (name, guest), links, (given, zones.get(guest.name, ""))) for guest in guests)
    groups = tuple(
        Group(one.name, one.policy, one.machines, strict=not given.soft, apart_from=one.apart_from)
        for one in placement
        if len(one.machines) > 1
    )
    return Flavour(name, title, title, machines, tuple(links.values()), groups)


def _link(vnf: MachinesVnfSpec, link: LinkSpec, given: DeploymentInputs) -> Link:
    network = given.networks.get(link.name) or link.network
    if network is not None:
        return Link(link.name, network, link.title)
    if link.cidr is None or link.pool is None:
        raise InternalError(f"link {link.name} of VNF {vnf.name} has neither network nor subnet", where="links")
    return Link(link.name, f"{vnf.name}-{link.name}", link.title, True, Subnet(link.cidr, link.pool))


def _leaves(link: LinkSpec, guests: Iterable[Guest], given: DeploymentInputs) -> bool:
    """Return whether a link is a network of the cloud's, or joins two guests."""
    used = sum(1 for guest in guests if guest.ports_on(link.name))
    return used > 1 or (used == 1 and (link.network is not None or link.name in given.networks))


def _machine(
    vnf: MachinesVnfSpec, of: tuple[str, Guest], links: Mapping[str, Link], placed: tuple[DeploymentInputs, str]
) -> Machine:
    (flavour, guest), (given, zone) = of, placed
    flavor = given.flavors[guest.flavor]
    said = userdata.text(vnf, flavour, (guest.name, guest.holds), list(links))
    return Machine(
        name=guest.name,
        title=guest.title or guest.name,
        flavor=nova_name(flavor),
        size=Size.of(flavor),
        extra_specs=extra_specs(flavor),
        image=given.own_images.get(guest.name, given.image) if guest.image else given.image,
        ports=_ports(vnf, guest, links, given),
        user_data=(with_seed(said, given.seed) if given.seed else said) + _forwards(vnf, given),
        zone=zone,
    )


def _forwards(vnf: MachinesVnfSpec, given: DeploymentInputs) -> str:
    """Return the word by which machines in a row are asked to forward; their image's agent reads it."""
    way = given.forwarding or vnf.forwarding[0]
    return f" {FORWARD_WORD}{way}" if vnf.row is not None and way != AS_THE_IMAGE else ""


def _ports(
    vnf: MachinesVnfSpec, guest: Guest, links: Mapping[str, Link], given: DeploymentInputs
) -> tuple[ConnectionPoint, ...]:
    found: list[ConnectionPoint] = []
    for name in userdata.nics(guest.holds, list(links)):
        link, carries = links[name], vnf.link(name).carries
        address = next((one for one in guest.ports_on(name) if one), "")
        found.append(
            ConnectionPoint(
                name=f"{guest.name}_{name}",
                link=name,
                network=link.network,
                order=len(found),
                management=carries == "management",
                data=carries == "data",
                vnic="direct" if given.direct and carries == "data" else "normal",
                # The subnet of a network of the cloud's is the cloud's: there the guest sets its address itself.
                address=address if link.made else "",
            )
        )
    return tuple(found)


def _said(vnf: MachinesVnfSpec, flavour: Flavour, given: DeploymentInputs) -> dict[str, Any]:
    """Return a flavour as JSON."""
    declared = next((one for one in vnf.flavours if one.name == flavour.name), None)
    placement = {one.name: one for one in (vnf.placement if declared is None else declared.placement)}
    return {
        "name": flavour.name,
        "title": flavour.title,
        "machines": [
            _said_of_machine(one, given.flavors[guest.flavor])
            for one, guest in zip(flavour.machines, guests_of(vnf, flavour.name), strict=True)
        ],
        "links": [
            {"spec": vnf.link(one.name).model_dump(mode="json"), "network": one.network, "made": one.made}
            for one in flavour.links
        ],
        "groups": [
            {"spec": placement[one.name].model_dump(mode="json"), "strict": one.strict} for one in flavour.groups
        ],
    }


def _said_of_machine(one: Machine, flavor: Flavor) -> dict[str, Any]:
    image = one.image
    return {
        "name": one.name,
        "title": one.title,
        "flavor": flavor.model_dump(mode="json"),
        "extra_specs": dict(one.extra_specs),
        "image": {
            "name": image.name,
            "file": None if image.file is None else str(image.file),
            "checksums": dict(image.checksums),
            "version": image.version,
        },
        "ports": [vars(port) for port in one.ports],
        "user_data": one.user_data,
        "zone": one.zone,
    }


def _require_apart(
    vnf: MachinesVnfSpec, flavour: str, placement: Sequence[PlacementSpec], given: DeploymentInputs
) -> None:
    """Refuse groups that must be apart where there are not two availability zones."""
    of_groups = {one.name: _zone_of(one, given) for one in placement}
    for group in placement:
        for other in group.apart_from:
            zones = [of_groups[name] for name in (group.name, other)]
            if (given.soft and not all(zones)) or (all(zones) and zones[0] != zones[1]):
                continue
            raise UnsupportedError(
                f"groups {other} and {group.name} of VNF {vnf.name} cannot be kept apart",
                where=f"placement of vnfd/{vnf.name}/vnf.yml, flavour {flavour}",
                observed=f"both are in availability zone {zones[0]}"
                if all(zones)
                else "Nova has no rule between two server groups, and no availability zones are given",
                fix=f"--zone {other}=ZONE --zone {group.name}=ZONE with two zones (of an administrator: nova:COMPUTE), "
                "or --placement soft for a site with one compute",
            )


def _zone_of(group: PlacementSpec, given: DeploymentInputs) -> str:
    """Return the one availability zone of a group; empty: it has none, or several."""
    own = {given.zones_of_machines.get(name, "") for name in group.machines}
    return given.zones.get(group.name, "") or (own.pop() if len(own) == 1 else "")


def _require_names(vnf: MachinesVnfSpec, key: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"VNF {vnf.name} has nothing of this name in {key}: {name!r}",
                where=f"{key} of vnfd/{vnf.name}/vnf.yml",
                observed=", ".join(known) or "there are none",
                fix=suggestion(name, known),
            )
