"""Whether the machines of a foreign descriptor can have ports on a data plane: their memory and their vNICs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from nfvbed.dataplanes.wiring import vnf_port_kind
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import ImageSpec, VnfChoice, VnfPortSpec, VnfSpec
from nfvbed.vnfs.descriptors import epa
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of
from nfvbed.vnfs.descriptors.model import Flavour, Machine
from nfvbed.vnfs.descriptors.onboardable import Form, OnboardableVnf
from nfvbed.vnfs.descriptors.requestedresources import of_machine

Flavors = Mapping[str, Mapping[str, str]]
"""Extra specs by Nova's name of the flavor."""


@dataclass(frozen=True)
class DescriptorFit:
    """The fit of a descriptor to its place."""

    mismatches: tuple[Mismatch, ...] = ()
    """What would fail, or leave instances mute."""
    notes: tuple[str, ...] = ()
    """What was not compared, and what a descriptor asks in vain."""

    def __add__(self, other: "DescriptorFit") -> "DescriptorFit":
        return DescriptorFit((*self.mismatches, *other.mismatches), (*self.notes, *other.notes))


def fit(found: OnboardableVnf, variant: Variant, flavors: Flavors) -> DescriptorFit:
    """Compare a descriptor with a variant.

    Args:
        variant: variant whose ports the VNF would have.
        flavors: known flavors; the cloud may have others.

    Raises:
        ConfigurationError: a part cannot be read; see `OnboardableVnf.deployed`.
    """
    own = DescriptorFit(tuple(_form(found)), found.notes)
    try:
        kind = vnf_port_kind(variant, _any_machine())
    except UnsupportedError as failure:
        return own + DescriptorFit((mismatch_of(failure, "ports"),))
    deployed = found.deployed()
    for machine in deployed.machines:
        own += _of_machine(machine, (kind, variant), flavors)
    return own + DescriptorFit(tuple(_addresses(deployed)))


def _addresses(flavour: Flavour) -> Iterator[Mismatch]:
    """Yield fixed addresses that are outside the subnet of a network which is made with the VNF: Neutron refuses them.

    Those on networks of the cloud are compared with the cloud's subnets (`naming`).
    """
    subnets = {link.name: link.subnet for link in flavour.links if link.made}
    for machine in flavour.machines:
        for port in machine.ports:
            subnet, place = subnets.get(port.link), machine.places.get(port.name, "")
            if subnet is None or not port.address:
                continue
            try:
                inside = ip_address(port.address) in subnet.cidr
            except ValueError:
                yield Mismatch("address", f"{port.address!r} is no IP address", f"one of {subnet.cidr}", place)
                continue
            if not inside:
                said = f"{port.address} of {port.name} is outside {subnet.cidr}, the subnet of {port.link}"
                yield Mismatch("address", said, "an address of this subnet, or none", place)


def _form(found: OnboardableVnf) -> Iterator[Mismatch]:
    if found.form is Form.DEFINITIONS:
        yield Mismatch(
            "form",
            "Tacker takes a SOL001 descriptor within a package (CSAR) alone",
            "put it with its types, and TOSCA-Metadata/TOSCA.meta with Entry-Definitions, into a zip archive",
            f"{found.source}:1",
        )


def _of_machine(machine: Machine, on: tuple[PortKind, Variant], flavors: Flavors) -> DescriptorFit:
    (kind, variant), name, places = on, machine.name, machine.places
    asked = of_machine(machine)
    notes: list[str] = []
    specs, place = asked.specs, places.get(epa.PAGES, "")
    fix = f"let {name} ask for {epa.PAGES}=2048, or another variant"
    if machine.flavor:
        specs, place = flavors.get(machine.flavor, {}), places.get("flavor", "")
        fix = f"a flavor with {epa.PAGES}=large in the place of {machine.flavor}, or another variant"
        if any(key in places for key in ("vcpus", "memory_mib", *asked.specs)):
            said = f"{name} names flavor {machine.flavor}, and Tacker takes that alone: no size that it asks for"
            notes.append(f"{place}: {said}")
    if machine.flavor and machine.flavor not in flavors:
        notes.append(f"{place}: flavor {machine.flavor} is not known here: its hugepages are not compared")
        return DescriptorFit(tuple(epa.of_vnics(asked, kind, variant)), tuple(notes))
    found = [*epa.of_memory(specs, kind, variant, (fix, place)), *epa.of_vnics(asked, kind, variant)]
    return DescriptorFit(tuple(_of(name, one) for one in found), tuple(notes))


def _of(name: str, one: Mismatch) -> Mismatch:
    return Mismatch(one.subject, f"{name}: {one.found}", one.fix, one.where)


def _any_machine() -> VnfChoice:
    """Return a virtual machine that can be on any port for one, whatever it does with frames."""
    ports = (VnfPortSpec(name="in", role="in"), VnfPortSpec(name="out", role="out"))
    image = ImageSpec(file="given", agent=False)
    vnf = VnfSpec(name="given", title="", kinds=(VnfKind.VM,), ports=ports, forwarding=("io",), image=image)
    flavor = Flavor(name="given", title="", vcpus=1, memory_mib=128)
    return VnfChoice(label="", vnf=vnf, kind=VnfKind.VM, forwarding="mac", flavor=flavor, image=image)
