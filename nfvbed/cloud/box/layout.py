"""What a site's file makes of a box: its machines, their network devices, and the ports of the switch between them.

Nothing is made here, and nothing of this machine is read.
"""

import hashlib
import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from nfvbed.errors import ConfigurationError
from nfvbed.spec.rack import RackNicSpec
from nfvbed.spec.site import KollaSiteSpec

SWITCH = "switch"
"""Name of the switch, which is a machine, too: commands show its state beside theirs."""
MANAGEMENT = "management"
"""Bridge of the network of management, in which nfvbed, Ansible and the registry are."""
REGISTRY_PORT = 5000
_LONGEST = 15
"""Characters of a network device's name."""
_NETWORK_BITS = 24
_DEVICES = {"management": "mg", "external": "ex", "dpdk": "dp"}
OVERLAY = "ov0"
"""Device for an address in the network of tunnels."""
_OF_OVERLAY = 0x02
"""First byte of a MAC address that is administered locally."""


@dataclass(frozen=True)
class Cable:
    """A cable from a machine to a port of the switch."""

    device: str
    """Network device of the machine."""
    mac: str
    port: str
    """Port of the switch: the other end."""
    bridge: str
    """Bridge of the switch that has the port; `MANAGEMENT`, or one of Open vSwitch."""
    mtu: int = 1500
    tag: int | None = None
    """VLAN of an access port; None: a trunk."""
    trunks: tuple[int, int] | None = None
    """First and last VLAN of a trunk; frames without a tag pass as well."""
    address: str = ""
    """Address of the device with its prefix length; empty: none."""
    starts_up: bool = True
    """Whether the device is up before something asks for it."""


@dataclass(frozen=True)
class MachineLayout:
    """A machine."""

    name: str
    address: str
    """Address by which Ansible reaches it."""
    cables: tuple[Cable, ...]


@dataclass(frozen=True)
class BoxLayout:
    """All that a box has."""

    site: str
    machines: tuple[MachineLayout, ...]
    address: str
    """Address of nfvbed, Ansible and the registry in the network of management, with its prefix length."""
    bridges: tuple[str, ...]
    """Bridges of the switch, one a physical network."""
    hugepages: int
    """Hugepages of 2 MiB that the machines ask for, which have one pool: the largest number."""
    pulls: bool = False
    """Whether images are Kolla's own."""
    images_from: str | None = None
    """Registry and namespace of these; None: where Kolla's own variables say."""

    @property
    def registry(self) -> str:
        """Where images are pulled from."""
        return f"{ipaddress.IPv4Interface(self.address).ip}:{REGISTRY_PORT}"

    @property
    def cables(self) -> tuple[tuple[str, Cable], ...]:
        """All cables, each with the name of its machine."""
        return tuple((machine.name, cable) for machine in self.machines for cable in machine.cables)

    def machine(self, name: str) -> MachineLayout:
        """Return a machine by its name."""
        return next(machine for machine in self.machines if machine.name == name)


def layout_of(site: KollaSiteSpec) -> BoxLayout:
    """Return the layout of a site's box.

    Raises:
        ConfigurationError: the file describes what no box can have.
    """
    network = ipaddress.IPv4Network(f"{site.virtual_address}/{_NETWORK_BITS}", strict=False)
    _require_one_network(site, network)
    _require_names(site)
    taken = {site.virtual_address, *(host.address for host in site.hosts.values())}
    own = next(str(address) for address in network.hosts() if str(address) not in taken)
    machines = tuple(
        MachineLayout(name, host.address, tuple(_cables(site, name, network.prefixlen)))
        for name, host in site.hosts.items()
    )
    pages = [sum(node.hugepages_2m for node in host.numa) for host in site.hosts.values()]
    bridges = tuple(bridge_of(name) for name in site.networks)
    return BoxLayout(
        site.name,
        machines,
        f"{own}/{network.prefixlen}",
        bridges,
        max(pages, default=0),
        pulls=site.images == "pull",
        images_from=site.images_from,
    )


