"""What a site's file says of machines that kolla-ansible deploys: their NICs, cores and memory, and their networks."""

import ipaddress
import re
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from nfvbed.spec.cpulist import parse_cpu_list
from nfvbed.spec.mac import UnicastMac
from nfvbed.spec.model import SpecModel
from nfvbed.spec.pci import PciAddress
from nfvbed.spec.remote import AbsolutePath, SshAccessSpec, TrexSpec

HostName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,40}$")]
PhysnetName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,10}$")]
"""Short, and without anything that separates in Neutron's lists: its bridge is `br-NAME`, and a device has 15
characters."""
ImageSource = Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)+$", max_length=200)]
"""A registry and a namespace of it, without a scheme and a tag."""
NicRole = Literal["management", "external", "dpdk", "sriov"]
HostRole = Literal["controller", "compute", "generator"]
Vlan = Annotated[int, Field(ge=1, le=4094)]
AF_PACKET = "af_packet"
KERNEL_DRIVERS = ("mlx4_core", "mlx5_core", AF_PACKET)
"""Drivers with which a NIC's network device stays with the kernel."""
MIB_PER_GIB = 1024
_CORE_LIST = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def cores_of(text: str) -> tuple[int, ...]:
    """Return the cores of a list as the kernel writes it; nothing else is accepted.

    Raises:
        ValueError: it is no such list, or names a core twice.
    """
    if text and not _CORE_LIST.fullmatch(text):
        raise ValueError(f"{text!r} is no list of cores such as 0-2,8")
    if any(low >= high for low, high in pairwise(map(int, re.findall(r"\d+", text)))):
        raise ValueError(f"{text!r} names its cores in rising order, each once, as in 0-2,8")
    return parse_cpu_list(text)


def _a_core_list(text: str) -> str:
    cores_of(text)
    return text


def _an_interface(text: str) -> str:
    if "/" not in text:
        raise ValueError("it has a prefix length, as in 10.20.0.11/24")
    ipaddress.IPv4Interface(text)
    return text


def _an_address(text: str) -> str:
    ipaddress.IPv4Address(text)
    return text


CoreList = Annotated[str, AfterValidator(_a_core_list)]
Address = Annotated[str, AfterValidator(_an_address)]
AddressWithPrefix = Annotated[str, AfterValidator(_an_interface)]


class PhysnetSpec(SpecModel):
    """A physical network: what Neutron calls so, and what the switch between the machines carries."""

    vlans: tuple[Vlan, Vlan]
    """First and last VLAN that the switch passes between the machines' ports."""
    mtu: int = Field(1500, ge=1280, le=9216)
    """Largest IP packet that passes."""

    @model_validator(mode="after")
    def vlans_are_in_order(self) -> Self:
        if self.vlans[0] > self.vlans[1]:
            raise ValueError(f"vlans: the first one, {self.vlans[0]}, is above the last one, {self.vlans[1]}")
        return self


