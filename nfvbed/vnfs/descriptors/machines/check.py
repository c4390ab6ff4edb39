"""The demands of each machine on flavor and variant: every mismatch in one line with its place in the VNF's file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from nfvbed.records import VnfKind
from nfvbed.spec.document import Document, KeyPath
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.machines import DEFAULT_FLAVOUR, MachinesVnfSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice, Vnic
from nfvbed.vnfs.descriptors import epa
from nfvbed.vnfs.descriptors.epa import Mismatch
from nfvbed.vnfs.descriptors.machines.descriptor import Guest, guests_of
from nfvbed.vnfs.descriptors.model import Flavour, Machine
from nfvbed.vnfs.descriptors.requestedresources import RequestedResources

_PAGES = "hw:mem_page_size"


@dataclass(frozen=True)
class CheckContext:
    """The variant and file that machines are compared with."""

    document: Document
    """The VNF's file."""
    variant: Variant
    """The data plane."""
    flavors: Mapping[str, Flavor]
    """Flavors of the machines, by name."""


def check(vnf: MachinesVnfSpec, flavour: Flavour, against: CheckContext) -> list[Mismatch]:
    """Return the mismatches of each machine with its flavor, and of its data ports with the variant's."""
    found = []
    guests = guests_of(vnf, flavour.name)
    for number, (machine, guest) in enumerate(zip(flavour.machines, guests, strict=True)):
        place = _place(vnf, flavour.name, number)
        found += [
            replace(one, found=f"machine {machine.name}: {one.found}")
            for one in _of_machine((vnf, machine, guest), place, against)
        ]
    return found


def needs_direct(vnf: MachinesVnfSpec, flavor: Flavor, variant: Variant) -> bool:
    """Return whether a VNF's data ports on a variant are virtual functions.

    Raises:
        UnsupportedError: such a VNF has no ports there.
    """
    return epa.needs_direct(variant, _choice(vnf, flavor, "any"))


def _place(vnf: MachinesVnfSpec, flavour: str, number: int) -> KeyPath:
    if flavour == DEFAULT_FLAVOUR:
        return ("machines", number)
    return ("flavours", [one.name for one in vnf.flavours].index(flavour), "machines", number)


def _of_machine(
    of: tuple[MachinesVnfSpec, Machine, Guest], place: KeyPath, against: CheckContext
) -> Iterator[Mismatch]:
    vnf, machine, guest = of
    flavor = against.flavors[guest.flavor]
    specs: dict[str, str] = {}
    places: dict[str, str] = {}
    for held in guest.holds:
        key: KeyPath = ("machines", vnf.machines.index(held), "asks")
        for spec, value in held.asks.items():
            where = against.document.where((*key, spec))
            if specs.setdefault(spec, value) != value:
                yield Mismatch(
                    "flavor",
                    f"{spec}={value} is asked for by {held.name}, and {specs[spec]} by another machine in it",
                    "ask for one of them, or hold them in two virtual machines",
                    where,
                )
            places[spec] = where
    yield from epa.of_flavor(RequestedResources(specs=specs, places=places), flavor)
    size = against.document.where((*place, "flavor"))
    wanted = _vnics(vnf, machine, guest)
    for vnic, ports in wanted.items():
        asked = RequestedResources(
            specs=machine.extra_specs, vnics=ports, places=dict.fromkeys(ports, size) | {_PAGES: size}
        )
        choice = _choice(vnf, flavor, vnic)
        yield from epa.of_variant(asked, flavor, against.variant, choice)


def _vnics(vnf: MachinesVnfSpec, machine: Machine, guest: Guest) -> dict[Vnic, dict[str, str]]:
    """Return the data ports of a machine by their kind of NIC."""
    kinds = {port.link: port.vnic for held in guest.holds for port in held.ports if port.vnic != "any"}
    found: dict[Vnic, dict[str, str]] = {}
    for port in machine.ports:
        if port.data:
            found.setdefault(kinds.get(port.link, "any"), {})[port.name] = port.vnic
    return found


def _choice(vnf: MachinesVnfSpec, flavor: Flavor, vnic: Vnic) -> VnfChoice:
    addressed = any(
        port.address for machine in vnf.machines for port in machine.ports if f"{machine.name}.{port.name}" in vnf.path
    )
    # With addresses of their own on the path, machines take what is addressed to them, as routers do.
    forwarding = "router" if addressed else vnf.forwarding[0]
    return VnfChoice(label="", vnf=vnf, kind=VnfKind.VM, forwarding=forwarding, flavor=flavor, vnic=vnic)


def unplaced(vnf: MachinesVnfSpec, flavour: Flavour, document: Document) -> list[Mismatch]:
    """Return the groups that need several computes where there is only one."""
    key = ("placement",) if flavour.name == DEFAULT_FLAVOUR else (*_place(vnf, flavour.name, 0)[:2], "placement")
    found = []
    for group in flavour.groups:
        if group.strict and group.policy == "anti-affinity":
            found.append(
                Mismatch(
                    "placement",
                    f"group {group.name} wants {len(group.machines)} computes, and a variant has one on this site",
                    "--placement soft",
                    document.where(key),
                )
            )
    return found
