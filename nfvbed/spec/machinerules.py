"""Rules for the file of a VNF of several machines; each names the line that breaks it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pydantic import ValidationError

from nfvbed.errors import ConfigurationError
from nfvbed.spec.corenetwork import READ, SETTINGS, CoreNetwork
from nfvbed.spec.document import Document, KeyPath
from nfvbed.spec.machines import (
    DEFAULT_FLAVOUR,
    LONGEST_PREFIX,
    WIDEST_PREFIX,
    LinkSpec,
    MachinePortSpec,
    MachineSpec,
    MachinesVnfSpec,
    PlacementSpec,
)
from nfvbed.spec.validate import name_is_known, suggestion

_NETWORKS = {
    "plmn": "a text of five or six digits: country code, then network code of two or three, with their zeros",
    "tac": "a whole number from 1 to 65533",
    "apn": "labels of letters, digits and hyphens, with dots between them",
}
Placed = tuple[KeyPath, MachineSpec, MachinePortSpec]
"""A port, with its machine and its place in the file."""


def require(document: Document, vnf: MachinesVnfSpec, flavors: Sequence[str]) -> None:
    """Check all rules of the file of a VNF of several machines.

    Args:
        flavors: names of files in `flavors`.

    Raises:
        ConfigurationError: the first that does not fit, with file and line.
    """
    names_are_unique(document, vnf)
    flavors_are_known(document, vnf, flavors)
    ports_are_on_links(document, vnf)
    links_are_used(document, vnf)
    subnets_have_room(document, vnf)
    addresses_are_of_their_links(document, vnf)
    path_is_connected(document, vnf)
    ends_are_on_the_path(document, vnf)
    generators_have_addresses_of_their_own(document, vnf)
    groups_are_possible(document, ("placement",), vnf.placement, [one.name for one in vnf.machines])
    flavours_hold_every_machine(document, vnf)
    guests_have_one_address_a_link(document, vnf)
    settings_of_a_core_are_read(document, vnf)


def names_are_unique(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that names of machines, links, groups and flavours are unique, and names of ports within a machine."""
    lists: list[tuple[KeyPath, str, Iterable[str]]] = [
        (("machines",), "machine", [one.name for one in vnf.machines]),
        (("links",), "link", [one.name for one in vnf.links]),
        (("ports",), "port", [one.name for one in vnf.ports]),
        (("placement",), "group", [one.name for one in vnf.placement]),
        (("flavours",), "flavour", [DEFAULT_FLAVOUR, *(one.name for one in vnf.flavours)]),
    ]
    for number, machine in enumerate(vnf.machines):
        lists.append(
            (("machines", number, "ports"), f"port of machine {machine.name}", [one.name for one in machine.ports])
        )
    for number, flavour in enumerate(vnf.flavours):
        named = f"of flavour {flavour.name}"
        lists.append((("flavours", number, "machines"), f"machine {named}", [one.name for one in flavour.machines]))
        lists.append((("flavours", number, "placement"), f"group {named}", [one.name for one in flavour.placement]))
    for key, what, names in lists:
        _are_unique(document, key, what, list(names))


def _are_unique(document: Document, key: KeyPath, what: str, names: list[str]) -> None:
    shift = 1 if key == ("flavours",) else 0
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigurationError(
                f"two of one name in {document.path.name}: {what} {name!r}",
                where=document.where((*key, place - shift, "name")),
                observed=", ".join(names),
                fix=f"give this one another name; {DEFAULT_FLAVOUR} is the flavour of all machines"
                if shift
                else "give one of them another name",
            )


def flavors_are_known(document: Document, vnf: MachinesVnfSpec, flavors: Sequence[str]) -> None:
    """Make sure that each virtual machine's flavor has a file."""
    wanted: list[tuple[KeyPath, str]] = [
        (("machines", number, "flavor"), one.flavor) for number, one in enumerate(vnf.machines)
    ]
    for place, flavour in enumerate(vnf.flavours):
        wanted += [
            (("flavours", place, "machines", number, "flavor"), one.flavor)
            for number, one in enumerate(flavour.machines)
        ]
    for key, name in wanted:
        name_is_known(document, key, ("flavor", name), flavors)