class RackNicSpec(SpecModel):
    """A port of a NIC, found by what does not change; names of network devices do."""

    role: NicRole
    """Purpose. `management`: the APIs, and Kolla's own way in; no data plane ever gets it. `external`: networks
    outside. `dpdk`: the data plane's, which a switch on DPDK takes from the kernel, and which switches in the kernel
    use as well. `sriov`: physical function whose functions instances get."""
    pci: PciAddress | None = None
    """PCI address."""
    mac: UnicastMac | None = None
    """MAC address, in place of a PCI address: of two ports at one address (ConnectX-3), or of a device that has
    none."""
    network: PhysnetName | None = None
    """Physical network that it reaches; none for role management."""
    numa_node: int = Field(0, ge=0)
    """NUMA node that it is attached to."""
    functions: int = Field(0, ge=0, le=256)
    """Number of virtual functions to make, of role sriov."""
    driver: Literal["vfio-pci", "uio_pci_generic", "mlx4_core", "mlx5_core", "af_packet"] = "vfio-pci"
    """Driver that DPDK uses it with. Mellanox NICs stay with the kernel's; so does any network device with
    `af_packet`, DPDK's driver on packet sockets: for devices without a PCI address (veth, virtio, VLAN) in test
    racks, at a packet socket's speed."""

    @property
    def stays_with_kernel(self) -> bool:
        """Whether its network device is still there while DPDK has it."""
        return self.driver in KERNEL_DRIVERS

    @property
    def is_packet_socket(self) -> bool:
        """Whether DPDK has it by a packet socket on its network device, whatever kind of device that is."""
        return self.driver == AF_PACKET

    @property
    def named(self) -> str:
        """Name in messages."""
        return f"PCI device {self.pci}" if self.pci else f"the NIC with MAC address {self.mac}"

    @model_validator(mode="after")
    def says_what_its_role_needs(self) -> Self:
        if (self.pci is None) == (self.mac is None):
            raise ValueError("a NIC is found by pci or by mac, one of them")
        if (self.network is None) != (self.role == "management"):
            raise ValueError(
                "network is the physical network of a NIC of role external, dpdk or sriov; management has none"
            )
        if bool(self.functions) != (self.role == "sriov"):
            raise ValueError("functions is at least 1 for role sriov, and of no other role")
        if self.is_packet_socket and (self.role != "dpdk" or self.mac is None):
            raise ValueError("driver af_packet is of a NIC of role dpdk that is found by mac")
        if self.role in ("dpdk", "sriov") and self.pci is None and not self.stays_with_kernel:
            raise ValueError(
                f"a NIC of role {self.role} with driver {self.driver} is found by pci: it leaves the kernel"
                + "; a device without a PCI address has driver: af_packet" * (self.role == "dpdk")
            )
        return self


class NumaSpec(SpecModel):
    """A NUMA node of a machine; its number is its place in the list."""

    cores: CoreList
    """Cores of the node, all threads of them: `0-7,16-23`."""
    isolated: CoreList = ""
    """Those of them that the kernel's scheduler keeps free (`isolcpus`): the switch's and the guests' that have cores
    of their own."""
    hugepages_1g: int = Field(0, ge=0)
    """Number of hugepages of 1 GiB."""
    hugepages_2m: int = Field(0, ge=0)
    """Number of hugepages of 2 MiB."""

    @property
    def all_cores(self) -> tuple[int, ...]:
        """Its cores."""
        return cores_of(self.cores)

    @property
    def isolated_cores(self) -> tuple[int, ...]:
        """Those that are isolated."""
        return cores_of(self.isolated)

    @property
    def page_mib(self) -> int:
        """Size of its hugepages, the larger ones where it has both; 0: it has none."""
        return MIB_PER_GIB if self.hugepages_1g else 2 if self.hugepages_2m else 0

    @model_validator(mode="after")
    def isolated_cores_are_its_own(self) -> Self:
        others = sorted(set(self.isolated_cores) - set(self.all_cores))
        if others:
            raise ValueError(f"isolated names {', '.join(map(str, others))}, and cores is {self.cores}")
        return self


