"""`vnfd/<name>/vnf.yml` of a VNF of several machines (VDUs): their ports, links between them, and their placement."""

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nfvbed.errors import InternalError
from nfvbed.patience import patient
from nfvbed.records import VnfKind
from nfvbed.spec.corenetwork import DEFAULT_NETWORK, SETTINGS, CoreNetwork
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.spec.model import SpecModel
from nfvbed.spec.vnf import ImageSpec, MachineRow, Name, VnfPortSpec, VnfSpec, Vnic

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:/,+-]{1,120}$")]
"""What user data holds: plain words of one line. heat-translator writes HOT without quotes, and Tacker passes
descriptors on as texts."""
PortName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}\.[a-z0-9][a-z0-9-]{0,40}$")]
"""`MACHINE.PORT`."""
DEFAULT_FLAVOUR = "default"
"""Deployment flavour in which every machine is one of its own, as `machines` has them."""
WIDEST_PREFIX, LONGEST_PREFIX = 8, 28
"""Prefixes of a link's subnet: with fewer addresses there is no room for a pool beside those of machines."""


class LinkSpec(SpecModel):
    """A network between machines (ETSI: virtual link)."""

    name: Name
    title: str = ""
    carries: Literal["data", "control", "management"] = "control"
    """Use: data of the path, whose ports are free of anti-spoofing; control, whose ports keep it; management."""
    network: Name | None = None
    """Network of the cloud that it is; another one is given with `--network`. None: it is made with the VNF. On a path,
    nfvbed's own networks of a site are meant by `data0` and `data1` (at the generator's ports), `link1`, `link2`
    (VLANs) and `tunnel1` (VXLAN, on a rack)."""
    cidr: IPv4Network | None = None
    """Subnet, of which the last quarter is left to DHCP; needed where the link is made with the VNF."""

    @property
    def pool(self) -> tuple[IPv4Address, IPv4Address] | None:
        """Addresses that are left to DHCP, first and last; None: it has no subnet."""
        if self.cidr is None:
            return None
        return self.cidr[-(self.cidr.num_addresses // 4)], self.cidr[-2]


class MachinePortSpec(SpecModel):
    """A port of one machine, on a link; their order is that of the machine's NICs."""

    name: Name
    link: Name
    """Name in `links`."""
    address: IPv4Address | None = None
    """Address in the link's subnet; None: none is fixed."""
    vnic: Vnic = "any"
    """Kind of NIC that it needs; any: what the data plane has."""


class MachineSpec(SpecModel):
    """One virtual machine of the VNF (ETSI: VDU)."""

    name: Name
    title: str = ""
    flavor: Name = "default"
    """Name of a file in `flavors`."""
    image: ImageSpec | None = None
    """Disk image; None: the VNF's."""
    ports: tuple[MachinePortSpec, ...] = Field(min_length=1)
    """Ports in the order of its NICs."""
    config: dict[Name, Word] = {}
    """Settings that its user data hands to the image."""
    asks: dict[str, Word] = {}
    """Extra specs of Nova's that it needs its flavor to have; compared by `nfvbed onboard --check`."""


class PlacementSpec(SpecModel):
    """Machines that are placed together or apart; a machine is in one such group at most, as in Nova."""

    name: Name
    policy: Literal["affinity", "anti-affinity"] = "affinity"
    """Policy of Nova's server group: all on one compute, or each on another."""
    machines: tuple[Name, ...] = Field(min_length=1)
    """Names of its machines."""
    apart_from: tuple[Name, ...] = ()
    """Names of groups whose computes are others than this one's: by availability zones, as Nova has no rule between
    server groups."""


class GuestSpec(SpecModel):
    """A virtual machine of a deployment flavour that holds several machines of the VNF as its functions."""

    name: Name
    title: str = ""
    holds: tuple[Name, ...] = Field(min_length=1)
    """Names in `machines`; links between them stay inside the guest."""
    flavor: Name = "default"
    """Name of a file in `flavors`."""
    image: ImageSpec | None = None
    """Disk image; None: the VNF's."""


class MarkSpec(SpecModel):
    """A line on a console that shows that a step of the start is done."""

    step: Name
    """Name of the step, of which the time is shown."""
    says: str = Field(min_length=1)
    """Beginning of the line."""


class ConsoleSpec(SpecModel):
    """The console output of its virtual machines, from any of them, that shows that they are ready."""

    marks: tuple[MarkSpec, ...] = Field(min_length=1)
    """Lines that all must come, in the order of the steps."""
    failed: str = Field(min_length=1)
    """Beginning of a line that says why it will not be ready."""
    timeout_s: float = Field(600, gt=0, le=3600)
    """Longest time from ACTIVE instances to the last line, s."""

    @property
    def within_s(self) -> float:
        """The time-out as it is on this machine."""
        return patient(self.timeout_s)


class FormSpec(SpecModel):
    """The image that nfvbed brings to a form of the VNF, and the console lines by which it is ready."""

    image: ImageSpec | None = None
    """Disk image of its virtual machines that is put into the cloud where none is named; None: the cloud has it."""
    console: ConsoleSpec | None = None
    """Lines on consoles by which it is ready; None: it is when its instances are ACTIVE."""


class DeploymentFlavourSpec(FormSpec):
    """Another form of the same VNF: fewer virtual machines with the same functions (SOL001: deployment flavour)."""

    name: Name
    title: str = ""
    machines: tuple[GuestSpec, ...] = Field(min_length=1)
    """Virtual machines; each of the VNF's machines is in one of them."""
    placement: tuple[PlacementSpec, ...] = ()
    """Groups of its virtual machines."""


class EndSpec(VnfPortSpec):
    """An end of the data path through a VNF of several machines."""

    at: PortName
    """Port of a machine, on the path: `MACHINE.PORT`."""
    generator: IPv4Address | None = None
    """Address on that port's link of a generator that sends and takes frames there; None: none does."""


class MachinesVnfSpec(VnfSpec):
    """A VNF of several machines; what a VNF of one machine has, it has as a whole."""

    has_own_image: ClassVar[bool] = False
    has_one_machine: ClassVar[bool] = False
    # An image may be given with the request. Names within the file are compared by `machinerules`.
    ports: tuple[EndSpec, ...] = Field(min_length=1)
    """Ends of the data path."""
    machines: tuple[MachineSpec, ...] = Field(min_length=1)
    """Virtual machines of the VNF."""
    links: tuple[LinkSpec, ...] = Field(min_length=1)
    """Networks between them."""
    path: tuple[PortName, ...] = Field(min_length=2)
    """Ports of machines that a packet passes, in the order of the path: each two neighbours are on one machine, or on
    one link."""
    placement: tuple[PlacementSpec, ...] = ()
    """Groups of machines that are placed together or apart."""
    default: FormSpec = FormSpec()
    """Image and console of the form of all machines, the deployment flavour `default`."""
    flavours: tuple[DeploymentFlavourSpec, ...] = ()
    """Other forms of it, beside the one of all machines."""
    seed: bool = False
    """Presence of a secret of each deployment in user data (`vnf.seed`), from which all its machines make the same
    keys."""

    @property
    def is_core(self) -> bool:
        """Whether it is a mobile core of nfvbed's."""
        return self.forwarding[0] in GATEWAYS

    @property
    def network(self) -> CoreNetwork | None:
        """Network that it serves as a mobile core, as `config` of its machines says; None: the default one, or none."""
        if not self.is_core:
            return None
        config = {one.name: one.config for one in self.machines}
        said = {key: config[name][word] for key, (name, word) in SETTINGS.items() if word in config.get(name, {})}
        found = CoreNetwork.model_validate(said)
        return None if found == DEFAULT_NETWORK else found

    def without_machines(self) -> VnfSpec:
        """Return the ends of its path and its ways of forwarding; it must run elsewhere than in machines too."""
        told = self.model_dump(include=set(VnfSpec.model_fields) - {"kinds", "ports"})
        ports = tuple(VnfPortSpec(name=end.name, role=end.role, vnic=end.vnic) for end in self.ports)
        return VnfSpec(**told, kinds=tuple(kind for kind in self.kinds if kind is not VnfKind.VM), ports=ports)

    def form(self, flavour: str) -> FormSpec:
        """Return what the file says of a deployment flavour, which is known."""
        return next((one for one in self.flavours if one.name == flavour), self.default)

    @property
    def row(self) -> MachineRow | None:
        """Return its machines where each forwards between the two ports that it has, one after the other on the path.

        They boot the image of the form of all machines, whose agent is asked to forward.
        """
        ends = [name.partition(".")[0] for name in self.path]
        names = tuple(ends[::2])
        image = self.default.image
        alone = all(len(one.ports) == 2 and one.image is None for one in self.machines)
        in_a_row = (
            tuple(ends[1::2]) == names
            and len(set(names)) == len(names) > 1
            and set(names) == {one.name for one in self.machines}
            and tuple(end.at for end in self.ports) == (self.path[0], self.path[-1])
        )
        if self.is_core or image is None or not image.agent or not (alone and in_a_row):
            return None
        return MachineRow(machines=names, links=tuple(self.link_of(name).network or "" for name in self.path[1:-1:2]))

    @property
    def measured(self) -> DeploymentFlavourSpec | None:
        """Return the deployment flavour that a generator can send through; None: there is none.

        Its image is nfvbed's, its consoles say when it is ready, and the ends of the path are one virtual machine's.
        """
        machines = {end.at.partition(".")[0] for end in self.ports}
        if not all(end.generator for end in self.ports):
            return None
        ready = [one for one in self.flavours if one.image is not None and one.console is not None]
        return next((one for one in ready if any(machines <= set(guest.holds) for guest in one.machines)), None)

    def on_path(self) -> VnfSpec:
        """Return the VNF's measured flavour as one VNF of virtual machines between its ends; there must be one.

        Raises:
            InternalError: nothing can be measured through it.
        """
        form = self.default if self.row is not None else self.measured
        if form is None:
            raise InternalError(f"VNF {self.name} has no form that is measured", where="flavours")
        told = self.model_dump(include=set(VnfSpec.model_fields) - {"kinds", "ports", "image"})
        ports = tuple(VnfPortSpec(name=end.name, role=end.role, vnic=end.vnic) for end in self.ports)
        return VnfSpec(**told, kinds=(VnfKind.VM,), ports=ports, image=form.image)

    def machine(self, name: str) -> MachineSpec:
        """Return the machine of a name, which is known."""
        return next(one for one in self.machines if one.name == name)

    def link(self, name: str) -> LinkSpec:
        """Return the link of a name, which is known."""
        return next(one for one in self.links if one.name == name)

    def link_of(self, port: str) -> LinkSpec:
        """Return the link of a port (`MACHINE.PORT`), which is known."""
        machine, _, name = port.partition(".")
        return self.link(next(one.link for one in self.machine(machine).ports if one.name == name))