def ports_are_on_links(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that each port is on a known link, and that a machine has one port on a link."""
    known = [one.name for one in vnf.links]
    for key, machine, port in _ports(vnf):
        name_is_known(document, (*key, "link"), (f"link of port {machine.name}.{port.name}", port.link), known)
    for key, machine, port in _ports(vnf):
        others = [one.name for one in machine.ports if one.link == port.link and one.name != port.name]
        if others:
            raise ConfigurationError(
                f"machine {machine.name} has two ports on link {port.link!r}",
                where=document.where((*key, "link")),
                observed=f"{port.name}, {', '.join(others)}",
                fix="put one of them on another link",
            )


def links_are_used(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that a link made with the VNF joins at least two machines, and a cloud's has at least one."""
    used = Counter(port.link for _, _, port in _ports(vnf))
    for number, link in enumerate(vnf.links):
        least = 2 if link.network is None else 1
        if used[link.name] < least:
            on_it = [machine.name for _, machine, port in _ports(vnf) if port.link == link.name]
            raise ConfigurationError(
                f"link {link.name!r} joins nothing" if on_it else f"no port uses link {link.name!r}",
                where=document.where(("links", number, "name")),
                observed=f"ports on it: {', '.join(on_it) or 'none'}",
                fix="put ports of machines on it, or take it out"
                + ("; network: NAME makes it one of the cloud's, with others on it" if on_it else ""),
            )


def subnets_have_room(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that a link made with the VNF has a subnet, with room for a pool beside the machines' addresses."""
    for number, link in enumerate(vnf.links):
        if link.cidr is None and link.network is None:
            raise ConfigurationError(
                f"link {link.name!r} has no subnet",
                where=document.where(("links", number, "name")),
                observed="neither cidr nor network",
                fix="give it cidr: 10.77.1.0/24, or the network of the cloud that it is",
            )
        if link.cidr is not None and not WIDEST_PREFIX <= link.cidr.prefixlen <= LONGEST_PREFIX:
            raise ConfigurationError(
                f"the subnet of link {link.name!r} has no fitting size",
                where=document.where(("links", number, "cidr")),
                observed=str(link.cidr),
                fix=f"a prefix of {WIDEST_PREFIX} to {LONGEST_PREFIX} bits",
            )
        for other in vnf.links[:number]:
            if link.cidr is not None and other.cidr is not None and link.cidr.overlaps(other.cidr):
                raise ConfigurationError(
                    f"links {other.name!r} and {link.name!r} have overlapping subnets",
                    where=document.where(("links", number, "cidr")),
                    observed=f"{other.cidr}, {link.cidr}",
                    fix="give one of them another subnet: a machine may be on both",
                )


def addresses_are_of_their_links(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that an address is in its link's subnet, outside gateway and pool, and belongs to one port."""
    taken: dict[tuple[str, str], str] = {}
    for key, machine, port in _ports(vnf):
        if port.address is None:
            continue
        name, link = f"{machine.name}.{port.name}", vnf.link(port.link)
        lacking = _unfit(port, link)
        owner = taken.setdefault((link.name, str(port.address)), name)
        if not lacking and owner != name:
            lacking = f"it is the address of {owner}"
        if lacking:
            raise ConfigurationError(
                f"the address of port {name} does not fit link {link.name!r}",
                where=document.where((*key, "address")),
                observed=f"{port.address}: {lacking}",
                fix=f"an address from {link.cidr[2]} to {link.pool[0] - 1}"
                if link.cidr and link.pool
                else f"give link {link.name} a cidr, or take the address out",
            )


def _unfit(port: MachinePortSpec, link: LinkSpec) -> str:
    """Return why an address cannot be on a link; empty: it can."""
    if link.cidr is None or link.pool is None:
        return "the link has no subnet"
    assert port.address is not None
    if port.address not in link.cidr:
        return f"not in {link.cidr}"
    if port.address <= link.cidr[1]:
        return "the first two addresses are the subnet's own and its gateway's"
    return f"{link.pool[0]} and above are left to DHCP" if port.address >= link.pool[0] else ""


def path_is_connected(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that each port of the path exists, once, on a data link, and that neighbours are joined."""
    links = {f"{machine.name}.{port.name}": port.link for _, machine, port in _ports(vnf)}
    for place, name in enumerate(vnf.path):
        key = ("path", place)
        name_is_known(document, key, ("port on the path", name), list(links))
        link = vnf.link(links[name])
        before = vnf.path[place - 1] if place else name
        reasons = {
            f"link {link.name} carries {link.carries}": link.carries != "data",
            "it is on the path twice": name in vnf.path[:place],
            f"{before} is on another machine and another link": before.partition(".")[0] != name.partition(".")[0]
            and links[before] != link.name,
        }
        for observed, applies in reasons.items():
            if applies:
                raise ConfigurationError(
                    f"port {name} cannot be on the path there",
                    where=document.where(key),
                    observed=observed,
                    fix="write the path from port to port: through a machine, then along a link that carries data",
                )


def ends_are_on_the_path(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that traffic enters and leaves at ports of the path, in its order."""
    for number, end in enumerate(vnf.ports):
        if end.at not in vnf.path:
            raise ConfigurationError(
                f"end {end.name!r} of the data path is not on the path",
                where=document.where(("ports", number, "at")),
                observed=f"{end.at}; the path is {' - '.join(vnf.path)}",
                fix=suggestion(end.at, vnf.path),
            )
    places = [vnf.path.index(end.at) for end in vnf.ports]
    if len(places) > 1 and places[0] >= places[1]:
        raise ConfigurationError(
            "the ends of the data path are in the wrong order",
            where=document.where(("ports", 1, "at")),
            observed=f"in: {vnf.ports[0].at}, out: {vnf.ports[1].at}; the path is {' - '.join(vnf.path)}",
            fix="exchange them, or write the path the other way round",
        )


def generators_have_addresses_of_their_own(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that a generator's address is in its link's subnet, outside gateway and pool, and no machine's."""
    placed = {f"{machine.name}.{port.name}": port for _, machine, port in _ports(vnf)}
    for number, end in enumerate(vnf.ports):
        if end.generator is None:
            continue
        link = vnf.link(placed[end.at].link)
        taken = [name for name, port in placed.items() if port.link == link.name and port.address == end.generator]
        as_port = placed[end.at].model_copy(update={"address": end.generator})
        lacking = f"it is the address of {taken[0]}" if taken else _unfit(as_port, link)
        if lacking:
            raise ConfigurationError(
                f"the generator's address at {end.name} does not fit link {link.name!r}",
                where=document.where(("ports", number, "generator")),
                observed=f"{end.generator}: {lacking}",
                fix="an address of the link's subnet that no machine has, below those that are left to DHCP",
            )


def settings_of_a_core_are_read(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that a mobile core's functions read all of their settings, and that its network is possible."""
    if not vnf.is_core:
        return
    for number, machine in enumerate(vnf.machines):
        for key in machine.config if machine.name in READ else ():
            at = ("machines", number, "config", key)
            name_is_known(document, at, (f"setting of machine {machine.name}", key), READ[machine.name])
            setting = next((name for name, place in SETTINGS.items() if place == (machine.name, key)), "")
            if setting:
                _is_of_a_network(document, at, setting, machine.config[key])


def _is_of_a_network(document: Document, key: KeyPath, setting: str, value: str) -> None:
    try:
        CoreNetwork.model_validate({setting: value})
    except ValidationError as failure:
        raise ConfigurationError(
            f"a mobile core cannot have this {setting}: {value!r}",
            where=document.where(key),
            observed=failure.errors(include_url=False)[0]["msg"],
            fix=_NETWORKS[setting],
        ) from failure


def groups_are_possible(
    document: Document, key: KeyPath, groups: Sequence[PlacementSpec], machines: Sequence[str]
) -> None:
    """Make sure that groups have known machines, each machine is in one alone, and they are apart from known groups."""
    group_of: dict[str, str] = {}
    for number, group in enumerate(groups):
        for place, name in enumerate(group.machines):
            at = (*key, number, "machines", place)
            name_is_known(document, at, (f"machine in group {group.name}", name), machines)
            if group_of.setdefault(name, group.name) != group.name or name in group.machines[:place]:
                raise ConfigurationError(
                    f"machine {name!r} is in two groups"
                    if name not in group.machines[:place]
                    else f"machine {name!r} is twice in group {group.name}",
                    where=document.where(at),
                    observed=f"{group_of[name]}, {group.name}",
                    fix="a server is in one server group of Nova at most: take it out of one of them",
                )
        others = [one.name for one in groups if one.name != group.name]
        for place, name in enumerate(group.apart_from):
            name_is_known(
                document, (*key, number, "apart_from", place), (f"group apart from {group.name}", name), others
            )


def flavours_hold_every_machine(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that a deployment flavour has all functions, each in one virtual machine, and groups of these."""
    known = [one.name for one in vnf.machines]
    for number, flavour in enumerate(vnf.flavours):
        key = ("flavours", number)
        held: dict[str, str] = {}
        for place, guest in enumerate(flavour.machines):
            for index, name in enumerate(guest.holds):
                at = (*key, "machines", place, "holds", index)
                name_is_known(document, at, (f"machine in {guest.name} of flavour {flavour.name}", name), known)
                if name in held:
                    raise ConfigurationError(
                        f"machine {name!r} is held twice in flavour {flavour.name}",
                        where=document.where(at),
                        observed=f"{held[name]}, {guest.name}",
                        fix="take it out of one of them",
                    )
                held[name] = guest.name
        lacking = [name for name in known if name not in held]
        if lacking:
            raise ConfigurationError(
                f"flavour {flavour.name} leaves machines out",
                where=document.where((*key, "machines")),
                observed=", ".join(lacking),
                fix="add them to holds of one of its virtual machines",
            )
        guests = [one.name for one in flavour.machines]
        groups_are_possible(document, (*key, "placement"), flavour.placement, guests)


def guests_have_one_address_a_link(document: Document, vnf: MachinesVnfSpec) -> None:
    """Make sure that machines in one guest, which share its port on a link that leaves it, have one address there."""
    for number, flavour in enumerate(vnf.flavours):
        for place, guest in enumerate(flavour.machines):
            inside = [vnf.machine(name) for name in guest.holds]
            for link in vnf.links:
                ends = [f"{one.name}.{port.name}" for one in inside for port in one.ports if port.link == link.name]
                addressed = [one for one in inside for port in one.ports if port.link == link.name and port.address]
                leaves = link.network is not None or len(ends) < len(_on(vnf, link.name))
                if leaves and len(addressed) > 1:
                    raise ConfigurationError(
                        f"{guest.name} of flavour {flavour.name} would have several addresses on link {link.name!r}",
                        where=document.where(("flavours", number, "machines", place, "holds")),
                        observed=", ".join(ends),
                        fix="hold one of them in another virtual machine, or take an address out",
                    )


def _on(vnf: MachinesVnfSpec, link: str) -> list[str]:
    return [machine.name for _, machine, port in _ports(vnf) if port.link == link]


def _ports(vnf: MachinesVnfSpec) -> Iterator[Placed]:
    for number, machine in enumerate(vnf.machines):
        for place, port in enumerate(machine.ports):
            yield ("machines", number, "ports", place), machine, port