class RackHostSpec(SpecModel):
    """A machine."""

    roles: tuple[HostRole, ...] = Field(min_length=1)
    """Parts that it plays: `controller`, `compute`, both (two machines serve then), or `generator`, on which nothing
    of OpenStack is deployed."""
    address: Address
    """Address by which Ansible reaches it."""
    ssh: SshAccessSpec | None = None
    """Way to it over SSH, where that is another one than the site's `ssh`, which is of all machines."""
    overlay_address: AddressWithPrefix | None = None
    """Address in the network of tunnels, with its prefix length. OVS-DPDK's machines get it on their bridge; on all
    others it is configured before, on a NIC that is not in `nics` or on a VLAN: bridges take the others. Needed by all
    but a generator."""
    nics: tuple[RackNicSpec, ...] = Field(min_length=1)
    """Ports of its NICs that are used."""
    numa: tuple[NumaSpec, ...] = ()
    """NUMA nodes, from node 0 on; computes have them."""
    sibling_offset: int | None = Field(None, ge=1)
    """Difference between the numbers of the two threads of a core; None: one thread a core. The other thread of a
    polling core is left idle."""

    @property
    def is_compute(self) -> bool:
        """Whether instances run on it."""
        return "compute" in self.roles

    @property
    def is_controller(self) -> bool:
        """Whether the services run on it."""
        return "controller" in self.roles

    def nics_of(self, *roles: NicRole) -> tuple[RackNicSpec, ...]:
        """Return its NICs of these roles."""
        return tuple(nic for nic in self.nics if nic.role in roles)

    @property
    def network_nics(self) -> tuple[RackNicSpec, ...]:
        """Its NICs on physical networks: all but the management's."""
        return tuple(nic for nic in self.nics if nic.role != "management")

    @property
    def function_nics(self) -> tuple[RackNicSpec, ...]:
        """Its physical functions."""
        return tuple(nic for nic in self.nics if nic.functions)

    @property
    def has_devices_of_any_kind(self) -> bool:
        """Whether its NICs are network devices of any kind; else one without a driver is none."""
        return any(nic.is_packet_socket for nic in self.nics)

    @property
    def named_macs(self) -> frozenset[str]:
        """MAC addresses by which the file names NICs."""
        return frozenset(nic.mac for nic in self.nics if nic.mac)

    @property
    def plane_nics(self) -> tuple[RackNicSpec, ...]:
        """Its NICs that a data plane alone may have: of role dpdk, and physical functions."""
        return tuple(nic for nic in self.nics if nic.role == "dpdk" or nic.functions)

    @model_validator(mode="after")
    def parts_fit_together(self) -> Self:
        if "generator" in self.roles and len(self.roles) > 1:
            raise ValueError("a generator has no other role: what it measures must not share its cores")
        if "generator" not in self.roles and self.overlay_address is None:
            raise ValueError("a controller or compute has an overlay_address")
        if self.is_compute and not self.numa:
            raise ValueError("a compute has numa: its cores and hugepages")
        if len(set(self.roles)) != len(self.roles):
            raise ValueError("roles names one twice")
        return self

    @model_validator(mode="after")
    def nics_are_different(self) -> Self:
        if len(self.nics_of("management")) != 1:
            raise ValueError("nics has one NIC of role management, and one alone")
        places = [nic.pci or nic.mac for nic in self.nics]
        twice = sorted({str(place) for place in places if places.count(place) > 1})
        if twice:
            raise ValueError(f"nics names {', '.join(twice)} twice: a NIC has one role")
        used = [(nic.role == "sriov", nic.network) for nic in self.nics_of("external", "dpdk", "sriov")]
        if "generator" not in self.roles and len(set(used)) != len(used):
            raise ValueError("two NICs reach one physical network the same way; a switch that has both loops frames")
        return self

    @model_validator(mode="after")
    def nodes_are_there(self) -> Self:
        cores = [core for node in self.numa for core in node.all_cores]
        if len(set(cores)) != len(cores):
            raise ValueError("a core is of two nodes in numa")
        away = [nic.named for nic in self.nics if self.is_compute and nic.numa_node >= len(self.numa)]
        if away:
            raise ValueError(f"{away[0]} is on a NUMA node that numa does not have")
        return self


class RackGeneratorSpec(SpecModel):
    """The cabling of the machine that sends and checks frames."""

    host: HostName
    """Name of the machine among hosts."""
    vlans: tuple[Vlan, Vlan]
    """VLANs to which the switch joins its first and its second NIC of role dpdk."""
    nfvgen: AbsolutePath | None = None
    """Path of the program nfvgen on that machine. None: this machine's own is copied there while it runs, if the
    generator's NICs are found by mac; with NICs of DPDK nothing is measured."""
    core: int = Field(1, ge=0)
    """Core of nfvgen's thread there."""
    hugepages_mib: int = Field(256, ge=128)
    """Hugepage memory that nfvgen takes there; the machine has it ready."""
    engine: Literal["nfvgen", "trex"] = "nfvgen"
    """Program that sends, over SSH: `nfvgen`, or `trex` where it is installed."""
    trex: TrexSpec | None = None
    """Folder and configuration of TRex on that machine, with `engine: trex`."""

    @property
    def program(self) -> str | TrexSpec | None:
        """What the engine is started from; None: the file does not say, and nothing is measured."""
        return self.trex if self.engine == "trex" else self.nfvgen
