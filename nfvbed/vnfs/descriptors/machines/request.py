"""From the file of a VNF of several machines, and what a cloud gives, to what its descriptor is made from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.spec.machines import DEFAULT_FLAVOUR, LinkSpec, MachineSpec, MachinesVnfSpec, PlacementSpec
from nfvbed.spec.validate import suggestion
from nfvbed.spec.vnf import ImageSpec
from nfvbed.vnfs.descriptors.machines import userdata
from nfvbed.vnfs.descriptors.machines.model import Flavour, Given, Group, Link, Machine, MachinePort, MachinesRequest


@dataclass(frozen=True)
class Guest:
    """A virtual machine with the machines of the file that it is, or holds."""

    name: str
    title: str
    flavor: str
    image: ImageSpec | None
    holds: tuple[MachineSpec, ...]

    def ports_on(self, link: str) -> list[str]:
        """Return addresses (empty: none) of its machines' ports on a link."""
        ports = [port for machine in self.holds for port in machine.ports if port.link == link]
        return [str(port.address or "") for port in ports]


def request_of(
    vnf: MachinesVnfSpec, given: Given, flavours: Sequence[str] = (), *, version: str = "1"
) -> MachinesRequest:
    """Return what a descriptor is made from.

    Args:
        vnf: the file.
        given: by the cloud or the command.
        flavours: deployment flavours that it has; empty: all.
        version: of its software.

    Raises:
        ConfigurationError: a link, a placement group or a flavour is named that there is not.
        UnsupportedError: groups are to be apart in a way that Nova has no rule for.
    """
    known = [DEFAULT_FLAVOUR, *(one.name for one in vnf.flavours)]
    _require_names(vnf, "flavours", flavours, known)
    _require_names(vnf, "links", given.networks, [one.name for one in vnf.links])
    made = [_flavour(vnf, name, given) for name in flavours or known]
    groups = {group.spec.name for flavour in made for group in flavour.groups}
    _require_names(vnf, "placement", given.zones, sorted(groups))
    return MachinesRequest(vnf=vnf, flavours=tuple(made), version=version)


def guests_of(vnf: MachinesVnfSpec, flavour: str) -> tuple[Guest, ...]:
    """Return the virtual machines of a deployment flavour."""
    if flavour == DEFAULT_FLAVOUR:
        return tuple(Guest(one.name, one.title, one.flavor, one.image, (one,)) for one in vnf.machines)
    found = next(one for one in vnf.flavours if one.name == flavour)
    return tuple(
        Guest(one.name, one.title, one.flavor, one.image, tuple(vnf.machine(name) for name in one.holds))
        for one in found.machines
    )


def _flavour(vnf: MachinesVnfSpec, name: str, given: Given) -> Flavour:
    guests = guests_of(vnf, name)
    declared = next((one for one in vnf.flavours if one.name == name), None)
    placement = vnf.placement if declared is None else declared.placement
    title = vnf.title if declared is None else declared.title or vnf.title
    links = tuple(_link(vnf, link, given) for link in vnf.links if _leaves(link, guests, given))
    _require_apart(vnf, name, placement, given)
    zones = {machine: given.zones.get(group.name, "") for group in placement for machine in group.machines}
    machines = tuple(_machine(vnf, (name, guest), links, (given, zones.get(guest.name, ""))) for guest in guests)
    groups = tuple(Group(one, strict=not given.soft) for one in placement if len(one.machines) > 1)
    return Flavour(name, title, machines, links, groups)


def _link(vnf: MachinesVnfSpec, link: LinkSpec, given: Given) -> Link:
    network = given.networks.get(link.name) or link.network
    return Link(link, network or f"{vnf.name}-{link.name}", made=network is None)


def _leaves(link: LinkSpec, guests: Iterable[Guest], given: Given) -> bool:
    """Whether a link is a network of the cloud's, or joins two guests."""
    used = sum(1 for guest in guests if guest.ports_on(link.name))
    return used > 1 or (used == 1 and (link.network is not None or link.name in given.networks))


def _machine(vnf: MachinesVnfSpec, of: tuple[str, Guest], links: Sequence[Link], placed: tuple[Given, str]) -> Machine:
    (flavour, guest), (given, zone) = of, placed
    flavor = given.flavors[guest.flavor]
    return Machine(
        name=guest.name,
        title=guest.title or guest.name,
        flavor=flavor,
        extra_specs=extra_specs(flavor),
        image=given.own_images.get(guest.name, given.image) if guest.image else given.image,
        ports=_ports(guest, links, given),
        user_data=userdata.text(vnf, flavour, (guest.name, guest.holds), [link.spec.name for link in links]),
        zone=zone,
    )


def _ports(guest: Guest, links: Sequence[Link], given: Given) -> tuple[MachinePort, ...]:
    found: list[MachinePort] = []
    by_name = {link.spec.name: link for link in links}
    for name in userdata.nics(guest.holds, list(by_name)):
        link = by_name[name]
        data = link.spec.carries == "data"
        address = next((one for one in guest.ports_on(name) if one), "")
        found.append(
            MachinePort(
                name=f"{guest.name}_{name}",
                network=link.network,
                order=len(found),
                management=link.spec.carries == "management",
                vnic="direct" if given.direct and data else "normal",
                link=name,
                # The subnet of a network of the cloud's is the cloud's: there the guest sets its address itself.
                address=address if link.made else "",
                data=data,
            )
        )
    return tuple(found)


def _require_apart(vnf: MachinesVnfSpec, flavour: str, placement: Sequence[PlacementSpec], given: Given) -> None:
    """Refuse groups that are to be apart, and for which there are no two availability zones."""
    for group in placement:
        for other in group.apart_from:
            zones = [given.zones.get(name, "") for name in (group.name, other)]
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


def _require_names(vnf: MachinesVnfSpec, key: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"VNF {vnf.name} has nothing of this name in {key}: {name!r}",
                where=f"{key} of vnfd/{vnf.name}/vnf.yml",
                observed=", ".join(known) or "there are none",
                fix=suggestion(name, known),
            )