def bridge_of(network: str) -> str:
    """Return the switch's bridge of a physical network."""
    return f"sw-{network}"


def _cables(site: KollaSiteSpec, name: str, prefix: int) -> Iterator[Cable]:
    host = site.hosts[name]
    ports, numbers = _port_names(site, name), dict[str, int]()
    for nic in host.nics:
        kind = _DEVICES.get(nic.role)
        if kind is None or nic.mac is None:
            raise _not_in_a_box(site, name, nic)
        number = numbers.get(kind, 0)
        numbers[kind] = number + 1
        device = f"{kind}{number}"
        if nic.network is None:
            yield Cable(device, nic.mac, f"{ports}-{device}", MANAGEMENT, address=f"{host.address}/{prefix}")
            continue
        physical = site.networks[nic.network]
        is_generator = site.generator is not None and name == site.generator.host
        yield Cable(
            device,
            nic.mac,
            f"{ports}-{device}",
            bridge_of(nic.network),
            physical.mtu,
            tag=site.generator.vlans[number] if site.generator and is_generator and nic.role == "dpdk" else None,
            trunks=None if is_generator else physical.vlans,
        )
    if host.overlay_address is not None:
        yield _overlay(site, name, f"{ports}-{OVERLAY}", "" if host.is_compute else host.overlay_address)


def _overlay(site: KollaSiteSpec, name: str, port: str, address: str) -> Cable:
    """Return the cable of a machine's address in the network of tunnels: frames without a tag beside the data NICs.

    A compute has the address there while its data plane leaves that to the machine; a bridge on DPDK has it otherwise.
    Until then the device is down: a kernel answers for its addresses on all devices that are up.
    """
    compute = next(iter(site.hosts_with("compute").values()))
    reached = [nic.network for nic in compute.nics_of("dpdk", "external") if nic.network]
    network = reached[0] if reached else next(iter(site.networks))
    digits = hashlib.sha256(f"{site.name} {name} {OVERLAY}".encode()).digest()
    mac = ":".join(f"{byte:02x}" for byte in (_OF_OVERLAY, *digits[:5]))
    physical = site.networks[network]
    bridge, is_set = bridge_of(network), bool(address)
    return Cable(OVERLAY, mac, port, bridge, physical.mtu, None, physical.vlans, address, is_set)


def _port_names(site: KollaSiteSpec, name: str) -> str:
    """Return what the names of a machine's ports begin with: its own name, where that is short enough."""
    room = _LONGEST - len("-dp0")
    shortened = f"{name[: room - 2]}{list(site.hosts).index(name):02d}"
    return name if len(name) <= room else shortened


def _require_one_network(site: KollaSiteSpec, network: ipaddress.IPv4Network) -> None:
    away = [name for name, host in site.hosts.items() if ipaddress.IPv4Address(host.address) not in network]
    if away:
        raise ConfigurationError(
            f"{away[0]} of a box is not in the network of virtual_address",
            where=f"deploy/sites/{site.name}.yml hosts.{away[0]}.address",
            observed=f"{site.hosts[away[0]].address}, and virtual_address is {site.virtual_address}",
            fix=f"give it an address in {network}: machines of a box are on one network of management",
        )


def _require_names(site: KollaSiteSpec) -> None:
    if SWITCH in site.hosts:
        raise ConfigurationError(
            f"a machine of a box is called {SWITCH}",
            where=f"deploy/sites/{site.name}.yml hosts.{SWITCH}",
            observed="the switch between the machines is called so",
            fix="give the machine another name",
        )


def _not_in_a_box(site: KollaSiteSpec, name: str, nic: RackNicSpec) -> ConfigurationError:
    return ConfigurationError(
        f"{nic.named} of {name} cannot be in a box",
        where=f"deploy/sites/{site.name}.yml hosts.{name}.nics",
        observed=f"role {nic.role}" + ("" if nic.pci is None else f", pci {nic.pci}"),
        fix="a NIC of a box is a veth device: role management, external or dpdk (driver: af_packet), found by its mac",
    )
